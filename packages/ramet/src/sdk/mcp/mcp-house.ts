/**
 * The MCP servers of one session: one pool for all its agents (RES-8), and which agent has which of them. The main agent
 * has every server that is set up here; an agent of a type has what its definition says.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import type { RecordedOrder, ToolHeir } from '../../engine/shapes.ts';
import type { ConfiguredServer } from '../../extensions/mcp/configured-servers.ts';
import { namesWithin } from '../../extensions/mcp/find-tools.ts';
import { knownOffer } from '../../extensions/mcp/known-tools.ts';
import { ServerPool } from '../../extensions/mcp/pool.ts';
import { type AskedPrompt, askedPrompt } from '../../extensions/mcp/server-prompt.ts';
import { ServerSet, usableServers } from '../../extensions/mcp/server-set.ts';
import { PREFIX, toolKeys } from '../../extensions/mcp/tool-names.ts';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import type { RecordedServers } from '../../schema/events.ts';
import { POLICY_SERVERS } from '../../settings/setting-value.ts';
import { serversOf } from '../../tools/mcp/mcp-tools.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResolvedOptions } from '../options.ts';
import type { QuestionListener, ServerStanding, SourceOrder } from '../session/tools/tool-source.ts';
import { AgentServers, type ServersOfType, toolsFor } from './agent-servers.ts';
import { poolParts } from './pool-parts.ts';
import { astrayGround, ruleNotices, serverNames, typeNotices } from './rule-notices.ts';
import { serversHere } from './session-servers.ts';

export interface McpHouse {
  readonly tools: readonly Tool[];
  readonly notices: readonly string[];
  typeNotices(definitions: readonly AgentDefinition[]): readonly string[];
  servers(): readonly ServerStanding[];
  forType(type: ServersOfType, tools: readonly Tool[], parent: ToolHeir): readonly Tool[];
  forRecorded(recorded: RecordedServers | undefined, order: RecordedOrder): readonly Tool[];
  recordOf(tools: readonly Tool[]): RecordedServers | undefined;
  /** What an agent with these tools learns about its servers; null for one that has none. */
  about(tools: readonly Tool[], reader: 'main' | 'child'): string | null;
  /** A prompt of a server, by its whole name. */
  command(asked: { name: string; argument: string }, signal: AbortSignal): Promise<AskedPrompt | null>;
  close(): Promise<void>;
}

const LONGEST_LIST = 1_500;

/** `asked` gets each question for the person. */
export async function openHouse(
  { settings, place }: SourceOrder,
  asked: QuestionListener,
): Promise<McpHouse> {
  const { env } = settings;
  const report = await serversHere(place, settings);
  const isManaged = settings.settings.policy?.mcpServers === 'managed';
  const usable = usableServers(report.servers);
  const pool = new ServerPool(
    poolParts(place, {
      env,
      settings: settings.settings,
      clock: settings.clock,
      elicit: elicitation(settings, asked),
    }),
  );
  const all = new ServerSet(pool, { servers: usable, rights: null, names: serverNames(report) });
  const ground = astrayGround(report, place);
  const agents = new AgentServers(all, { env, isManaged, place });
  const tools = usable.length === 0 ? [] : toolsFor(all);
  return {
    tools,
    servers: () => report.servers.filter((one) => !isBeaten(one)).map((one) => standingOf(one, pool)),
    notices: [...report.problems, ...noticesOf(report.servers), ...ruleNotices(settings, ground)],
    typeNotices: (definitions) => typeNotices(definitions, ground),
    forType: (type, own, parent) => agents.forType(type, own, parent),
    forRecorded: (recorded, order) => agents.forRecorded(recorded, order),
    recordOf: (given) => serversOf(given)?.record(),
    about: (given, reader) => aboutServers(serversOf(given), place, reader),
    command: (asked, signal) => askedPrompt(all, asked, signal),
    close: () => pool[Symbol.asyncDispose](),
  };
}

/** Another one of that name counts. */
function isBeaten({ unused }: ConfiguredServer): boolean {
  return unused?.startsWith('set in ') === true;
}

function standingOf(
  { name, checked, unused, isWithheld }: ConfiguredServer,
  pool: ServerPool,
): ServerStanding {
  if (unused === POLICY_SERVERS) return { name, status: 'forbidden' };
  if (isWithheld) return { name, status: 'untrusted' };
  if (unused !== null) return { name, status: 'disabled' };
  return { name, status: checked.ok ? pool.standing(checked.config) : 'failed' };
}

/** What the user should know: servers that are set up and do not count. */
function noticesOf(servers: Awaited<ReturnType<typeof serversHere>>['servers']): string[] {
  const bad = servers.flatMap(({ name, source, checked, unused }) =>
    unused === null && !checked.ok ? [`the MCP server ${name} in ${source} ${checked.problem}`] : [],
  );
  const named = (which: (one: (typeof servers)[number]) => boolean, before: string, after = ''): string[] => {
    const names = new Set(servers.filter(which).map(({ name }) => name));
    return names.size === 0 ? [] : [`${before}: ${[...names].join(', ')}${after}`];
  };
  // A file may be for other programs too.
  const idle = servers.flatMap(({ name, scope, source, checked }) =>
    scope === 'library' && checked.ok
      ? checked.notes.map((note) => `the MCP server ${name} in ${source} ${note}`)
      : [],
  );
  return [
    ...bad,
    ...idle,
    ...named(({ unused }) => unused === POLICY_SERVERS, `${POLICY_SERVERS}; these do not start`),
    ...named(
      ({ isWithheld }) => isWithheld,
      'MCP servers of this folder are not started before you trust them as they are',
      ' (ramet trust)',
    ),
  ];
}

function aboutServers(
  set: ServerSet | undefined,
  { home, cwd }: SourceOrder['place'],
  reader: 'main' | 'child',
): string | null {
  if (set === undefined || set.servers.length === 0) return null;
  const keys = namesWithin(
    set.servers.map(({ key }) => key),
    LONGEST_LIST,
  );
  if (reader === 'child') return `MCP servers: ${keys}. McpSearch finds their tools.`;
  let left = LONGEST_LIST;
  const lines = set.servers.flatMap(({ key, config }) => {
    const names = knownOffer(home, config, cwd).tools;
    if (names.length === 0 || left < 80) return [];
    const own = [...toolKeys(key, names).values()].map((name) => name.slice(`${PREFIX}${key}__`.length));
    const line = `${key}: ${namesWithin(own, Math.min(left, 500))}`;
    left -= line.length;
    return [line];
  });
  return [
    '<mcp-servers>',
    `MCP servers: ${keys}. McpSearch finds their tools, McpCall calls them.`,
    ...lines,
    '</mcp-servers>',
  ].join('\n');
}

const LONGEST_MESSAGE = 4_000;
const LONGEST_ADDRESS = 2_000;

/** A server's question goes to the person, unless a hook answers; without both it is declined. What it says is bounded. */
function elicitation(
  { broker }: ResolvedOptions,
  listener: QuestionListener,
): (question: ElicitedQuestion, signal: AbortSignal) => Promise<ElicitedAnswer> {
  return async (given, signal) => {
    const question = { ...given, message: given.message.slice(0, LONGEST_MESSAGE).toWellFormed() };
    const { url } = question;
    // Part of an address leads elsewhere.
    if ((url ?? '').length > LONGEST_ADDRESS) return { action: 'decline' };
    const early = await listener.asked(question, signal);
    const answer = early ?? (await broker.elicit?.(question, signal)) ?? { action: 'decline' };
    return listener.answered(question, answer, signal);
  };
}
