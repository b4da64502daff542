/**
 * What a script does besides the commands that it shows, for rules that take rights away: what its commands launch, and texts
 * that could not be read exactly. Of these whatever could be a command, or name a file, counts as one. It may deny more than
 * would run, and never lets pass.
 */
import { basename } from 'node:path';
import type { PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { commandRule } from './command-rules.ts';
import { judgeCommand } from './judge-command.ts';
import { judgeFile } from './judge-file.ts';
import { launchedScript } from './launched-commands.ts';
import { firstRule, type PartVerdict } from './part-verdict.ts';
import { launcherNamed } from './programs/launchers.ts';
import { type UnderstoodScript, understandScript } from './reading/understand-script.ts';
import { withoutDocuments } from './reading/without-documents.ts';
import { unreadNames } from './unread-names.ts';

type Taken = Pick<PartVerdict, 'denied' | 'asked'>;
type Parts = Pick<UnderstoodScript, 'commands' | 'files' | 'variables' | 'unread' | 'unseen'>;

export async function judgeTaken(
  policy: PermissionPolicy,
  { script, understood }: { script: string; understood: UnderstoodScript },
  cwd: string,
): Promise<Taken[]> {
  const { deny, ask } = policy.rules;
  if (deny.length === 0 && ask.length === 0) return [];
  const launched = await launchedScript(script, understood);
  // Nobody writes more than are read; one of the rest may be what a rule is about.
  const isAbout = ({ scope }: PermissionRule): boolean => scope.kind === 'commands' || scope.kind === 'paths';
  const rest = { denied: deny.find(isAbout) ?? null, asked: ask.find(isAbout) ?? null };
  return [
    ...(launched.isTooMuch ? [rest] : []),
    ...judgeParts(policy, launched, cwd),
    ...(await judgeTexts(policy, understood, cwd)),
    ...(await judgeTexts(policy, launched, cwd)),
  ];
}

function judgeParts(policy: PermissionPolicy, { commands, files, variables }: Parts, cwd: string): Taken[] {
  return [
    ...commands.map((command) => judgeCommand(policy, command, { cwd, variables })),
    ...files.map((file) => judgeFile(policy, file, cwd)),
  ];
}

async function judgeTexts(
  policy: PermissionPolicy,
  { unread, unseen }: Pick<Parts, 'unread' | 'unseen'>,
  cwd: string,
): Promise<Taken[]> {
  const found: Taken[] = [];
  for (const text of unread) {
    const script = withoutDocuments(text);
    if (script === null) found.push(judgeUnread(policy, text, { cwd, isSeen: !unseen.includes(text) }));
    else {
      const understood = await understandScript(script, { directories: [cwd] });
      found.push(...judgeParts(policy, understood, cwd));
      found.push(...(await judgeTaken(policy, { script, understood }, cwd)));
    }
  }
  return found;
}

function judgeUnread(
  policy: PermissionPolicy,
  text: string,
  { cwd, isSeen }: { cwd: string; isSeen: boolean },
): Taken {
  const commands = piecesOf(text);
  const targets = new Set(Array.from(text.matchAll(WRITES), ([, value = '']) => value));
  const files = Array.from(targets)
    .slice(0, MOST_TARGETS)
    .map((value) => {
      const word = { source: value, value, start: value };
      return judgeFile(policy, { word, access: 'write', directories: [cwd] }, cwd);
    });
  const isRest = ({ scope }: PermissionRule): boolean =>
    (scope.kind === 'commands' && commands === null) ||
    (scope.kind === 'paths' && targets.size > MOST_TARGETS);
  const named = isSeen ? null : unreadNames(policy, text, cwd);
  const taking = (rules: readonly PermissionRule[]): PermissionRule | null =>
    commandRule(rules, commands ?? []) ?? rules.find(isRest) ?? named?.ruleOf(rules) ?? null;
  return {
    denied: firstRule(taking(policy.rules.deny), ...files.map(({ denied }) => denied)),
    asked: firstRule(taking(policy.rules.ask), ...files.map(({ asked }) => asked)),
  };
}

const WRITES = />[>|&]?[ \t]*([^\s;&|()<>"'`\]]+)/g;
/** Where nobody writes more, the rest may be what a rule is about. */
const MOST_TARGETS = 10_000;
const MOST_TEXT = 4_000_000;

/** Whatever could be a command; null for more than is compared. */
function piecesOf(text: string): string[] | null {
  const found: string[] = [];
  let length = 0;
  // Over a continued line a word goes on.
  const whole = text.includes('\\\n') ? `${text}\n${text.replaceAll('\\\n', '')}` : text;
  for (const raw of whole.split(/[;&|\n(){}`"'[\]]+/))
    for (const piece of withLaunched(raw.replaceAll('\\', '').trim())) {
      if (piece === '') continue;
      length += piece.length;
      if (length > MOST_TEXT) return null;
      found.push(piece);
    }
  return found;
}

/** Behind a launcher any word may be the command. */
function* withLaunched(piece: string): Generator<string> {
  yield piece;
  const [first = ''] = piece.split(/\s/, 1);
  if (launcherNamed(basename(first)) === null) return;
  for (const { index } of piece.matchAll(/\s+/g)) yield piece.slice(index).trimStart();
}
