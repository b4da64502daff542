/**
 * The tools of one session besides the built-in ones: the place where every source of tools puts them. Sources are the
 * option `tools` of the library, and whatever else is added to `SOURCES`.
 *
 * Invariants
 * 1. They are fixed when the session starts, and come after the built-in tools, in the order of `SOURCES`. That order is
 *    part of the cached prefix: a new source goes to the end, and the tools of one source have an order of their own.
 * 2. They are part of the head of the prompt, which is recorded. Forks have its bytes; a resumed session has them as they
 *    were, whatever it is given (`toolsAgain`); only tools that the provider runs follow the rules of now.
 * 3. A name means one tool. One that a built-in tool or another source has is refused.
 *
 * Children get them as they get built-in tools: the list of a type may name them, rules name them by their name, and
 * agents that only read have those whose effect is `read`. A loop in another process asks its host to run them.
 */
import type { AgentDefinition } from '../../../agents/definitions/definition.ts';
import { contentOf, type FrozenBlock } from '../../../conversation/frozen-block.ts';
import { UserMistake } from '../../../schema/errors.ts';
import * as z from '../../../schema/zod.ts';
import { failure, type Tool, wireTool } from '../../../tools/tool.ts';
import { toolNames } from '../../agent-types/agent-types.ts';
import { mcpSource } from '../../mcp/mcp-source.ts';
import { TOOL_NAME } from '../../own-tools/own-tool.ts';
import type { OpenSource, ServerStanding, SourceOrder, ToolSource } from './tool-source.ts';

const SOURCES: readonly OpenSource[] = [
  ({ settings: { ownTools } }) =>
    ownTools.length === 0 ? null : { tools: ownTools.map((tool) => ({ ...tool, ofProgram: true as const })) },
  openSkills,
  mcpSource,
  openWebSearch,
  openTeamTools,
  openCoordinatorTools,
];

async function openWebSearch({ settings, place, provider }: SourceOrder): Promise<ToolSource | null> {
  const { permissions, others = [] } = settings;
  const allowed = [permissions, ...others.map(({ texts }) => texts)].flatMap(({ allow = [] }) => allow);
  if (!allowed.some((rule) => rule.trim().startsWith('WebSearch'))) return null;
  const { webSearchSource } = await import('./web-search-source.ts');
  return webSearchSource(settings, place, provider);
}

async function openTeamTools({ settings: { team } }: SourceOrder): Promise<ToolSource | null> {
  if (team === null) return null;
  const [{ teamTools }, { LEAD_NOTES }] = await Promise.all([
    import('../../../tools/team-tasks.ts'),
    import('../../../agents/prompts/teammate.ts'),
  ]);
  return { tools: teamTools, about: (_, reader) => (reader === 'main' ? LEAD_NOTES : null) };
}

async function openCoordinatorTools({ settings: { coordinator } }: SourceOrder): Promise<ToolSource | null> {
  return coordinator ? { tools: (await import('../../../tools/coordination.ts')).coordinationTools } : null;
}

async function openSkills({ settings, place, prompts }: SourceOrder): Promise<ToolSource | null> {
  if (!prompts.all.some(({ forModel }) => forModel)) return null;
  const { skillTool } = await import('../../extensions/skill-tool.ts');
  const projectRoot = place.repository?.root ?? place.cwd;
  const allowsNothing = settings.settings.policy?.allowRules === 'managed';
  return { tools: [skillTool({ prompts, projectRoot, allowsNothing })] };
}

export interface SessionTools
  extends AsyncDisposable,
    Required<Pick<ToolSource, 'command' | 'onQuestion'>>,
    Required<Pick<ToolSource, 'prepareTypes' | 'forType' | 'forRecorded' | 'recordOf'>> {
  readonly tools: readonly Tool[];
  readonly notices: readonly string[];
  typeNotices(definitions: readonly AgentDefinition[]): readonly string[];
  servers(): readonly ServerStanding[];
  /** Null when there is nothing to be told. */
  about(tools: readonly Tool[], reader: 'main' | 'child'): string | null;
}

/** Opened side by side; their order is that of the list. */
export async function openSessionTools(
  order: SourceOrder,
  sources: readonly OpenSource[] = SOURCES,
): Promise<SessionTools> {
  const opening = await Promise.allSettled(sources.map(async (open) => open(order)));
  const opened = opening.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.allSettled(opened.map((source) => source.close?.()));
  };
  try {
    for (const one of opening) if (one.status === 'rejected') throw one.reason;
    const tools = opened.flatMap((source) => source.tools);
    refuseBadNames(tools);
    return {
      tools: tools.map((tool) => ({ ...tool, ofSession: true as const })),
      notices: opened.flatMap(({ notices = [] }) => notices),
      typeNotices: (definitions) => opened.flatMap((source) => source.typeNotices?.(definitions) ?? []),
      servers: () => opened.flatMap((source) => source.servers?.() ?? []),
      async prepareTypes(definitions) {
        await Promise.all(opened.map((source) => source.prepareTypes?.(definitions)));
      },
      forType: (type, own, parent) =>
        opened.reduce((list, source) => source.forType?.(type, list, parent) ?? list, own),
      forRecorded: (recorded, order) =>
        opened.reduce(
          (list, source) => source.forRecorded?.(recorded, { ...order, tools: list }) ?? list,
          order.tools,
        ),
      recordOf: (given) => opened.map((source) => source.recordOf?.(given)).find((one) => one !== undefined),
      async command(asked, signal) {
        for (const source of opened) {
          const made = await source.command?.(asked, signal);
          if (made) return made;
        }
        return null;
      },
      onQuestion(listener) {
        for (const source of opened) source.onQuestion?.(listener);
      },
      about: (given, reader) =>
        opened.flatMap((source) => source.about?.(given, reader) ?? []).join('\n') || null,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function refuseBadNames(tools: readonly Tool[]): void {
  if (tools.length === 0) return;
  const builtIn = new Set(toolNames());
  const seen = new Set<string>();
  for (const tool of tools) {
    const { name } = wireTool(tool);
    if (!TOOL_NAME.test(name)) throw badName(name, 'give 1 to 128 letters, digits, _ and -');
    if (builtIn.has(name)) throw badName(name, 'a built-in tool has that name: choose another');
    if (seen.has(name)) throw badName(name, 'two tools have that name: rename one');
    seen.add(name);
  }
}

function badName(name: string, reason: string): UserMistake {
  return new UserMistake('bad_tool', `the tool ${JSON.stringify(name.slice(0, 200))} is refused: ${reason}`);
}

/**
 * The tools of a resumed session: those that its head names, and no other. What nobody brought again says so when called;
 * what a provider runs by itself is not called, and leaves the head (`engine/resume/resume.ts`).
 */
export function toolsAgain(given: readonly Tool[], head: readonly FrozenBlock[]): readonly Tool[] {
  return head.flatMap((block) => {
    const { name, input_schema: schema } = contentOf(block);
    const found = given.find((tool) => wireTool(tool).name === name);
    return found ?? (schema === undefined ? [] : absentTool(String(name)));
  });
}

/** What the user should know when `has` are the tools of the resumed session. */
export function noticesAgain(given: readonly Tool[], has: readonly Tool[]): string[] {
  const absent = has.filter((tool) => tool.ofSession === true && !given.includes(tool));
  const fresh = given.filter((tool) => !has.includes(tool));
  const names = (tools: readonly Tool[]): string => tools.map(({ name }) => name).join(', ');
  return [
    ...(absent.length === 0
      ? []
      : [`tools that this session had are not there now: ${names(absent)}; calls of them fail`]),
    ...(fresh.length === 0
      ? []
      : [`not offered: ${names(fresh)}; a resumed session keeps the tools it began with`]),
  ];
}

function absentTool(name: string): Tool {
  return {
    name,
    description: '',
    effect: 'read',
    schedule: 'ordered',
    ofSession: true,
    input: z.unknown(),
    run: async () =>
      failure(
        `the tool ${name} is not there any more: the program that resumed this session did not bring it. Do without it, or say what is missing.`,
      ),
  };
}
