/**
 * Adds allow rules to a settings file of the user. Everything else in the file stays as it was written, comments too.
 *
 * Invariants
 * 1. The new text is read again before it is written: it holds the old values and the rules, or nothing is written.
 * 2. What another process writes meanwhile is kept: the file is then read again.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describeError, systemCode, UserMistake } from '../schema/errors.ts';
import { loadFile, sameStamp } from '../system/regular-file.ts';
import { replaceFile } from '../system/replace-file.ts';
import { JsonMistake, type PositionedJson, parsePositionedJson } from './positioned-json.ts';

const MOST_TRIES = 10;

export interface RuleFile {
  readonly path: string;
  /** A file in a repository may be a link that leads anywhere. */
  readonly followLinks: boolean;
}

/** Throws a UserMistake when the file cannot be changed. */
export async function allowInFile(file: RuleFile, rules: readonly string[]): Promise<void> {
  await changeInFile(file, (text) => withAllowed(text, rules));
}

/** The same for any change of a text, which may be empty. `change` throws a JsonMistake for what it cannot change. */
export async function changeInFile(
  { path, followLinks }: RuleFile,
  change: (text: string) => string,
): Promise<void> {
  const refused = (why: string): UserMistake =>
    new UserMistake('settings_not_written', `${path} was not changed: ${why}`);
  try {
    const target = realTarget(path, followLinks);
    if (target === null) throw refused('it is a link; put a file in its place');
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const outcome = await tryToChange(target, change);
      if (outcome === 'done') return;
      if (outcome === 'moved') throw refused('its directory is a link or was moved');
    }
    throw refused('other programs keep changing it; try again');
  } catch (error) {
    if (error instanceof UserMistake) throw error;
    const line = error instanceof JsonMistake ? `line ${error.line}: ` : '';
    throw refused(`${line}${systemCode(error) ?? describeError(error)}`);
  }
}

async function tryToChange(
  path: string,
  change: (text: string) => string,
): Promise<'done' | 'overtaken' | 'moved'> {
  const file = await loadFile(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  });
  const text = file === null ? '' : new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  const next = change(text);
  if (next === text) return 'done';
  const current = file && {
    stats: file.stats,
    unchanged: (now: string) => sameStamp(statSync(now, { bigint: true }), file.stats),
  };
  return replaceFile(path, Buffer.from(next), { owner: 'settings', current, mode: 0o600 });
}

/** Null for a link that is not followed. */
function realTarget(path: string, followLinks: boolean): string | null {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink) return path;
  return followLinks ? realpathSync(path) : null;
}

/** The text with the rules that it does not hold yet. Throws a JsonMistake for a text that is no settings. */
export function withAllowed(text: string, rules: readonly string[]): string {
  if (text.trim() === '') return `${JSON.stringify({ permissions: { allow: rules } }, null, 2)}\n`;
  const parsed = parsePositionedJson(text);
  const { permissions, allow } = partsOf(parsed);
  const added = rules.filter((rule) => !allow?.includes(rule));
  if (added.length === 0) return text;
  const next = inserted(text, parsed, { permissions, allow }, added);
  const wanted = {
    ...Object(parsed.value),
    permissions: { ...permissions, allow: [...added, ...(allow ?? [])] },
  };
  if (!isDeepStrictEqual(parsePositionedJson(next).value, wanted))
    throw mistake('it cannot be changed safely');
  return next;
}

interface Parts {
  readonly permissions: object | undefined;
  readonly allow: readonly unknown[] | undefined;
}

function partsOf({ value }: PositionedJson): Parts {
  if (!isObject(value)) throw mistake('settings are an object');
  const permissions: unknown = Object(value).permissions;
  if (permissions !== undefined && !isObject(permissions)) throw mistake('permissions is no object');
  const allow: unknown = Object(permissions).allow;
  if (allow !== undefined && !Array.isArray(allow)) throw mistake('permissions.allow is no list');
  return { permissions, allow };
}

/** At the start of the innermost value that is there. */
function inserted(
  text: string,
  { offsetOf, value }: PositionedJson,
  { permissions, allow }: Parts,
  rules: readonly string[],
): string {
  const list = rules.map((rule) => JSON.stringify(rule)).join(', ');
  if (allow !== undefined)
    return insertInto(text, offsetOf(['permissions', 'allow']), list, allow.length === 0);
  if (permissions !== undefined)
    return insertInto(
      text,
      offsetOf(['permissions']),
      `"allow": [${list}]`,
      Object.keys(permissions).length === 0,
    );
  return insertInto(
    text,
    offsetOf([]),
    `"permissions": { "allow": [${list}] }`,
    Object.keys(Object(value)).length === 0,
  );
}

/** Behind the opening bracket, on a line of its own if what follows is. */
export function insertInto(
  text: string,
  offset: number | undefined,
  member: string,
  isEmpty: boolean,
): string {
  if (offset === undefined) throw mistake('it cannot be changed safely');
  const [before, after] = [text.slice(0, offset + 1), text.slice(offset + 1)];
  const [indent = ''] = /^[ \t]*\r?\n[ \t]*/.exec(after) ?? [];
  return `${before}${isEmpty ? '' : indent}${member}${isEmpty ? '' : indent === '' ? ', ' : ','}${after}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mistake(message: string): JsonMistake {
  return new JsonMistake(1, message);
}
