/**
 * The skills and commands of a place, for people: what they can ask for by `/name`, what is not in use and why, and what a session
 * that begins here would tell at its start.
 */
import { type ProjectInstructions, readProjectInstructions } from '../../agents/prompts/first-message.ts';
import { isBare } from '../../extensions/extension-places.ts';
import { type FileProblem, isMistake } from '../../extensions/front-matter/field-problem.ts';
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import type { PromptCatalog } from '../../extensions/prompts/prompt-store.ts';
import { openAgentTypes, typeContext } from '../agent-types/agent-types.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { listAgentTypes, lossesHere } from '../calls/check-types.ts';
import { resolveOptions, type SessionOptions } from '../options.ts';
import { findPlace } from '../place.ts';
import { sessionSettings, settingsPlace } from '../session/setup/session-settings.ts';
import { extensionPlace, findPlugins, type PluginLoss, pluginLosses, withPlugins } from './plugins.ts';
import { ruleProblems } from './prompt-rules.ts';
import { openPrompts } from './session-prompts.ts';

export interface PromptList {
  /** By name. */
  readonly prompts: readonly PromptFile[];
  /** Null where there is nothing to read. */
  readonly catalog: PromptCatalog | null;
  /** What is wrong with plugins. */
  readonly problems: readonly string[];
  /** What is wrong with rules in them. */
  rules(): readonly FileProblem[];
  readonly losses: readonly PluginLoss[];
}

export async function listPrompts(
  options: CallOptions & { plugins?: readonly string[] | undefined } = {},
): Promise<PromptList> {
  const { cwd, env } = callerOf(options);
  const place = findPlace({ cwd, env });
  const settings = await sessionSettings({ cwd, env });
  const { plugins, problems } = await findPlugins(place, { ...settings, env, pluginDirs: options.plugins });
  const where = extensionPlace(place, env, plugins);
  const { all, store } = await openPrompts(where, settingsPlace(place, env));
  const losses = pluginLosses(plugins, settings.settings);
  const rules = (): readonly FileProblem[] => ruleProblems(all, where);
  return { prompts: all, catalog: store?.catalog ?? null, problems, rules, losses };
}

/** Something that is there and has no effect. */
export interface UnusedExtension {
  readonly what: string;
  readonly source: string;
  readonly why: string;
}

export interface ExtensionsHere {
  readonly prompts: readonly PromptFile[];
  readonly unused: readonly UnusedExtension[];
  /** What is wrong in files that are still in use. */
  readonly flawed: readonly UnusedExtension[];
  /** Fields that mean something elsewhere and nothing here, each once. */
  readonly inactive: readonly UnusedExtension[];
  readonly instructions: ProjectInstructions;
}

export async function extensionsHere(options: CallOptions = {}): Promise<ExtensionsHere> {
  const { prompts, catalog, problems, rules, losses } = await listPrompts(options);
  const { untrusted = [], changed = [], shadowed = [], problems: files = [] } = catalog ?? {};
  const used = new Set(prompts.map(({ path }) => path));
  const unread = rules();
  const isLost = ({ path, level }: FileProblem): boolean => level === 'error' || !used.has(path);
  const wrong = [...files, ...unread].filter(isMistake);
  const types = await listAgentTypes(options);
  return {
    prompts,
    instructions: await instructionsHere(callerOf(options)),
    flawed: wrong.filter((one) => !isLost(one)).map(flawOf),
    inactive: inactiveFields([...files, ...unread, ...types.problems]),
    unused: [
      ...untrusted.map(({ name, path }) => ({ what: name, source: path, why: 'this folder is not trusted' })),
      ...changed.map(({ name, path }) => ({ what: name, source: path, why: 'not what you trusted' })),
      ...shadowed.map(({ prompt, by }) => ({
        what: prompt.name,
        source: prompt.path,
        why: `shadowed by ${by}`,
      })),
      ...wrong.filter(isLost).map(flawOf),
      ...problems.map((problem) => ({
        what: 'plugin',
        source: problem.split(': ', 1)[0] ?? '',
        why: problem,
      })),
      ...losses.map(({ plugin, field, why }) => ({
        what: `${field} of the plugin ${plugin.name}`,
        source: plugin.root,
        why: `left out, ${why}`,
      })),
      ...(await lossesHere(options)).map(({ type, field, why }) => ({
        what: `${field} of the agent type ${type.name}`,
        source: type.path ?? type.name,
        why: `left out, ${why}`,
      })),
    ],
  };
}

/**
 * The lines of a session's start that take no session, in its words and its order. Nothing is started, run or written for them: lines
 * about MCP servers and leftovers come with the session. Rejects with what opening it would say.
 */
export async function startNotices(options: SessionOptions): Promise<string[]> {
  const asked = resolveOptions(options, await sessionSettings(options));
  const place = findPlace(asked);
  const { plugins, problems } = await findPlugins(place, asked);
  const given = await withPlugins(asked, plugins, place);
  const { env } = given;
  const prompts = await openPrompts(extensionPlace(place, env, plugins), settingsPlace(place, env));
  using types = await openAgentTypes(place, env, typeContext(given, { plugins }));
  return [
    ...given.notices,
    ...problems,
    ...(await prompts.notices([])),
    ...(isBare(env) ? [] : (await instructionsHere({ cwd: place.cwd, env })).problems),
    ...types.notices(),
  ];
}

/** As a session that begins here reads them. */
function instructionsHere({ cwd, env }: Pick<Caller, 'cwd' | 'env'>): Promise<ProjectInstructions> {
  const { repository, home } = findPlace({ cwd, env });
  const root = repository?.root ?? cwd;
  return readProjectInstructions({ cwd, root, rametHome: home, userHome: env.HOME || undefined });
}

function flawOf({ path, line, field, message }: FileProblem): UnusedExtension {
  return { what: field ?? 'file', source: line === null ? path : `${path}:${line}`, why: message };
}

function inactiveFields(problems: readonly FileProblem[]): UnusedExtension[] {
  const found = problems.filter(({ level }) => level === 'inactive');
  const alike = Map.groupBy(found, ({ field, message }) => JSON.stringify([field, message]));
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const flaw = flawOf(first);
    return [others.length === 0 ? flaw : { ...flaw, source: `${flaw.source} and ${others.length} more` }];
  });
}
