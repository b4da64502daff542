/** What somebody may have meant by a word that does not exist: two slips at most, one in a short word. */
import { editDistance } from '../system/text/close-names.ts';

const SHORT = 4;

export function nearWord(word: string, known: readonly string[]): string | null {
  const near = known
    .map((one) => ({ one, distance: editDistance(word, one) }))
    .filter(({ one, distance }) => distance <= (Math.min(one.length, word.length) < SHORT ? 1 : 2))
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1));
  return near[0]?.one ?? null;
}

export function commandNames(program: { readonly commands: readonly { name(): string }[] }): string[] {
  return program.commands.map((command) => command.name()).filter((name) => !HIDDEN.includes(name));
}

const HIDDEN: readonly string[] = ['print', 'complete'];
