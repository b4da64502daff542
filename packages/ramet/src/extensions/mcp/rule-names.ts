/**
 * What a name in a rule means where it is written with a server's configured name: `mcp__my__db` and `mcp__my.db` for the
 * server whose tools are called `mcp__my_db__...`. Rules are read before servers are known, so a call is asked whether a
 * rule means it. A rule that is written with the name of the tool needs none of this.
 *
 * Invariants
 * 1. A rule that denies or asks holds for every server that can be meant.
 * 2. One that allows holds only where one server alone can be meant, and by its whole name, not by a pattern.
 */
import { type NamedServer, PREFIX, serverForms, serverOfName, toolSpellings } from './tool-names.ts';

/** All tools of a server, or those that a pattern names. */
interface Reading {
  readonly key: string;
  readonly tool: string | null;
}

/** Whether a rule that names `written` means the tool of a server; `giving` for one that allows. */
export function isMeant(
  written: string,
  fullName: string,
  servers: readonly NamedServer[],
  giving: boolean,
): boolean {
  const key = serverOfName(fullName);
  return readingsOf(written, servers, giving).some(
    (one) => one.key === key && (one.tool === null || fitsName(`${PREFIX}${key}__${one.tool}`, fullName)),
  );
}

/** The same patterns, each followed by what it means besides, in the names of tools. */
export function resolvedPatterns(
  patterns: readonly string[],
  servers: readonly NamedServer[],
  giving: boolean,
): string[] {
  const all = patterns.flatMap((pattern) => [
    pattern,
    ...readingsOf(pattern, servers, giving).map(({ key, tool }) =>
      tool === null ? `${PREFIX}${key}` : `${PREFIX}${key}__${tool}`,
    ),
  ]);
  return [...new Set(all)];
}

export function readingsOf(written: string, servers: readonly NamedServer[], giving: boolean): Reading[] {
  if (!written.startsWith(PREFIX)) return [];
  const parts = partings(written.slice(PREFIX.length));
  const isServer = (head: string, form: string): boolean => (giving ? head === form : fitsName(head, form));
  const found = servers.flatMap((server) => {
    const forms = serverForms(server);
    const about = parts.filter(({ head }) => forms.some((form) => isServer(head, form)));
    return about.flatMap(({ rest }) => toolsOf(server.key, rest, giving));
  });
  const isOpen = giving && new Set(found.map(({ key }) => key)).size > 1;
  return isOpen ? [] : found;
}

/** Where the name of the server may end. */
export function partings(name: string): { head: string; rest: string | null }[] {
  const ends = [...name.matchAll(/(?=__)/g)].map(({ index }) => index).filter((index) => index > 0);
  return [
    { head: name, rest: null },
    ...ends.map((end) => ({ head: name.slice(0, end), rest: name.slice(end + 2) })),
  ].filter(({ rest }) => rest !== '');
}

/** A tool's own name may be one that no name of a tool holds: which safe name it got depends on the others. */
function toolsOf(key: string, rest: string | null, giving: boolean): Reading[] {
  if (rest === null || giving) return [{ key, tool: rest }];
  return [...new Set([rest, ...toolSpellings(key, rest)])].map((tool) => ({ key, tool }));
}

/** Whether a pattern is about a name as it stands. */
export function fitsName(pattern: string, text: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(text);
}
