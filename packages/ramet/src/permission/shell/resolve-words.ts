/**
 * What the strict judge may know of a variable: what the script itself gave it, everywhere. Where that is a plain
 * relative path, or a name that programs cannot take for an option, the word counts as such a path.
 */
import type { ShellAssignment } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';

const WITH_VARIABLE = /^("?)([\w./-]*)(?:\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})([\w./:-]*)\1$/;
/** Set by the shell or the system, to a path that is nobody's secret. */
const OF_THE_SYSTEM = /^(?:HOME|PWD|OLDPWD)$/;
const PLAIN_PATH = /^(?![-/~])(?!.*\.\.)[\w.,:@%+/=-]+$/;

export function resolveWord(word: ShellWord, variables: readonly ShellAssignment[]): ShellWord {
  const match = word.value === null ? WITH_VARIABLE.exec(word.source) : null;
  if (match === null) return word;
  const [, quote = '', before = '', bare, braced, after = ''] = match;
  const name = bare ?? braced ?? '';
  if (before.includes('..') || after.includes('..')) return word;
  const given = variables.filter((variable) => variable.name === name);
  if (given.length === 0)
    return before === '' && quote !== '' && OF_THE_SYSTEM.test(name)
      ? { ...word, source: '~', start: '/' }
      : word;
  if (!given.every((each) => isPlain(each, quote !== ''))) return word;
  const [only] = given;
  if (given.length === 1 && only?.value != null) {
    const value = `${before}${only.value}${after}`;
    return { source: word.source, value, start: value };
  }
  const open = before === '' && given.some(({ value, start }) => value === null && start === '');
  return { source: '…', value: null, start: open ? '' : `${before}./` };
}

function isPlain({ value, start }: ShellAssignment, quoted: boolean): boolean {
  if (value !== null) return PLAIN_PATH.test(value);
  // The beginning of a pattern: what it matches begins so, too, and blanks in it do not split a word in quotes.
  return quoted && start !== undefined && /^(?![-/~])[\w./-]*$/.test(start) && !start.includes('..');
}
