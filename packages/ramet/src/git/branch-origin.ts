/** Whether a branch was made in a worktree, by what git noted in the logs of both. */
import { join } from 'node:path';
import { readOrNull } from './repository.ts';

/** `OLD NEW name <address> time zone<tab>what`. */
const ENTRY = /^([0-9a-f]+) [0-9a-f]+ (.*?)(?:\t(.*))?$/;

interface LogEntry {
  line: string;
  isFirst: boolean;
  /** Who and when: one git gives it to all it notes. */
  stamp: string;
  what: string;
}

/** `gitDirectory` is the worktree's own. A branch that was moved to from there, but made elsewhere, has an earlier stamp. */
export function isMadeIn(gitDirectory: string, commonDirectory: string, branch: string): boolean {
  const log = entriesOf(join(commonDirectory, 'logs', 'refs', 'heads', branch));
  const [first] = log;
  if (first?.isFirst !== true) return false;
  const names = [branch, ...log.flatMap(({ what }) => RENAMED.exec(what)?.[1] ?? [])];
  return entriesOf(join(gitDirectory, 'logs', 'HEAD')).some(
    ({ line, stamp, what }) =>
      line === first.line ||
      (stamp === first.stamp &&
        /^checkout: moving from /.test(what) &&
        names.some((name) => what.endsWith(` to ${name}`))),
  );
}

const RENAMED = /^Branch: renamed refs\/heads\/(\S+) to /;

function entriesOf(file: string): LogEntry[] {
  const lines = (readOrNull(file) ?? '').split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => {
    const [, old = '', stamp = '', what = ''] = ENTRY.exec(line) ?? [];
    return stamp === '' ? [] : { line, isFirst: /^0+$/.test(old), stamp, what };
  });
}
