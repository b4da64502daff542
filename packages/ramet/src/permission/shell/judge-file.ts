/** A file that the shell itself opens, held against the rules. */
import { openedPath } from '../../system/landing-path.ts';
import { standingOfWrite, suggestWriteRule } from '../assess-write.ts';
import { givingRule, type RuleTarget, takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import { bracesExpanded } from './brace-operands.ts';
import { firstRule, type PartVerdict } from './part-verdict.ts';
import { type PathStanding, standingOfPaths } from './process-paths.ts';
import type { JudgeKind } from './programs/read-only-programs.ts';
import type { ShellFile } from './reading/shell-reading.ts';
import { UNKNOWN_WORDS } from './reading/shell-word.ts';

/** A file that the shell opens for a redirect: written like any file that a tool writes. */
export function judgeFile(policy: PermissionPolicy, file: ShellFile, cwd: string): PartVerdict {
  const { mode, rules } = policy;
  const paths = placesOf(file);
  const tools = file.access === 'read' ? ['Read'] : ['Edit', 'Write'];
  const targetsAt = (places: readonly string[]): RuleTarget[] => {
    const names = { paths: places, aliases: aliasesOf(policy, places) };
    return tools.map((tool) => ({ tool, access: file.access, ...names, cwd, host: null, name: null }));
  };
  const targets = targetsAt(paths ?? []);
  const taken = targetsAt(paths ?? madeByBraces(file, cwd));
  const trusted = paths?.every((path) => standingOfWrite(mode, path, cwd, rules).trusted) ?? false;
  const given = paths !== null && targets.some((target) => givingRule(rules.allow, target) !== null);
  const [path] = paths ?? [];
  const standing = (kind: JudgeKind): PathStanding =>
    standingOfPaths([UNKNOWN_WORDS, file.word], file.directories, kind);
  return {
    denied: firstRule(...taken.map((target) => takingRule(rules.deny, target))),
    asked: firstRule(...taken.map((target) => takingRule(rules.ask, target))),
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

/** `> {docs/a,}` opens docs/a; of several names bash would open none. */
function madeByBraces({ word, directories }: ShellFile, cwd: string): string[] {
  const made = bracesExpanded([word], cwd).flatMap(({ value }) => value ?? []);
  return (directories ?? [cwd]).flatMap((place) => made.flatMap((name) => openedPath(place, name) ?? []));
}
