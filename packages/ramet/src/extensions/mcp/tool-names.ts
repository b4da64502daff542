/**
 * The names by which a model, rules and views know the tools of servers: `mcp__server__tool`. What a server calls
 * itself and its tools can be anything, so names are made safe here, the same way every time.
 *
 * Invariants
 * 1. A name consists of letters, digits, `_` and `-`, and of at most 64 characters.
 * 2. The part of the server holds no `__`, so a name says which server it is of.
 * 3. Different tools have different names. The order in which a server lists them does not matter.
 */
import { digestOf } from '../../system/digest.ts';

export const PREFIX = 'mcp__';
/** A server by its own name, and by its part of the names of its tools. */
export interface NamedServer {
  readonly name: string;
  readonly key: string;
}

const LONGEST = 64;
const LONGEST_SERVER = 30;
const MARK = 6;

/** Safe names of servers, by their own. Sorted first, so that a clash is settled the same way wherever they come from. */
export function serverKeys(names: readonly string[]): Map<string, string> {
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  // One that is safe as it is keeps its name, also where others would like to have it.
  const ordered = [...new Set(names)].sort(
    (one, other) =>
      Number(safeServer(one) !== one) - Number(safeServer(other) !== other) || compare(one, other),
  );
  for (const name of ordered) keys.set(name, take(taken, safeServer(name), name, LONGEST_SERVER));
  return keys;
}

/** Whole names of the tools of one server, by their own. */
export function toolKeys(server: string, names: readonly string[]): Map<string, string> {
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  const safe = (name: string): string => `${PREFIX}${server}__${safeCharacters(name) || 'tool'}`;
  const ordered = [...new Set(names)].sort(
    (one, other) => Number(isChanged(one)) - Number(isChanged(other)) || compare(one, other),
  );
  for (const name of ordered) keys.set(name, take(taken, safe(name), name, LONGEST));
  return keys;
}

/** Every way in which a server is named: its key, its own name, and that made safe as here or as elsewhere. */
export function serverForms({ name, key }: NamedServer): string[] {
  return [...new Set([key, name, safeServer(name), safeCharacters(name)])];
}

/** What the names of a server's tools may have for one of its own name; in a pattern, * stays. */
export function toolSpellings(server: string, name: string): string[] {
  if (name.includes('*')) return [name.split('*').map(safeCharacters).join('*')];
  const before = `${PREFIX}${server}__`;
  const wanted = `${before}${safeCharacters(name)}`;
  if (wanted === before + name && wanted.length <= LONGEST) return [name];
  // Where another tool has the safe name, it got a marked one.
  return [take(new Set(), wanted, name, LONGEST), take(new Set([wanted]), wanted, name, LONGEST)].map(
    (whole) => whole.slice(before.length),
  );
}

/** The server in a whole name; null where it is none. */
export function serverOfName(name: string): string | null {
  return /^mcp__(.+?)__./.exec(name)?.[1] ?? null;
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function isChanged(name: string): boolean {
  return safeCharacters(name) !== name;
}

function safeServer(name: string): string {
  const safe = safeCharacters(name)
    .replace(/_{2,}/g, '_')
    .replace(/^_+|_+$/g, '');
  return safe || 'server';
}

function safeCharacters(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The wanted name, or, where it is too long or another has it, its beginning with a mark made of the own name. */
function take(taken: Set<string>, wanted: string, own: string, longest: number): string {
  const mark = digestOf(own)
    .slice(0, MARK)
    .replace(/[^A-Za-z0-9]/g, '0');
  const marked = `${wanted.slice(0, longest - MARK - 1).replace(/_+$/, '')}_${mark}`;
  const name = wanted.length > longest || taken.has(wanted) ? marked : wanted;
  taken.add(name);
  return name;
}
