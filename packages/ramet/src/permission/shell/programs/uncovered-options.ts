/**
 * What a rule does not mean although its text matches (RES-3): a user who allows `find` or `git log` means reading, not
 * options that write a file or run a program. A rule that names the option itself covers it, and so does one for every
 * command.
 */
import type { PermissionRule } from '../../rule.ts';
import type { ShellCommand } from '../reading/shell-reading.ts';
import { mayBeOption, type ShellWord } from '../reading/shell-word.ts';
import { operandsOf } from './option-check.ts';

const GIT_LOOKS = /^--(?:outp|ext|open-f|textc)|^-O/;
const GIT_TALKS = /^--(?:uplo|rece|exe|conf)|^-[cu]./;

/** By program, or by program and subcommand; of a long option its shortest beginning that nothing else has. */
const UNCOVERED: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/,
  fd: /^-[^-]*[xX]|^--exec/,
  fdfind: /^-[^-]*[xX]|^--exec/,
  rg: /^--(?:pre$|pre=|hostname-bin)/,
  ag: /^--pager/,
  ack: /^--pager/,
  sort: /^-[^-]*[oT]|^--(?:o|compr|temp)/,
  shuf: /^-[^-]*o|^--o/,
  tree: /^-[^-]*o|^--output/,
  iconv: /^-o|^--out/,
  xxd: /^-[^-]*r/,
  date: /^-[^-]*s|^--s/,
  less: /^-[^-]*[oOk]|^--(?:log|LOG|lesskey)|^\+/,
  man: /^-[^-]*[PH]|^--(?:pager|html)/,
  bat: /^--pager|^--diff/,
  fzf: /^--(?:bind|preview|exec)/,
  yq: /^-[^-]*i|^--inplace|^-[^-]*s|^--split/,
  tar: /^-[^-]*[IF]|^--(?:to-c|checkpoint-a|use-|info|new-v|rsh|rmt)/,
  file: /^-[^-]*[CzZ]|^--compile/,
  diff: /^--(?:paginate|from-file|to-file)|^-l/,
  diff3: /^--d/,
  nm: /^--pl|^@/,
  zstdcat: /^-[^-]*o|^--(?:o|t|rm)/,
  'git log': GIT_LOOKS,
  'git diff': GIT_LOOKS,
  'git show': GIT_LOOKS,
  'git blame': GIT_LOOKS,
  'git grep': GIT_LOOKS,
  'git shortlog': GIT_LOOKS,
  'git whatchanged': GIT_LOOKS,
  'git stash': GIT_LOOKS,
  'git reflog': GIT_LOOKS,
  'git range-diff': GIT_LOOKS,
  'git rev-list': GIT_LOOKS,
  'git diff-tree': GIT_LOOKS,
  'git diff-index': GIT_LOOKS,
  'git diff-files': GIT_LOOKS,
  'git format-patch': GIT_LOOKS,
  'git archive': /^-o|^--(?:o|exec|remote)/,
  'git fetch': GIT_TALKS,
  'git pull': GIT_TALKS,
  'git push': GIT_TALKS,
  'git clone': GIT_TALKS,
  'git ls-remote': GIT_TALKS,
  'git rebase': /^-[^-]*x|^--exec/,
  'git bisect': /^(?:run|visualize|view)$/,
  'git submodule': /^foreach$/,
};

/** Of rules that allow, those that can mean this command, which stands for itself and for what it wraps. */
export function coveringRules(
  rules: readonly PermissionRule[],
  layers: readonly ShellCommand[],
): readonly PermissionRule[] {
  const options = layers.flatMap(({ words }) => uncoveredWords(words));
  if (options.length === 0) return rules;
  return rules.filter(
    ({ text, scope }) =>
      scope.kind === 'commands' &&
      (scope.pattern.everything || options.every((option) => option !== null && text.includes(option))),
  );
}

/** Null for a word that may turn out to be such an option. */
export function uncoveredWords(words: readonly ShellWord[]): (string | null)[] {
  const [name = '', first = ''] = words.map(({ value }) => value?.split('/').at(-1) ?? '');
  // The second file is the one it writes.
  if (name === 'uniq')
    return (
      operandsOf(words.slice(1), 'fswN')
        ?.slice(1)
        .map(({ value }) => value) ?? [null]
    );
  const isNested = Object.hasOwn(UNCOVERED, `${name} ${first}`);
  const options = isNested
    ? UNCOVERED[`${name} ${first}`]
    : Object.hasOwn(UNCOVERED, name)
      ? UNCOVERED[name]
      : undefined;
  if (options === undefined) return [];
  return words
    .slice(isNested ? 2 : 1)
    .filter((word) => (word.value === null ? mayBeOption(word) : options.test(word.value)))
    .map(({ value }) => value);
}
