/** What a word of a script can become that is read as far as it can be (`loose-script.ts`). */
import { expandWord } from './reading/expand-word.ts';
import type { ShellAssignment } from './reading/shell-reading.ts';
import type { ScriptWord } from './script-words.ts';

const PATTERN = /[*?[]/;
/** In the answer of a command nothing of these shows. */
const SILENCED = /(?:\d|&)?>{1,2}\s*(?:\/dev\/null|&\d)/g;
/** Any of a list. */
const OF_LIST = /\$\{(\w+)\[[^\]{}]*\]\}/g;
const CUT = /\$\{[#!]?\w+(?!:?[-=]|\})[^\w]|\$\{[#!]|[<>]\(/;

/** What a word of such a script can become, with all values that its variables have anywhere. */
export function looseWord(written: string, variables: readonly ShellAssignment[], root: string): ScriptWord {
  const unknown: ScriptWord = { texts: [], open: 'unknown', start: '' };
  const source = plainSource(written);
  if (CUT.test(source)) return unknown;
  const word = { source, value: null, start: '' };
  const scene = { directories: ['.'], root, temporary: '/tmp', gitDirectories: () => null };
  const found = expandWord(word, { ...scene, variables });
  const texts = [...new Set(found.filter(({ exact }) => exact).map(({ text }) => text))];
  const start = texts[0] ?? '';
  if (found.some(({ exact }) => !exact)) return { texts, open: 'unknown', start };
  // A variable may hold what was a pattern where it was set.
  const isMatched = /\$/.test(source) || PATTERN.test(source.replace(/"[^"]*"|'[^']*'/g, ''));
  const isPattern = isMatched && texts.some((one) => PATTERN.test(one));
  return { texts, open: isPattern ? 'pattern' : null, start };
}

/** As it reads where lists have one value and nothing is silenced. */
export function plainSource(source: string): string {
  return source.includes('$') ? source.replace(SILENCED, '').replace(OF_LIST, '$${$1}') : source;
}
