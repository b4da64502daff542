/**
 * Reads one settings file. Everything that can be wrong with it becomes a problem with its line and key; whether
 * a problem stops the command or only that file is the caller's business. An unknown key is no problem of the
 * file: it is kept as a value that is not in use.
 */
import { describeError, systemCode } from '../schema/errors.ts';
import type * as z from '../schema/zod.ts';
import { brokenWay } from '../system/landing-path.ts';
import { loadFile } from '../system/regular-file.ts';
import { JsonMistake, type PositionedJson, parsePositionedJson } from './positioned-json.ts';
import {
  keyText,
  LARGEST_SETTINGS,
  type SettingOrigin,
  type SettingsLevel,
  type SettingValue,
  settingValues,
  UNKNOWN_KEY,
} from './setting-value.ts';
import { settingsSchema } from './settings-schema.ts';

export interface SettingsProblem {
  file: string;
  line: number | null;
  key: string | null;
  message: string;
}

export interface SettingsFile {
  level: SettingsLevel;
  path: string;
  state: 'absent' | 'read' | 'bad';
  problems: SettingsProblem[];
  values: SettingValue[];
}

export async function readSettingsFile(level: SettingsLevel, path: string): Promise<SettingsFile> {
  const bad = (message: string, line: number | null = null): SettingsFile => {
    return { level, path, state: 'bad', problems: [{ file: path, line, key: null, message }], values: [] };
  };
  try {
    const { bytes } = await loadFile(path);
    if (bytes.length > LARGEST_SETTINGS) return bad(`it has ${bytes.length} bytes: too large for settings`);
    return readSettingsText(level, path, decoded(bytes));
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const broken = brokenWay(path, level === 'managed');
      if (broken !== null) return bad(broken);
      return { level, path, state: 'absent', problems: [], values: [] };
    }
    return error instanceof JsonMistake ? bad(error.message, error.line) : bad(whyUnreadable(code, error));
  }
}

/** What the command line names: a file, which must be there, or its JSON. */
export async function readGivenSettings(given: string): Promise<SettingsFile> {
  if (given.trimStart().startsWith('{')) return readSettingsText('command line', '--settings', given);
  const file = await readSettingsFile('command line', given);
  if (file.state !== 'absent') return file;
  const message = 'there is no such file; give one, or JSON that begins with { (--settings)';
  return { ...file, state: 'bad', problems: [{ file: given, line: null, key: null, message }] };
}

function readSettingsText(level: SettingsLevel, path: string, text: string): SettingsFile {
  try {
    return checked(level, path, parsePositionedJson(text));
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error;
    const { line, message } = error;
    return { level, path, state: 'bad', problems: [{ file: path, line, key: null, message }], values: [] };
  }
}

/** UTF-8; a byte order mark at its start is what some editors write, and is left out. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new JsonMistake(1, 'it is not UTF-8 text: save it as UTF-8');
  }
}

function whyUnreadable(code: string | undefined, error: unknown): string {
  switch (code) {
    case 'EISDIR':
      return 'it is a directory: put a file in its place or remove it';
    case 'ESPECIAL':
      return 'it is not a regular file: put one in its place or remove it';
    case 'EACCES':
    case 'EPERM':
      return `it cannot be read (${code}): give yourself the right to read it, or remove it`;
    default:
      return `it cannot be read: ${code ?? describeError(error)}`;
  }
}

function checked(level: SettingsLevel, path: string, { value, lineOf }: PositionedJson): SettingsFile {
  const issues = settingsSchema.safeParse(value).error?.issues ?? [];
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key].map(String)) : [],
  );
  const problems = issues
    .filter(({ code }) => code !== 'unrecognized_keys')
    .map((issue) => ({
      file: path,
      line: lineOf(issue.path),
      key: issue.path.length === 0 ? null : keyText(issue.path),
      message: issueText(issue),
    }));
  if (problems.length > 0) return { level, path, state: 'bad', problems, values: [] };
  const origin = (at: readonly PropertyKey[]): SettingOrigin => ({ level, source: path, line: lineOf(at) });
  const values = settingValues(Object(value), origin).filter(
    (one) => !unknown.some((at) => at.every((key, index) => one.path[index] === key)),
  );
  return { level, path, state: 'read', problems: [], values: [...values, ...unknown.map(unknownValue)] };

  function unknownValue(at: readonly string[]): SettingValue {
    const found = at.reduce<unknown>((parent, key) => Object(parent)[key], value);
    return { ...origin(at), path: at, value: found, isEntry: false, unused: UNKNOWN_KEY };
  }
}

function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  const text = issue.message.replace(/^Invalid (?:input|option): /, '');
  return issue.path.length === 0 ? `settings are an object: ${text}` : text;
}
