/** What follows from settings that are not as their writer may think: a mistake, or a line at the start. */
import { UserMistake } from '../schema/errors.ts';
import type { SettingsReport } from './read-settings.ts';
import {
  BAD_RULE,
  CHANGED,
  isBinding,
  keyText,
  NOT_MANAGED,
  POLICY_MODELS,
  POLICY_PLUGINS,
  POLICY_RULES,
  placeOf,
  type SettingValue,
  UNKNOWN_KEY,
  UNTRUSTED,
} from './setting-value.ts';
import type { SettingsFile, SettingsProblem } from './settings-file.ts';

const MOST_KEYS = 10;
const BY_POLICY = [NOT_MANAGED, POLICY_RULES, POLICY_PLUGINS, POLICY_MODELS];

/** `/home/u/.ramet/settings.json:3: maxTurns: expected number, received string`. */
export function problemText({ file, line, key, message }: SettingsProblem): string {
  return [line === null ? file : `${file}:${line}`, key, message].filter((part) => part !== null).join(': ');
}

/**
 * A bad file of the user stops the command, since it may contain a rule that refuses something. A bad file of the
 * repository is only ignored, or any repository could keep its readers from working. Either way a line says so.
 */
export function refuseBadSettings({ files }: SettingsReport): void {
  const bad = files.filter((file) => file.state === 'bad' && isBinding(file));
  const [first, ...more] = bad.flatMap(({ problems }) => problems);
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
      ...noticeOf(
        file,
        unused(CHANGED),
        (keys) => `not what you trusted, so not applied (ramet trust --show shows the difference): ${keys}`,
      ),
      ...BY_POLICY.flatMap((why) => noticeOf(file, unused(why), (keys) => `ignored, ${why}: ${keys}`)),
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
