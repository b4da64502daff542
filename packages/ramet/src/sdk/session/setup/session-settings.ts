/** The settings of a session: those of its place, unless the caller brings others. */
import { resolve } from 'node:path';
import { DEFAULT_AGENT_LIMITS } from '../../../engine/agent/agent-limits.ts';
import { isBare } from '../../../extensions/extension-places.ts';
import { MODEL_TIERS, resolveModel, tierVariable } from '../../../model/catalog.ts';
import { DEFAULT_WATCH } from '../../../model/connection-watch.ts';
import { DEFAULT_CONCURRENT_REQUESTS } from '../../../model/rate/rate-window.ts';
import { DEFAULT_RETRY } from '../../../model/rate/retry.ts';
import { PROVIDER_KINDS, type ProviderKind, providerKind } from '../../../model/select-provider.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { SETTINGS_SOURCES, type SettingsSource } from '../../../schema/status.ts';
import { describeIssues } from '../../../schema/zod.ts';
import type { OtherRules, OtherTools } from '../../../settings/other-tools/other-tools.ts';
import { shownPath } from '../../../settings/other-tools/other-tools.ts';
import {
  foldersUpTo,
  otherToolsNotices,
  readOtherTools,
} from '../../../settings/other-tools/read-other-tools.ts';
import { managedSettings, readSettings, type SettingsReport } from '../../../settings/read-settings.ts';
import {
  keyText,
  POLICY_RULES,
  POLICY_SERVERS,
  type SettingValue,
  UNTRUSTED,
  WIDER_MODE,
} from '../../../settings/setting-value.ts';
import type { Settings, SettingsInForce, SettingsPlace, TierSettings } from '../../../settings/settings.ts';
import { refuseBadSettings, settingsNotices } from '../../../settings/settings-notices.ts';
import { formerTrust } from '../../../system/former-trust.ts';
import { managedFolders } from '../../../system/home.ts';
import { trustedEntry } from '../../../system/trust.ts';
import {
  DEFAULT_LAUNCH,
  DEFAULT_MAX_TURNS,
  DEFAULT_MODEL,
  DEFAULT_PERMISSION_MODE,
  DEFAULT_SANDBOX,
  type SessionOptions,
} from '../../options.ts';
import { findPlace, type Place } from '../../place.ts';
import { withoutChangedCommands } from './folder-commands.ts';
import { goneWithPlugins, hooksInForce, unusedHooks } from './hooks-in-force.ts';

/** Throws a UserMistake for a bad file that must not be passed over. */
export async function sessionSettings(options: SessionOptions): Promise<SettingsInForce> {
  const { settings, cwd = process.cwd(), env = process.env } = options;
  if (settings !== undefined) {
    const report = await managedSettings(await checked(settings || {}), managedFolders(env));
    refuseBadSettings(report);
    const rules = ruleOrigins(report, { root: cwd, userHome: null });
    return { settings: report.settings, notices: [], managed: report.managed, ruleOrigins: rules };
  }
  const place = settingsPlace(findPlace({ cwd, env }), env);
  const defaults = defaultSettings();
  // What nobody has set depends on the session: a coordinator has as many workers at once as there are cores.
  const { concurrent: _, ...agents } = defaults.agents ?? {};
  const others = await readOtherTools(place);
  const report = await readSettings(place, { defaults: { ...defaults, agents }, others });
  refuseBadSettings(report);
  const found = await hooksInForce(report, others, place);
  const commands = await withoutChangedCommands(report.settings, report.values, place, others.statusLines);
  const given = (options.plugins ?? []).map((path) => resolve(cwd, path));
  const gone = await goneWithPlugins(report, [...(commands.settings.plugins ?? []), ...given], place);
  const notices = [
    ...settingsNotices(report),
    ...otherToolsNotices({ ...others, unused: [...others.unused, ...widerModes(report)] }, place),
    ...ignoredAllow(report, others.rules).map(
      ({ place }) => `${place}: ignored, ${POLICY_RULES}: permissions.allow`,
    ),
    ...found.notices,
    ...commands.notices,
    ...gone.notices,
  ];
  const serverOrigins = report.values.filter(
    ({ path, unused }) =>
      path[0] === 'mcpServers' &&
      (unused === null || KEPT_SERVERS.includes(unused) || unused.startsWith('set in ')),
  );
  return {
    ...{ settings: commands.settings, notices, hooks: [...found.hooks, ...gone.hooks], childEnv: others.env },
    others: allowsOwnRules(report.settings) ? others.rules : others.rules.map(withoutAllow),
    ...{ managed: report.managed, serverOrigins, ruleOrigins: ruleOrigins(report, place) },
    ...{ alsoDirectories: others.directories.map(({ path }) => path), serverLimits: others.servers },
  };
}

/** For messages; a program's own settings have no file. */
function ruleOrigins(
  { values }: SettingsReport,
  { root, userHome }: Pick<SettingsPlace, 'root' | 'userHome'>,
): NonNullable<SettingsInForce['ruleOrigins']> {
  return values.flatMap(({ path: [key, list], value, isEntry, source, unused }) => {
    if (key !== 'permissions' || list === undefined || !isEntry || unused !== null || source === null)
      return [];
    return [{ list, text: String(value), place: shownPath(source, root, userHome) }];
  });
}

/** They are listed with the servers of the place. */
const KEPT_SERVERS: readonly string[] = [UNTRUSTED, POLICY_SERVERS];

function allowsOwnRules({ policy }: Settings): boolean {
  return policy?.allowRules !== 'managed';
}

/** Those whose allow rules policy leaves out. */
function ignoredAllow({ settings }: SettingsReport, rules: readonly OtherRules[]): readonly OtherRules[] {
  return allowsOwnRules(settings) ? [] : rules.filter(({ texts }) => (texts.allow ?? []).length > 0);
}

/** What is set up for other tools and has no effect here, for reports. */
export async function unusedOthers(
  report: SettingsReport,
  others: OtherTools,
  place: SettingsPlace,
): Promise<OtherTools['unused']> {
  return [
    ...others.unused,
    ...widerModes(report),
    ...(await unusedHooks(report, others.hooks, place)),
    ...ignoredAllow(report, others.rules).map(({ place }) => ({
      what: `permissions.allow: ${POLICY_RULES}`,
      source: place,
    })),
  ];
}

function widerModes({ values }: SettingsReport): OtherTools['unused'] {
  return values
    .filter(({ unused }) => unused === WIDER_MODE)
    .map(({ path, source }) => ({ what: `${keyText(path)}: ${WIDER_MODE}`, source: source ?? '' }));
}

function withoutAllow({ texts: { allow: _, ...texts }, ...rules }: OtherRules): OtherRules {
  return { ...rules, texts };
}

async function checked(settings: Settings): Promise<Settings> {
  const { settingsSchema } = await import('../../../settings/settings-schema.ts');
  const { data, error } = settingsSchema.safeParse(settings);
  if (data !== undefined) return data;
  throw new UserMistake('bad_settings', `the option settings is wrong: ${describeIssues(error)}`);
}

/** Everything there is to know of the settings of a place, problems included. */
export async function describeSettings(place: Place, env: NodeJS.ProcessEnv): Promise<SettingsReport> {
  const environment = environmentValues(env);
  const here = settingsPlace(place, env);
  const others = await readOtherTools(here);
  const read = (defaults: Settings): Promise<SettingsReport> =>
    readSettings(here, { defaults, environment, others });
  // Twice, because what the tiers stand for depends on the provider that settings may name.
  const { settings } = await read(defaultSettings());
  const provider = settings.provider ?? providerKind({ ...env, RAMET_PROVIDER: undefined });
  return read({ ...defaultSettings(), provider, models: defaultTiers(provider) });
}

/** Which models a server of chat completions has is not known. */
function defaultTiers(provider: ProviderKind): TierSettings {
  if (provider === 'openai') return {};
  return Object.fromEntries(MODEL_TIERS.map((tier) => [tier, resolveModel(tier, {}, provider)]));
}

export function settingsPlace({ repository, cwd, home }: Place, env: NodeJS.ProcessEnv): SettingsPlace {
  const userHome = env.HOME ? resolve(env.HOME) : null;
  const folders = foldersUpTo(cwd, repository?.root ?? userHome ?? cwd);
  const isGiven = env.RAMET_TRUST === '1';
  const root = repository?.root ?? cwd;
  const trusted = { root, home, isGiven };
  const isAsTrusted = async (file: string): Promise<boolean> => {
    const { partsOfSettings } = await import('../../../extensions/trust/collect-parts.ts');
    const { folderTrust } = await import('../../../extensions/trust/folder-trust.ts');
    const [rights] = partsOfSettings(file).filter(({ kind }) => kind === 'rights');
    return rights === undefined || folderTrust(trusted).verdictOn(rights) === 'trusted';
  };
  const given = { ...givenIn(env, cwd), isBare: isBare(env) };
  const former = formerTrust({ ...trusted, folders });
  const place = {
    ...trusted,
    userHome,
    folders,
    managed: managedFolders(env),
    isAsTrusted,
    ...given,
    former,
  };
  const known = isGiven ? [] : [...former, trustedEntry(place)];
  const keys = known.flatMap((one) => Object.keys(one?.parts ?? {}));
  if (!keys.some((key) => /^(?:limits|rights) /.test(key))) return place;
  const keptLimits: SettingsPlace['keptLimits'] = async (used) =>
    (await import('./kept-limits.ts')).keptLimits(place, used);
  return { ...place, keptLimits };
}

/** The flags `--settings` and `--setting-sources` reach every call as variables. */
function givenIn(
  { RAMET_SETTINGS: text = '', RAMET_SETTING_SOURCES: sources }: NodeJS.ProcessEnv,
  cwd: string,
): Pick<SettingsPlace, 'given' | 'sources'> {
  const isJson = text.trimStart().startsWith('{');
  return {
    ...(text.trim() !== '' && { given: isJson ? text : resolve(cwd, text) }),
    ...(sources !== undefined && { sources: sources.split(',').filter(Boolean).map(sourceOf) }),
  };
}

function sourceOf(text: string): SettingsSource {
  const source = SETTINGS_SOURCES.find((one) => one === text.trim());
  if (source !== undefined) return source;
  throw new UserMistake(
    'bad_variable',
    `there is no source of settings ${JSON.stringify(text.slice(0, 60))}: give ${SETTINGS_SOURCES.join(', ')} (--setting-sources)`,
  );
}

function defaultSettings(): Settings {
  const { depth, concurrent, total, reportBytes, fork, executor, stallMs } = DEFAULT_AGENT_LIMITS;
  return {
    model: DEFAULT_MODEL,
    permissions: { defaultMode: DEFAULT_PERMISSION_MODE },
    maxTurns: DEFAULT_MAX_TURNS,
    launch: DEFAULT_LAUNCH,
    sandbox: { readOnly: DEFAULT_SANDBOX, worktree: DEFAULT_SANDBOX },
    limits: {
      concurrentRequests: DEFAULT_CONCURRENT_REQUESTS,
      silenceSeconds: DEFAULT_WATCH.silentMs / 1_000,
      stallSeconds: DEFAULT_WATCH.stalledMs / 1_000,
    },
    retries: DEFAULT_RETRY.maxRetries,
    agents: { depth, concurrent, total, reportBytes, fork, executor, stallSeconds: stallMs / 1_000 },
  };
}

/** The same settings as variables; `options.ts` and the model room act on them, and refuse bad ones. */
function environmentValues(env: NodeJS.ProcessEnv): SettingValue[] {
  const stated = (
    source: string,
    path: readonly string[],
    read: (text: string) => unknown,
  ): SettingValue[] => {
    const text = env[source]?.trim();
    if (!text) return [];
    const value = read(text);
    const unused = value === undefined ? 'it cannot be used' : null;
    return [{ level: 'environment', source, line: null, path, value: value ?? text, isEntry: false, unused }];
  };
  return [
    ...MODEL_TIERS.flatMap((tier) => stated(tierVariable(tier), ['models', tier], (text) => text)),
    ...stated('RAMET_MAX_RETRIES', ['retries'], (text) => (/^\d+$/.test(text) ? Number(text) : undefined)),
    ...stated('RAMET_PROVIDER', ['provider'], (text) => PROVIDER_KINDS.find((name) => name === text)),
  ];
}
