/**
 * A text that could not be read exactly, held against rules that take rights away: whatever could be a command or a
 * target in it counts as one. It may deny more than would run, and never lets pass.
 */
import type { PermissionPolicy } from '../policy.ts';
import { commandRule } from './command-rules.ts';
import { judgeFile } from './judge-file.ts';
import { firstRule, openPart, type PartVerdict } from './part-verdict.ts';

const MOST_PIECES = 2_000;

export function judgeUnread(policy: PermissionPolicy, text: string, cwd: string): PartVerdict[] {
  const { deny, ask } = policy.rules;
  if (deny.length === 0 && ask.length === 0) return [];
  const pieces = text
    .split(/[;&|\n(){}`"'[\]]+/)
    .slice(0, MOST_PIECES)
    .map((piece) => piece.replaceAll('\\', '').trim())
    .filter((piece) => piece !== '');
  const targets = [...text.matchAll(/>[>|&]?[ \t]*([^\s;&|()<>"'`\]]+)/g)].slice(0, MOST_PIECES);
  const files = targets.map(([, value = '']) =>
    judgeFile(
      policy,
      { word: { source: value, value, start: value }, access: 'write', directories: [cwd] },
      cwd,
    ),
  );
  const part = {
    ...openPart('it cannot be judged as a whole'),
    denied: firstRule(commandRule(deny, pieces), ...files.map(({ denied }) => denied)),
    asked: firstRule(commandRule(ask, pieces), ...files.map(({ asked }) => asked)),
  };
  return part.denied === null && part.asked === null ? [] : [part];
}
