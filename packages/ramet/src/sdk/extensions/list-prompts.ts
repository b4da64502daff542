/** The skills and commands of a place, for people: what they can ask for by `/name`, and what is not in use and why. */
import type { PromptFile } from '../../extensions/prompts/prompt-file.ts';
import type { PromptCatalog } from '../../extensions/prompts/prompt-store.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { lossesHere } from '../calls/check-types.ts';
import { findPlace } from '../place.ts';
import { sessionSettings, settingsPlace } from '../session/session-settings.ts';
import { extensionPlace, findPlugins } from './plugins.ts';
import { openPrompts } from './session-prompts.ts';

export interface PromptList {
  /** By name. */
  readonly prompts: readonly PromptFile[];
  /** Null where there is nothing to read. */
  readonly catalog: PromptCatalog | null;
  /** What is wrong with plugins. */
  readonly problems: readonly string[];
}

export async function listPrompts(
  options: CallOptions & { plugins?: readonly string[] | undefined } = {},
): Promise<PromptList> {
  const { cwd, env } = callerOf(options);
  const place = findPlace({ cwd, env });
  const settings = await sessionSettings({ cwd, env });
  const { plugins, problems } = await findPlugins(place, { ...settings, env, pluginDirs: options.plugins });
  const { all, store } = await openPrompts(extensionPlace(place, env, plugins), settingsPlace(place, env));
  return { prompts: all, catalog: store?.catalog ?? null, problems };
}

/** Something that is there and has no effect. */
export interface UnusedExtension {
  readonly what: string;
  readonly source: string;
  readonly why: string;
}

export async function unusedHere(
  options: CallOptions = {},
): Promise<{ prompts: readonly PromptFile[]; unused: readonly UnusedExtension[] }> {
  const { prompts, catalog, problems } = await listPrompts(options);
  const { untrusted = [], changed = [], shadowed = [], problems: files = [] } = catalog ?? {};
  return {
    prompts,
    unused: [
      ...untrusted.map(({ name, path }) => ({ what: name, source: path, why: 'this folder is not trusted' })),
      ...changed.map(({ name, path }) => ({ what: name, source: path, why: 'not what you trusted' })),
      ...shadowed.map(({ prompt, by }) => ({
        what: prompt.name,
        source: prompt.path,
        why: `shadowed by ${by}`,
      })),
      ...files
        .filter(({ level }) => level !== 'note')
        .map(({ path, line, field, message }) => ({
          what: field ?? 'file',
          source: line === null ? path : `${path}:${line}`,
          why: message,
        })),
      ...problems.map((problem) => ({
        what: 'plugin',
        source: problem.split(': ', 1)[0] ?? '',
        why: problem,
      })),
      ...(await lossesHere(options)).map(({ type, field, why }) => ({
        what: `${field} of the agent type ${type.name}`,
        source: type.path ?? type.name,
        why: `left out, ${why}`,
      })),
    ],
  };
}
