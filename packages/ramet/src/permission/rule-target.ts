/** What rules are about in a call, from what its tool says of it. */
import { resolve } from 'node:path';
import type { ToolAccess } from '../schema/tool-access.ts';
import type { PermissionSubject } from './decision.ts';
import type { RuleTarget } from './match-rules.ts';
import { plainHost } from './plain-host.ts';

export function ruleTarget(
  { name, effect }: PermissionSubject,
  { reads = [], writes = [], url, named }: ToolAccess,
  cwd: string,
): RuleTarget {
  const paths = [...writes, ...reads];
  return {
    tool: name,
    cwd,
    paths: paths.map((path) => resolve(cwd, path)),
    access: effect === 'write' ? 'write' : paths.length > 0 ? 'read' : null,
    host: hostOf(url),
    name: named ?? null,
  };
}

/** What a person is shown of a call: its path, its address, or its input cut short. */
export function summarize({ paths, host }: RuleTarget, { url }: ToolAccess, input: unknown): string {
  if (paths[0] !== undefined) return paths[0];
  if (host !== null && url !== undefined) return url;
  return JSON.stringify(input)?.slice(0, 500) ?? '';
}

function hostOf(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? plainHost(new URL(url).hostname) : null;
}
