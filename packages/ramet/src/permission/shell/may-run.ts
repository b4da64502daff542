/**
 * Whether a script may do what a rule is about, for who must not miss it: it does, or it is known only when it runs whether it
 * does. Rules that deny stop what is spelled out; this is wider.
 */
import { NO_RULES, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { assessCommand } from './assess-command.ts';
import { readsFedScript } from './fed-scripts.ts';
import { gitCall } from './fence/fence-git.ts';
import { launchedScript } from './launched-commands.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { type UnderstoodScript, understandScript } from './reading/understand-script.ts';
import { innerScript } from './reading/unwrap-command.ts';

export async function mayRun(
  rule: PermissionRule,
  script: string,
  { cwd, counterpart }: { cwd: string; counterpart?: PermissionPolicy['counterpart'] },
): Promise<boolean> {
  const rules = { ...NO_RULES, deny: [rule] };
  const { denied } = await assessCommand({ mode: 'plan', rules, counterpart }, script, cwd);
  if (denied !== null) return true;
  const understood = await understandScript(script, { directories: [cwd] });
  const launched = await launchedScript(script, understood);
  if (launched.isOpen || launched.isTooMuch || understood.unread.length + launched.unread.length > 0)
    return true;
  const access = accessOf(rule);
  const files = [...understood.files, ...launched.files];
  if (files.some((file) => file.access === access && (file.word.value === null || file.directories === null)))
    return true;
  return [...understood.commands, ...launched.commands].some(
    (command) => isKnownLate(command) || mayBecome(rule, command),
  );
}

/** Of a rule about files: what it guards them from. */
function accessOf({ tool, scope }: PermissionRule): 'read' | 'write' | null {
  if (scope.kind === 'paths') return scope.access;
  if (scope.kind !== 'every call') return null;
  if (['Edit', 'Write'].some((name) => tool.matches(name))) return 'write';
  return tool.matches('Read') ? 'read' : null;
}

/** A rule about commands, or about files, which commands read and write too. */
export function isAboutCommands(rule: PermissionRule): boolean {
  return rule.scope.kind === 'commands' || accessOf(rule) !== null;
}

type Understood = UnderstoodScript['commands'][number];

function isKnownLate({ layers, transparent }: Understood): boolean {
  const inner = layers.at(-1) ?? layers[0];
  if (readsFedScript(inner) || mayBeAlias(inner)) return true;
  const isCarrier = !transparent && innerScript(inner, 'bash') !== null;
  return (isCarrier ? inner.words : inner.words.slice(0, 1)).some(isOpen);
}

/**
 * `git up`: what it stands for is in the configuration of git, and may be any program (`!sh x`). Some commands run what their words are.
 */
function mayBeAlias({ words: [program, ...words] }: ShellCommand): boolean {
  if (program === undefined || nameOf(program) !== 'git') return false;
  const { command, unnamed, rest } = gitCall({ program: 'git', words, fed: false, place: null });
  if (unnamed !== null) return true;
  const runs = RUNS.get(command);
  if (runs !== undefined) return rest.some(({ start }) => runs.test(start));
  return command !== '' && !GIT_COMMANDS.has(command);
}

const RUNS: ReadonlyMap<string, RegExp> = new Map([
  ['submodule', /^foreach/],
  ['bisect', /^run/],
  ['rebase', /^(?:-[a-z]*x|--e)/],
]);

/** Of every git of these years: it lets no alias replace them. */
const GIT_COMMANDS: ReadonlySet<string> = new Set(
  'add am annotate apply archive blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store describe diff diff-files diff-index diff-tree fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init init-db interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit merge merge-base merge-file merge-index merge-ours merge-recursive merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff read-tree receive-pack reflog remote repack replace rerere reset restore rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref stage stash status stripspace switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version worktree write-tree'.split(
    ' ',
  ),
);

function nameOf({ value }: ShellWord): string {
  return (value ?? '').split('/').at(-1) ?? '';
}

/** What only the running shell puts in; `{a,b}` is taken as that. */
function isOpen({ value, source }: ShellWord): boolean {
  return value === null || /\{.*,.*\}/.test(source);
}

function mayBecome({ scope }: PermissionRule, { layers }: Understood): boolean {
  if (scope.kind !== 'commands') return false;
  return spellings(layers.at(-1) ?? layers[0]).some((words) => {
    const open = words.findIndex(isOpen);
    const known = words.slice(0, open === -1 ? words.length : open).map(({ value }) => value ?? '');
    if (open === -1) return scope.pattern.matches(known.join(' '));
    return scope.pattern.mayBegin([...known, words[open]?.start ?? ''].join(' '));
  });
}

/** `git -C x push` and `git-push` are `git push` to a rule, too. */
function spellings({ words }: ShellCommand): (readonly ShellWord[])[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  const name = nameOf(program);
  const given = [known(name), ...rest];
  if (name.startsWith('git-')) return [given, [known('git'), known(name.slice('git-'.length)), ...rest]];
  if (name !== 'git') return [given];
  const { command, unnamed, rest: behind } = gitCall({ program: name, words: rest, fed: false, place: null });
  return [given, [known(name), unnamed ?? known(command), ...behind]];
}

function known(text: string): ShellWord {
  return { source: text, value: text, start: text };
}
