/**
 * Whether a script may run what a rule is about, for who must not miss it: it does, or it is known only when it runs whether it
 * does. Rules that deny stop what is spelled out; this is wider.
 */
import { NO_RULES } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { assessCommand } from './assess-command.ts';
import { readsFedScript } from './fed-scripts.ts';
import { gitCall } from './fence/fence-git.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { type UnderstoodScript, understandScript } from './reading/understand-script.ts';
import { innerScript } from './reading/unwrap-command.ts';

export async function mayRun(rule: PermissionRule, script: string, cwd: string): Promise<boolean> {
  const rules = { ...NO_RULES, deny: [rule] };
  const { denied } = await assessCommand({ mode: 'plan', rules }, script, cwd);
  if (denied !== null) return true;
  const { commands, unread } = await understandScript(script, { directories: [cwd] });
  return unread.length > 0 || commands.some((command) => isKnownLate(command) || mayBecome(rule, command));
}

type Understood = UnderstoodScript['commands'][number];

function isKnownLate({ layers, transparent }: Understood): boolean {
  const inner = layers.at(-1) ?? layers[0];
  if (readsFedScript(inner)) return true;
  const isCarrier = !transparent && innerScript(inner, 'bash') !== null;
  return (isCarrier ? inner.words : inner.words.slice(0, 1)).some(isOpen);
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

/** `git -C x push` is `git push` to a rule, too. */
function spellings({ words }: ShellCommand): (readonly ShellWord[])[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  const name = (program.value ?? '').split('/').at(-1) ?? '';
  const named: ShellWord = { source: name, value: name, start: name };
  const given = [named, ...rest];
  if (name !== 'git') return [given];
  const { command, unnamed, rest: behind } = gitCall({ program: name, words: rest, fed: false, place: null });
  const asked = unnamed ?? { source: command, value: command, start: command };
  return [given, [named, asked, ...behind]];
}
