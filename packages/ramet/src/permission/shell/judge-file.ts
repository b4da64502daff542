/** A file that the shell opens for a redirect: written like any file that a tool writes. */

import { openedPath } from '../../system/landing-path.ts';
import { standingOfWrite, suggestWriteRule } from '../assess-write.ts';
import { givingRule, type RuleTarget, takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import { firstRule, type PartVerdict } from './part-verdict.ts';
import { type PathStanding, standingOfPaths } from './process-paths.ts';
import type { JudgeKind } from './programs/read-only-programs.ts';
import type { ShellFile } from './reading/shell-reading.ts';
import { UNKNOWN_WORDS } from './reading/shell-word.ts';

export function judgeFile(policy: PermissionPolicy, file: ShellFile, cwd: string): PartVerdict {
  const { mode, rules } = policy;
  const paths = placesOf(file);
  const names = { paths: paths ?? [], aliases: aliasesOf(policy, paths ?? []) };
  const tools = file.access === 'read' ? ['Read'] : ['Edit', 'Write'];
  const targets = tools.map(
    (tool): RuleTarget => ({ tool, access: file.access, ...names, cwd, host: null, name: null }),
  );
  const trusted = paths?.every((path) => standingOfWrite(mode, path, cwd).trusted) ?? false;
  const given = paths !== null && targets.some((target) => givingRule(rules.allow, target) !== null);
  const [path] = paths ?? [];
  const standing = (kind: JudgeKind): PathStanding =>
    standingOfPaths([UNKNOWN_WORDS, file.word], file.directories, kind);
  return {
    denied: firstRule(...targets.map((target) => takingRule(rules.deny, target))),
    asked: firstRule(...targets.map((target) => takingRule(rules.ask, target))),
    harmless: file.access === 'read' && standing('strict') !== 'asks',
    walled: file.access === 'read' && standing('walled') !== 'asks',
    host: standing('walled') === 'host',
    allowed: trusted || given,
    reason: `it ${file.access === 'read' ? 'reads' : 'writes'} ${file.word.source}${paths === null ? ', a place that is known only then' : ''}`,
    suggestion: path === undefined || file.access === 'read' ? null : suggestWriteRule(path, cwd),
  };
}

/** Every place it may be; null when one of them is not known. */
function placesOf({ word: { value }, directories }: ShellFile): string[] | null {
  if (value === null || directories === null) return null;
  const places = directories.map((directory) => openedPath(directory, value));
  return places.includes(null) ? null : places.filter((place) => place !== null);
}
