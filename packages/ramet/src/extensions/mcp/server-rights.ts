/** Which tools of servers an agent may use, read from what is recorded about it: its type's lists and those above it. */
import type { ServerRights } from '../../schema/events.ts';
import { PREFIX, serverOfName } from './tool-names.ts';

type NameTest = (fullName: string) => boolean;

export function readRights(rights: ServerRights | null): NameTest {
  if (rights === null) return () => true;
  const never = rights.never.map(readPattern);
  const only = rights.only?.map(readPattern) ?? null;
  const above = readRights(rights.above);
  const also = readRights(rights.also ?? null);
  return (name) => {
    if (!also(name) || never.some((matches) => matches(name))) return false;
    const server = serverOfName(name) ?? '';
    // A type has all tools of a server that it names, unless its list says which.
    const isListed = rights.only?.some((pattern) => isAbout(pattern, server)) === true;
    if (rights.own.includes(server)) return !isListed || only?.some((matches) => matches(name)) === true;
    return above(name) && (only === null || only.some((matches) => matches(name)));
  };
}

/** `mcp__server`, `mcp__server__*`, `mcp__server__tool`. */
function readPattern(pattern: string): NameTest {
  const source = pattern.split('*').map(RegExp.escape).join('.*');
  const whole = new RegExp(`^${source}(?:__.*)?$`, 's');
  return (name) => whole.test(name);
}

/** Whether a pattern is about a server: about all of its tools, or one of them. */
export function isAbout(pattern: string, key: string): boolean {
  return serverOfName(`${pattern}__x`) === key || coversServer(pattern, key);
}

export function coversServer(pattern: string, key: string): boolean {
  return readPattern(pattern)(`${PREFIX}${key}`) || readPattern(pattern)(`${PREFIX}${key}__`);
}
