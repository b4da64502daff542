/** One settings file of Claude Code: what of it counts here, and the names of everything else in it. */
import { dirname } from 'node:path';
import { describeProblem, parseRules, type RuleTexts } from '../../permission/policy.ts';
import { describeError, systemCode } from '../../schema/errors.ts';
import { loadFile } from '../../system/regular-file.ts';
import { isTrusted } from '../../system/trust.ts';
import { JsonMistake, parsePositionedJson } from '../positioned-json.ts';
import { CHANGED, LARGEST_SETTINGS, UNTRUSTED } from '../setting-value.ts';
import type { SettingsPlace } from '../settings.ts';
import { takeVariables } from './folder-variables.ts';
import { NOTHING, type OtherTools, shownPath, translated, type UnusedPart } from './other-tools.ts';
import {
  forbidsBypass,
  LIMITING,
  serverLimits,
  type TakenValues,
  takeValues,
  WIDENING,
} from './other-values.ts';

const NARROWING = ['deny', 'ask'] as const;

export async function readOtherSettings(path: string, place: SettingsPlace): Promise<OtherFileRead> {
  const shown = shownPath(path, place.root, place.userHome);
  const folder = dirname(dirname(path));
  const isUsers = folder === place.userHome;
  // The user's own file is for every repository.
  const base = isUsers ? place.root : folder;
  const { content, notes } = await parsedFile(path);
  if (typeof content === 'string') {
    const problem = `${shown} ${content}: deny and ask rules in it are NOT in force`;
    return { ...NOTHING, problems: [problem], isUsers };
  }
  const permissions = content.permissions;
  const problems = notes.map((note) => `${shown} ${note}`);
  const settled: ListContext['settled'] = { texts: {}, problems };
  const isGiven = isUsers || (await place.isAsTrusted?.(path)) === true;
  const needsTrust = isGiven ? undefined : isTrusted(place) ? CHANGED : UNTRUSTED;
  if (isObject(permissions)) {
    for (const list of isGiven ? [...NARROWING, 'allow' as const] : NARROWING)
      takeList(list, permissions[list], { shown, base, home: place.userHome, settled });
  } else if (permissions !== undefined) {
    settled.problems.push(`permissions in ${shown} is no object: deny and ask rules in it are NOT in force`);
  }
  const level = isUsers ? 'user' : path.endsWith('.local.json') ? 'local' : 'repository';
  const taken = isGiven ? takeValues({ source: path, level, content, base, home: place.userHome }) : NONE;
  const { env, problems: leftOut } = takeVariables(isGiven ? content.env : undefined, { shown, isUsers });
  problems.push(...leftOut);
  const limits = serverLimits(shown, content, isGiven);
  return {
    hooks: content.hooks === undefined ? [] : [path],
    rules: [{ place: shown, base, texts: settled.texts }],
    unused: unusedOf(content, needsTrust, taken.refused).map(
      (part): UnusedPart => ({ ...part, source: path }),
    ),
    values: taken.values,
    forbidden: forbidsBypass(content) ? [{ ...NO_BYPASS, level, source: path }] : [],
    directories: taken.directories,
    servers: limits === null ? [] : [limits],
    env,
    statusLines: isGiven && content.statusLine !== undefined ? [path] : [],
    problems: settled.problems,
    stopping: content.disableAllHooks === true && !isUsers ? [path] : [],
    isStopped: content.disableAllHooks === true && isUsers,
    isUsers,
  };
}

/** What one file brings; whether hooks of others are off, all of them decide. */
export interface OtherFileRead extends OtherTools {
  readonly isUsers: boolean;
}

const NONE: TakenValues = { values: [], directories: [], refused: [] };
const NO_BYPASS = {
  ...{ path: ['policy', 'bypassPermissions'], value: false },
  ...{ line: null, isEntry: false, unused: null },
};

interface ListContext {
  readonly shown: string;
  readonly base: string;
  readonly home: string | null;
  readonly settled: { texts: RuleTexts; problems: string[] };
}

/** Keeps the rules that can be read, and reports each other one as ignored. */
function takeList(
  list: 'deny' | 'ask' | 'allow',
  value: unknown,
  { shown, base, home, settled }: ListContext,
): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) {
    settled.problems.push(`permissions.${list} in ${shown} is no list: its rules are NOT in force`);
    return;
  }
  const origin = { base, home, place: shown };
  const kept: string[] = [];
  for (const entry of value) {
    const text = typeof entry === 'string' ? translated(entry) : JSON.stringify(entry);
    const [problem] = parseRules({ [list]: [text] }, origin).problems;
    if (problem === undefined) kept.push(text);
    else settled.problems.push(`${describeProblem(problem)}: it is NOT in force`);
  }
  settled.texts = { ...settled.texts, [list]: kept };
}

/** What counts in a trusted folder and in the user's own file, besides hooks. */
const AFTER_TRUST = ['permissions.allow', 'env', 'statusLine', ...WIDENING];

/** The rest of the public convention (docs/settings.md says what to use instead): any other key is a mistake, or newer. */
const KNOWN_IDLE: ReadonlySet<string> = new Set(
  [
    'availableModels alwaysThinkingEnabled allowManagedHooksOnly allowManagedPermissionRulesOnly',
    'allowedMcpServers enabledPlugins',
    'extraKnownMarketplaces strictKnownMarketplaces outputStyle language attribution includeCoAuthoredBy',
    'sandbox apiKeyHelper awsAuthRefresh awsCredentialExport otelHeadersHelper',
    'forceLoginMethod forceLoginOrgUUID companyAnnouncements fileSuggestion respectGitignore',
    'spinnerTipsEnabled teammateMode plansDirectory autoUpdatesChannel',
  ].flatMap((line) => line.split(' ')),
);

/** `refused` are keys whose values mean nothing here. */
function unusedOf(
  content: Record<string, unknown>,
  needsTrust: UnusedPart['needsTrust'],
  refused: readonly string[],
): Pick<UnusedPart, 'what' | 'needsTrust'>[] {
  const { permissions, hooks: _, $schema: __, ...others } = content;
  const rights = isObject(permissions) ? Object.keys(permissions).filter((key) => !isNarrowing(key)) : [];
  const all = [...rights.map((key) => `permissions.${key}`), ...Object.keys(others)];
  const counts = (name: string): boolean =>
    LIMITING.includes(name) ||
    (needsTrust === undefined && AFTER_TRUST.includes(name) && !refused.includes(name));
  return all
    .filter((name) => !counts(name))
    .map((name) => ({
      what: KNOWN_IDLE.has(name) || AFTER_TRUST.includes(name) ? name : `${name.slice(0, 60)} (unknown)`,
      ...(needsTrust && AFTER_TRUST.includes(name) && { needsTrust }),
    }));
}

function isNarrowing(key: string): boolean {
  return NARROWING.some((list) => list === key);
}

interface ParsedFile {
  /** The object in the file, or what is wrong with it. */
  content: Record<string, unknown> | string;
  /** What is strange in it though it can be read; each follows the file's name. */
  notes: string[];
}

async function parsedFile(path: string): Promise<ParsedFile> {
  try {
    const { bytes } = await loadFile(path);
    if (bytes.length > LARGEST_SETTINGS) return broken(`has ${bytes.length} bytes, too many for settings`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const { value, notes } = parsedText(text);
    return isObject(value) ? { content: value, notes } : broken('holds no JSON object');
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return broken('is no valid JSON');
    const code = systemCode(error);
    return broken(
      code === 'ENOENT' ? 'is a link that leads nowhere' : `cannot be read (${code ?? describeError(error)})`,
    );
  }
}

function broken(content: string): ParsedFile {
  return { content, notes: [] };
}

/** A key that stands twice is read as JSON has it, and told: what the first one forbids is not forbidden. */
function parsedText(text: string): { value: unknown; notes: string[] } {
  try {
    return { value: parsePositionedJson(text).value, notes: [] };
  } catch (mistake) {
    const value: unknown = JSON.parse(text);
    if (!(mistake instanceof JsonMistake)) throw mistake;
    return {
      value,
      notes: [
        `line ${mistake.line}: ${mistake.message}; where a key stands twice, what stands first is NOT in force`,
      ],
    };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
