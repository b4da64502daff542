/** Which model a definition file asks for. */
import { MODEL_TIERS } from '../../model/catalog.ts';

/** A tier, an id, or `inherit`, which also stands for what cannot be read. */
export function readModel(value: unknown, warn: (message: string) => void): string {
  if (value === undefined || value === null || value === '') return 'inherit';
  if (typeof value !== 'string') {
    warn('it is not a text; its agents run on the model of their parent');
    return 'inherit';
  }
  // A suffix that asks for a larger window elsewhere.
  const name = value.trim().replace(/\[\w+\]$/, '');
  const word = name.toLowerCase();
  if (word === 'inherit' || word === 'default') return 'inherit';
  const tier = MODEL_TIERS.find((known) => known === word);
  if (tier !== undefined) return tier;
  // Ids have a version or a maker in them; a bare word is the tier of somebody else's models.
  if (/^[\w.:/@-]*[\d:/-][\w.:/@-]*$/.test(name)) return name;
  warn(`no model of the tier "${name}" is known; its agents run on the model of their parent`);
  return 'inherit';
}
