/**
 * Permission rules in a settings file that cannot be read or could never match. In the user's own files such a rule
 * makes the file bad, since its writer relies on it; in the repository's the rule alone is left out.
 */
import { parseRule } from '../permission/rule.ts';
import { BAD_RULE, isBinding, keyText, quoted, type SettingValue, shownLine } from './setting-value.ts';
import type { SettingsPlace } from './settings.ts';
import type { SettingsFile } from './settings-file.ts';

const LISTS = ['allow', 'ask', 'deny'] as const;

export function checkRules(file: SettingsFile, place: SettingsPlace): SettingsFile {
  const values = file.values.map((value) => {
    const reason = whyNoRule(value, place);
    return reason === null
      ? value
      : { ...value, unused: `${BAD_RULE}: ${quoted(String(value.value))} ${reason}` };
  });
  const bad = values.filter(({ unused }) => unused?.startsWith(BAD_RULE));
  if (bad.length === 0 || !isBinding(file)) return { ...file, values };
  const problems = bad.map(({ path, line, unused }) => {
    return { file: file.path, line, key: keyText(path), message: unused ?? '' };
  });
  return { ...file, state: 'bad', problems, values: [] };
}

function whyNoRule({ path, value, unused }: SettingValue, { root, userHome }: SettingsPlace): string | null {
  const list = LISTS.find((one) => path[0] === 'permissions' && path[1] === one);
  if (list === undefined || unused !== null) return null;
  const parsed = parseRule(String(value), { list, place: '', base: root, home: userHome });
  return parsed.ok ? null : shownLine(parsed.problem.reason);
}
