/**
 * What people are told about their settings. A bad file of the user's own stops the command, since a rule that
 * refuses something may be in it; a bad file of the repository only loses its say, or any repository could keep
 * its readers from working. Either way there is a line that says so.
 */
import { UserMistake } from '../schema/errors.ts';
import type { SettingsReport } from './read-settings.ts';
import {
  BAD_RULE,
  isBinding,
  keyText,
  placeOf,
  type SettingValue,
  UNKNOWN_KEY,
  UNTRUSTED,
} from './setting-value.ts';
import type { SettingsFile, SettingsProblem } from './settings-file.ts';

const MOST_KEYS = 10;

/** `/home/u/.ramet/settings.json:3: maxTurns: expected number, received string`. */
export function problemText({ file, line, key, message }: SettingsProblem): string {
  return [line === null ? file : `${file}:${line}`, key, message].filter((part) => part !== null).join(': ');
}

export function refuseBadSettings({ files }: SettingsReport): void {
  const [first, ...more] = files.filter(isBinding).flatMap(({ problems }) => problems);
  if (first === undefined) return;
  throw new UserMistake('bad_settings', `${problemText(first)}${andMore(more)}`);
}

/** One line for each thing that is not as its writer may think, none when all is well. */
export function settingsNotices({ files, values, isTrusted }: SettingsReport): string[] {
  return files.flatMap((file) => {
    if (file.state === 'bad' && !isBinding(file)) return [ignoredText(file)];
    const unused = (why: string): SettingValue[] =>
      values.filter(({ source, unused }) => source === file.path && unused?.startsWith(why));
    return [
      ...ruleNotice(unused(BAD_RULE)),
      ...noticeOf(file, unused(UNKNOWN_KEY), (keys) => `unknown, so ignored: ${keys}`),
      ...noticeOf(
        file,
        unused(UNTRUSTED),
        (keys) => `not applied before you trust this folder (ramet trust): ${keys}`,
      ),
      ...(isTrusted ? [] : chosenModels(file, values)),
    ];
  });
}

/** A folder may say which model suits it; who pays is told that it did. */
function chosenModels({ path, level }: SettingsFile, values: readonly SettingValue[]): string[] {
  if (level !== 'repository' && level !== 'local') return [];
  const chosen = values.filter(
    ({ source, unused, path: [key = ''] }) =>
      source === path && unused === null && ['model', 'fallbackModel', 'models'].includes(key),
  );
  const named = chosen.map(({ path: key, value }) => `${keyText(key)} ${JSON.stringify(value)}`);
  return named.length === 0
    ? []
    : [`${path}:${chosen[0]?.line}: this folder, which is not trusted, sets ${named.join(', ')}`];
}

function ignoredText({ problems }: SettingsFile): string {
  const [first, ...more] = problems;
  const text = first === undefined ? '' : problemText(first);
  return `${text}${andMore(more)}; the repository's settings are ignored`;
}

function ruleNotice([first, ...more]: readonly SettingValue[]): string[] {
  if (first === undefined) return [];
  return [`${placeOf(first)}: ${keyText(first.path)}: ${first.unused}${andMore(more)}; ignored`];
}

function andMore(more: readonly unknown[]): string {
  return more.length === 0 ? '' : ` (and ${more.length} more: see ramet settings)`;
}

function noticeOf(
  { path }: SettingsFile,
  values: readonly SettingValue[],
  text: (keys: string) => string,
): string[] {
  const keys = [...new Set(values.map((value) => keyText(value.path)))];
  const line = values[0]?.line;
  const named = `${keys.slice(0, MOST_KEYS).join(', ')}${andMore(keys.slice(MOST_KEYS))}`;
  return values.length === 0 ? [] : [`${path}:${line}: ${text(named)}`];
}
