/** Which agent types may have been meant or wanted: by their names, and weakly by their descriptions. */
import { editDistance } from '../../system/text/close-names.ts';
import type { AgentDefinition } from './definition.ts';

const MOST = 5;
/** Of what was asked for: a model may send any text. */
const LOOKED_AT = 80;
const SHORTEST_WORD = 4;

/** The nearest first; none where nothing is near. */
export function nearTypes(wanted: string, definitions: readonly AgentDefinition[]): AgentDefinition[] {
  const asked = wanted.slice(0, LOOKED_AT).toLowerCase().trim();
  const scored = definitions
    .map((definition) => ({ definition, score: nearness(asked, definition) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.definition.name < b.definition.name ? -1 : 1));
  const best = scored[0]?.score ?? 0;
  return scored
    .filter(({ score }) => score * 2 >= best)
    .slice(0, MOST)
    .map(({ definition }) => definition);
}

function nearness(asked: string, { name, description }: AgentDefinition): number {
  const own = name.toLowerCase();
  const part = partOf(asked, own) || partOf(joined(asked), joined(own));
  if (part > 0) return 100 + part;
  const words = wordsOf(own);
  const about = description.slice(0, 2_000).toLowerCase();
  const byWords = wordsOf(asked).map((word): number => {
    if (words.includes(word)) return word.length < SHORTEST_WORD ? 10 : 30;
    if (word.length < SHORTEST_WORD) return 0;
    if (words.some((one) => isNear(word, one))) return 20;
    return about.includes(word) ? 5 : 0;
  });
  const whole = isNear(asked, own) ? 60 : 0;
  return whole + byWords.reduce((sum, score) => sum + score, 0);
}

/** How much of the name it is, where one of the two holds the other. */
function partOf(asked: string, own: string): number {
  const shorter = Math.min(asked.length, own.length);
  const holds = shorter >= SHORTEST_WORD && (own.includes(asked) || asked.includes(own));
  return holds ? shorter / own.length : 0;
}

/** Hyphens are forgotten easily. */
function joined(text: string): string {
  return wordsOf(text).join('');
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** One slip in a word, two in a long one. */
function isNear(a: string, b: string): boolean {
  const most = Math.min(a.length, b.length) > 7 ? 2 : 1;
  return (
    Math.min(a.length, b.length) >= SHORTEST_WORD &&
    Math.abs(a.length - b.length) <= most &&
    editDistance(a, b) <= most
  );
}
