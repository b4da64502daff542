/**
 * The agent types of a session: those that come with Ramet and, where there are folders for them, those of files.
 * Without such folders nothing is loaded: to look costs a few system calls.
 *
 * The list of types for a model is in the frozen head of its prompt, so it stays as it was when the session began;
 * changes are said with the next prompt.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { DefinitionStore } from '../../agents/definitions/definition-store.ts';
import {
  builtInDefinitions,
  fileTypeLine,
  fileTypeLines,
  NAMES_ONLY,
  offeredDefinitions,
  typeLines,
} from '../../agents/prompts/built-in.ts';
import { planningTeammate, teammate } from '../../agents/prompts/teammate.ts';
import { contentOf, type FrozenBlock } from '../../conversation/frozen-block.ts';
import { extensionFolders, type PluginFolder } from '../../extensions/extension-places.ts';
import { nameList } from '../../extensions/prompts/skill-list.ts';
import { UserMistake } from '../../schema/errors.ts';
import { isOwnPlace } from '../../settings/read-settings.ts';
import { nearName } from '../../system/text/close-names.ts';
import { trustStamp } from '../../system/trust.ts';
import { AGENT_TOOL } from '../../tools/agent.ts';
import { builtInTools } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { extensionPlace, pluginsHere } from '../extensions/plugins.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import { settingsPlace } from '../session/setup/session-settings.ts';
import type { AgentTypeOptions, TypesInCode } from './code-types.ts';
import type { OpenTypes } from './definition-types.ts';
import { lossLines, type OwnOnly, policyLosses } from './policy-losses.ts';

export interface AgentTypes extends Disposable {
  readonly definitions: readonly AgentDefinition[];
  /** Looks whether files have changed; `name` is of the type that is about to be used. */
  refresh(name: string | null): Promise<void>;
  whyWithheld(name: string): string | null;
  /** What the user should know when the session begins. */
  notices(): string[];
  /** From now on changes are seen as they happen; `tell` gets a line when an edit breaks a file. */
  watch(tell: (line: string) => void): void;
  /** From now on the session has a team (`offeringMembers`). */
  offerMembers?(): void;
}

/** What a session brings to its types. */
export interface TypeContext extends OwnOnly {
  /** Names of tools that it has besides the built-in ones. */
  alsoTools?: readonly string[];
  /** Those that a session of the place has when absent. */
  plugins?: readonly PluginFolder[];
  /** Types in code. */
  types?: Readonly<Record<string, AgentTypeOptions>>;
}

/** Of a session with these options. */
export function typeContext(
  { agentTypes, settings }: Pick<ResolvedOptions, 'agentTypes' | 'settings'>,
  found: Pick<TypeContext, 'alsoTools' | 'plugins'>,
): TypeContext {
  return { ...found, types: agentTypes, hooks: settings.policy?.hooks, servers: settings.policy?.mcpServers };
}

export async function openAgentTypes(
  place: Place,
  env: NodeJS.ProcessEnv,
  context: TypeContext = {},
): Promise<AgentTypes> {
  const own = await typesInCode(context.types ?? {}, [...toolNames(), ...(context.alsoTools ?? [])]);
  const plugins = context.plugins ?? (await pluginsHere(place, env)).plugins;
  const where = extensionPlace(place, env, plugins);
  let tell: ((line: string) => void) | null = null;
  let opened: OpenTypes | null = null;
  let closed = false;
  const open = async (): Promise<void> => {
    if (closed || extensionFolders(where, 'agents').length === 0) return;
    const { openTypes } = await import('./definition-types.ts');
    const types = await openTypes(await openStore(place, env, { ...context, plugins }));
    if (opened !== null || closed) return;
    opened = types;
    if (tell !== null) types.watch(tell);
  };
  let opening: Promise<void> | null = null;
  /** Agents that start together find the same folders: one look serves all who ask in one phase of the event loop. */
  const look = async (name: string | null): Promise<void> => {
    if (opened !== null) return opened.check(name);
    if (opening === null) {
      opening = open();
      setImmediate(() => {
        opening = null;
      });
    }
    return opening;
  };
  await open();
  return {
    get definitions() {
      const all = own.over(opened?.store.catalog.definitions ?? builtInDefinitions);
      return context.hooks === 'managed' ? all.map(withoutHooks) : all;
    },
    refresh: look,
    whyWithheld: (name) => opened?.whyWithheld(name) ?? null,
    notices: () => [
      ...own.notices,
      ...(opened?.notices() ?? []),
      ...lossLines(policyLosses(own.over(opened?.store.catalog.definitions ?? []), context)),
    ],
    watch(listener) {
      tell = listener;
      opened?.watch(listener);
    },
    [Symbol.dispose]() {
      closed = true;
      opened?.[Symbol.dispose]();
    },
  };
}

function withoutHooks(type: AgentDefinition): AgentDefinition {
  if (type.hooks === undefined || type.source === 'managed') return type;
  const { hooks: _, ...rest } = type;
  return rest;
}

/** Of a session with a team, or from the moment it has one: agents of types for members can be asked for. */
export function offeringMembers(types: AgentTypes, isFromStart = true): AgentTypes {
  let isOffered = isFromStart;
  return {
    ...types,
    offerMembers() {
      isOffered = true;
    },
    get definitions() {
      if (!isOffered) return types.definitions;
      const own = types.definitions.flatMap((type) =>
        type.name === teammate.name && type.path === undefined ? [type, planningTeammate] : [type],
      );
      return own.map((type) => (type.teammate === true ? asMember(type) : type));
    },
    [Symbol.dispose]: () => types[Symbol.dispose](),
  };
}

/** What a file, a flag or a program says follows what lead and members share (TEAM-1). */
function asMember(type: AgentDefinition): AgentDefinition {
  if (type.notes === teammate.notes) return { ...type, offered: true };
  const own = `<your-part>\n${type.system.join('\n')}\n</your-part>`;
  const { system, notes, instructions, git } = teammate;
  return { ...type, system, notes: `${notes}\n${own}`, background: true, instructions, git };
}

/** Few sessions have types in code. */
async function typesInCode(
  types: NonNullable<TypeContext['types']>,
  tools: readonly string[],
): Promise<TypesInCode> {
  if (Object.keys(types).length === 0) return { over: (definitions) => definitions, notices: [] };
  return (await import('./code-types.ts')).readTypes(types, tools);
}

/** The definitions of a place, not read yet. */
export async function openStore(
  place: Place,
  env: NodeJS.ProcessEnv,
  { alsoTools = [], plugins }: TypeContext = {},
): Promise<DefinitionStore> {
  const { DefinitionStore } = await import('../../agents/definitions/definition-store.ts');
  const { folderTrust } = await import('../../extensions/trust/folder-trust.ts');
  const { runCheck } = await import('../../extensions/trust/run-check.ts');
  const trusted = settingsPlace(place, env);
  return new DefinitionStore({
    place: extensionPlace(place, env, plugins ?? (await pluginsHere(place, env)).plugins),
    builtIn: builtInDefinitions,
    toolNames: [...toolNames(), ...alsoTools],
    trust: () => folderTrust(isOwnPlace(trusted) ? { ...trusted, isGiven: true } : trusted),
    trustStamp: () => trustStamp(trusted),
    checkFor: (part) => (isOwnPlace(trusted) ? null : runCheck(part, trusted, folderTrust(trusted))),
  });
}

/** Of all built-in tools. */
export function toolNames(): string[] {
  return builtInTools({ fork: true, types: [] }).map(({ name }) => name);
}

/** Those that the option `builtInTools` names, in any letters. */
export function chosenTools(given: readonly string[]): readonly string[] {
  const known = toolNames();
  return given.map((name) => {
    const shown = JSON.stringify(name.slice(0, 100));
    if (name.includes('('))
      throw new UserMistake(
        'no_tool',
        `${shown} is a rule: give names of tools here, and rules as permissions (--allowedTools)`,
      );
    const found = known.find((one) => one.toLowerCase() === name.trim().toLowerCase());
    if (found !== undefined) return found;
    const near = nearName(name, known);
    const hint = near === null ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
    throw new UserMistake('no_tool', `there is no built-in tool ${shown}: ${hint}`);
  });
}

/** The tools of a main agent that knows these types. */
export function toolsTelling(definitions: readonly AgentDefinition[], fork: boolean): readonly Tool[] {
  const own = definitions.filter((one) => !isOther(one));
  return builtInTools({ fork, types: [...typeLines(own), ...fileTypeLines(definitions.filter(isOther))] });
}

/** The tools of a resumed session: it knows the types that existed when it began. */
export function toolsAsTold(head: readonly FrozenBlock[], fork: boolean): readonly Tool[] {
  const tools = toolsTelling(builtInDefinitions, fork);
  const description = agentDescription(head);
  if (description === null) return tools;
  return tools.map((tool) => (tool.name === AGENT_TOOL ? { ...tool, description } : tool));
}

function agentDescription(head: readonly FrozenBlock[]): string | null {
  const told = head.map(contentOf).find((tool) => 'name' in tool && tool.name === AGENT_TOOL);
  return typeof told?.description === 'string' ? told.description : null;
}

/** The types that the main agent knows: from the head of its prompt, and from later prompts. */
export class ToldTypes {
  /** The line about each type, by its name. */
  readonly #told: Map<string, string>;

  private constructor(told: Map<string, string>) {
    this.#told = told;
  }

  /** In a new session the head lists all of them. */
  static ofAll(definitions: readonly AgentDefinition[]): ToldTypes {
    return new ToldTypes(new Map(definitions.filter(isOther).map((one) => [one.name, fileTypeLine(one)])));
  }

  /** In a resumed session: those in the head of its prompt. */
  static ofHead(definitions: readonly AgentDefinition[], head: readonly FrozenBlock[]): ToldTypes {
    const description = agentDescription(head) ?? '';
    const told = new Map(
      Array.from(description.matchAll(/^- ([^:\n]+): .*$/gm), ([line, name = '']) => [name, line]),
    );
    for (const { name } of offeredDefinitions(builtInDefinitions)) told.delete(name);
    const named = new RegExp(`^${NAMES_ONLY}(.*)$`, 'm').exec(description)?.[1];
    // Those listed by name alone. Types that were left out even then are unknown.
    for (const one of named === undefined ? [] : definitions.filter(isOther))
      if (!told.has(one.name)) told.set(one.name, fileTypeLine(one));
    return new ToldTypes(told);
  }

  /** What has changed since it was last asked, for the next prompt; null when nothing has. */
  news(definitions: readonly AgentDefinition[]): string | null {
    const others = definitions.filter(isOther);
    const fresh = others.filter((one) => this.#told.get(one.name) !== fileTypeLine(one));
    const gone = [...this.#told.keys()].filter((name) => !definitions.some((one) => one.name === name));
    if (fresh.length === 0 && gone.length === 0) return null;
    for (const one of fresh) this.#told.set(one.name, fileTypeLine(one));
    for (const name of gone) this.#told.delete(name);
    return [
      '<agent-types>',
      'The types for subagent_type have changed since this session began.',
      ...(fresh.length === 0 ? [] : ['New or changed:', ...fileTypeLines(fresh)]),
      ...(gone.length === 0 ? [] : [`No longer there: ${nameList(gone)}`]),
      '</agent-types>',
    ].join('\n');
  }
}

function isOther(definition: AgentDefinition): boolean {
  return !builtInDefinitions.includes(definition);
}
