/**
 * Files that rules keep from being read, for tools that look through many: Grep and Glob leave them out (RES-3). As
 * plain data, since an agent's process gets it from its host.
 */
import { resolve } from 'node:path';
import type { ToolAccess } from '../schema/tool-access.ts';
import { takingRule } from './match-rules.ts';
import { type PermissionPolicy, parseRules } from './policy.ts';

export interface UnreadableFiles {
  /** Rules as they were written, and for where. */
  readonly rules: readonly { readonly text: string; readonly base: string; readonly home: string | null }[];
  /** The file or directory that was asked for by name: it is permitted already. */
  readonly named: string;
}

/** Undefined where no rule is about reading files, or the tool reads only what it was permitted. */
export function unreadableFiles(
  { rules }: Pick<PermissionPolicy, 'rules'>,
  { searches, reads: [named = '.'] = [] }: ToolAccess,
): UnreadableFiles | undefined {
  if (searches !== true) return undefined;
  // What would be asked about is not shown unasked.
  const about = [...rules.deny, ...rules.ask].filter(
    ({ scope }) => scope.kind === 'paths' && scope.access === 'read',
  );
  if (about.length === 0) return undefined;
  return { rules: about.map(({ text, base, home }) => ({ text, base, home })), named };
}

/** Whether a path must be left out. `counterpart` is the same path in the checkout that rules were written for. */
export function leavesOut(
  { rules, named }: UnreadableFiles,
  cwd: string,
  counterpart?: (path: string) => string | null,
): (path: string) => boolean {
  const parsed = rules.flatMap(
    ({ text, base, home }) => parseRules({ deny: [text] }, { base, home, place: '' }).rules.deny,
  );
  const allowed = resolve(cwd, named);
  return (path) => {
    const absolute = resolve(cwd, path);
    if (absolute === allowed) return false;
    const aliases = [counterpart?.(absolute) ?? []].flat();
    return (
      takingRule(parsed, {
        tool: 'Read',
        cwd,
        paths: [absolute],
        aliases,
        access: 'read',
        host: null,
        name: null,
      }) !== null
    );
  };
}
