/** Reads out of a tool's input what rules are about. */
import { resolve } from 'node:path';
import type { PermissionDetails, PermissionSubject } from './decision.ts';
import type { RuleTarget } from './match-rules.ts';
import { plainHost } from './plain-host.ts';

const SEARCHES: ReadonlySet<string> = new Set(['Glob', 'Grep']);

export function ruleTarget(
  { name, effect }: PermissionSubject,
  { input, cwd }: PermissionDetails,
): RuleTarget {
  const field = fieldsOf(input);
  const path =
    field('file_path') ?? field('notebook_path') ?? (SEARCHES.has(name) ? (field('path') ?? '.') : null);
  const readsFiles = effect === 'read' && path !== null;
  return {
    tool: name,
    cwd,
    paths: path === null ? [] : [resolve(cwd, path)],
    access: effect === 'write' ? 'write' : readsFiles ? 'read' : null,
    host: hostOf(field('url')),
    name: field('subagent_type') ?? field('skill') ?? field('name'),
  };
}

/** What a person is shown of a call: its path, its address, or its input cut short. */
export function summarize({ paths, host }: RuleTarget, input: unknown): string {
  if (paths[0] !== undefined) return paths[0];
  const url = fieldsOf(input)('url');
  if (host !== null && url !== null) return url;
  return JSON.stringify(input)?.slice(0, 500) ?? '';
}

function fieldsOf(input: unknown): (name: string) => string | null {
  return (name) => {
    const value = typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined;
    return typeof value === 'string' ? value : null;
  };
}

function hostOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? plainHost(new URL(url).hostname) : null;
}
