/** Every setting that holds here and where it came from; what does not count, and why. */
import { overridePrices, PRICES, type PriceTable } from '../../model/prices.ts';
import type { OtherTools } from '../../settings/other-tools/other-tools.ts';
import { readOtherTools } from '../../settings/other-tools/read-other-tools.ts';
import { isTrustedPlace, type SettingsReport } from '../../settings/read-settings.ts';
import { isBinding, keyText, placeOf, type SettingValue } from '../../settings/setting-value.ts';
import { problemText } from '../../settings/settings-notices.ts';
import { extensionsHere, type UnusedExtension } from '../extensions/list-prompts.ts';
import { findPlace } from '../place.ts';
import {
  describeSettings,
  sessionSettings,
  settingsPlace,
  unusedOthers,
} from '../session/setup/session-settings.ts';
import { type CallOptions, callerOf } from './caller.ts';

export interface ReportedSetting extends SettingValue {
  /** `permissions.allow`. */
  key: string;
  /** The file and the line, or what else it came from. */
  from: string;
}

export interface SettingsInDetail {
  settings: SettingsReport['settings'];
  values: ReportedSetting[];
  files: SettingsReport['files'];
  /** What was set up for other tools, such as Claude Code. */
  others: OtherTools;
  /** Skills, commands, plugins and parts of agent files that are there and have no effect. */
  unusedExtensions: readonly UnusedExtension[];
  /** What is wrong in files of skills and commands that are still in use. */
  flawedExtensions: readonly UnusedExtension[];
  /** Fields of skills, commands and agent files that mean something in other tools and nothing here. */
  inactiveFields: readonly UnusedExtension[];
  isTrusted: boolean;
  /** What is wrong, one line each. */
  problems: string[];
  /** A bad file keeps commands from starting. */
  isBroken: boolean;
}

export async function readSettingsInDetail(options: CallOptions = {}): Promise<SettingsInDetail> {
  const { cwd, env } = callerOf(options);
  const place = findPlace({ cwd, env });
  const report = await describeSettings(place, env);
  const { settings, values, files } = report;
  const here = settingsPlace(place, env);
  const found = await readOtherTools(here);
  const others = { ...found, unused: await unusedOthers(report, found, here) };
  const isBroken = files.some((file) => file.state === 'bad' && isBinding(file));
  const extensions = isBroken ? null : await extensionsHere(options);
  const astray = isBroken ? [] : await (await import('../mcp/rule-notices.ts')).ruleNoticesHere(options);
  return {
    settings,
    values: values.map((value) => ({ ...value, key: keyText(value.path), from: placeOf(value) })),
    files,
    others,
    unusedExtensions: extensions?.unused ?? [],
    flawedExtensions: extensions?.flawed ?? [],
    inactiveFields: extensions?.inactive ?? [],
    isTrusted: isTrustedPlace(here),
    problems: [
      ...others.problems,
      ...files.flatMap(({ problems }) => problems.map(problemText)),
      ...astray,
      ...(extensions?.instructions.problems ?? []),
    ],
    isBroken,
  };
}

/** The schema that editors check a settings file with, as text. */
/** Without what may be a secret: variables of other tools. */
export type SettingsOverview = Omit<SettingsInDetail, 'others'> & {
  /** Of the settings of other tools, such as Claude Code: rules that count here, and what has no effect. */
  otherTools: Pick<OtherTools, 'rules' | 'unused'>;
};

export async function settingsOverview(options: CallOptions = {}): Promise<SettingsOverview> {
  const { others, ...report } = await readSettingsInDetail(options);
  return { ...report, otherTools: { rules: others.rules, unused: others.unused } };
}

export async function settingsSchema(): Promise<string> {
  const { settingsJsonSchema } = await import('../../settings/settings-schema.ts');
  return settingsJsonSchema();
}

/** What models cost here: the list prices, and what the settings say instead. */
export async function pricesInForce(options: CallOptions = {}): Promise<PriceTable> {
  const { cwd, env } = callerOf(options);
  const { settings } = await sessionSettings({ cwd, env });
  return overridePrices(PRICES, settings.prices ?? {});
}
