/**
 * The two tools through which agents use every tool of every MCP server (EXT-4). Their bytes never depend on a server, so
 * the shared prefix stays what it is when servers come, go or change their tools. A tool that was found is described in
 * the conversation, and called by its name; permission, hooks and views know the call by that name.
 */
import { describeFound, describeTool, namesWithin, schemaText } from '../../extensions/mcp/find-tools.ts';
import { blocksOfContent, blocksOfResource } from '../../extensions/mcp/result-content.ts';
import { isMeant } from '../../extensions/mcp/rule-names.ts';
import type {
  ListedServer,
  NamedServerTool,
  ServerSet,
  UsableServer,
} from '../../extensions/mcp/server-set.ts';
import { PREFIX, toolKeys } from '../../extensions/mcp/tool-names.ts';
import { describeError } from '../../schema/errors.ts';
import * as z from '../../schema/zod.ts';
import { nearName } from '../../system/text/close-names.ts';
import { defineTool, failure, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts';
import { keptWithin, type TextKeeper } from './kept-text.ts';
import { wrongArguments } from './wrong-arguments.ts';

const search = z.strictObject({
  query: z.string().check(z.minLength(1), z.maxLength(1_000)),
  server: z.optional(z.string()),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(50))),
});

const call = z.strictObject({
  tool: z.string().check(z.minLength(1), z.maxLength(200)),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

const input = z.record(z.string(), z.unknown());

/** By what runs a tool, which its copies have too. */
const sets = new WeakMap<Tool['run'], ServerSet>();

/** In this order, which is part of the prefix. `redact` takes out secrets of the servers' configurations. */
export function mcpTools(set: ServerSet, redact: (text: string) => string = (text) => text): readonly Tool[] {
  const tools = [searchTool(set, redact), callTool(set, redact)];
  for (const { run } of tools) sets.set(run, set);
  return tools;
}

/** What an agent with these tools may use of servers; undefined for one that has none. */
export function serversOf(tools: readonly Tool[]): ServerSet | undefined {
  return tools.map(({ run }) => sets.get(run)).find((set) => set !== undefined);
}

export function isMcpTool(tool: Tool): boolean {
  return sets.has(tool.run);
}

function searchTool(set: ServerSet, redact: (text: string) => string): Tool {
  return defineTool({
    name: 'McpSearch',
    description:
      'Find tools and resources of MCP servers by words of their names and descriptions. The answer describes each tool with its arguments. The query * lists all names.',
    effect: 'read',
    schedule: 'parallel',
    ofSession: true,
    input: search,
    details: ({ query }) => ({ title: query }),
    async run({ query, server, limit }, context) {
      const servers = server === undefined ? set.servers : serversNamed(set, server);
      if (servers.length === 0) return failure(noServer(set, server ?? ''));
      held(set, context);
      const listed = await set.list(context.agent, servers, context.signal);
      return { content: redact(describeFound(listed, { query, limit })) };
    },
  });
}

function callTool(set: ServerSet, redact: (text: string) => string): Tool {
  const adopted = new Map<string, Tool>();
  return defineTool({
    name: 'McpCall',
    description: 'Call a tool of an MCP server that McpSearch found, by its whole name: mcp__server__tool.',
    effect: 'execute',
    schedule: 'ordered',
    ofSession: true,
    // A call that names a tool of a server is never read as this one, so nobody is asked about it, and no mode refuses it.
    input: call.check(({ issues, value }) => {
      // Of a server that is there, the call is wrong in another way, which is said.
      if (issues.length > 0 && set.serverOf(value.tool) !== undefined) return;
      issues.push({ code: 'custom', message: noServer(set, value.tool), input: value, path: ['tool'] });
    }),
    adopts: {
      prefix: PREFIX,
      tool(name) {
        const tool = adopted.get(name) ?? serverTool(set, name, redact);
        adopted.set(name, tool);
        return tool;
      },
    },
    run: async ({ tool }) => failure(noServer(set, tool)),
  });
}

/** One tool of a server, as if it were in the list. */
function serverTool(set: ServerSet, name: string, redact: (text: string) => string): Tool {
  return defineTool({
    name,
    description: '',
    effect: 'execute',
    schedule: 'ordered',
    ofSession: true,
    pathFields: 'any',
    isNamed: (written, giving) => isMeant(written, name, set.names, giving),
    // In no mode it is a matter of permission.
    input: input.check(({ issues, value }) => {
      if (set.serverOf(name) === undefined)
        issues.push({ code: 'custom', message: noServer(set, name), input: value, path: ['tool'] });
    }),
    async precheck(given) {
      const server = set.serverOf(name);
      const listed = server === undefined ? null : set.known(server);
      const found = listed === null ? null : findTool(listed, name, given);
      return typeof found === 'string' ? found : null;
    },
    async run(given, context) {
      const server = set.serverOf(name);
      if (server === undefined) return failure(noServer(set, name));
      held(set, context);
      const [listed] = await set.list(context.agent, [server], context.signal);
      if (listed === undefined || 'problem' in listed.offer)
        return failure(
          redact(`${listed && 'problem' in listed.offer ? listed.offer.problem : 'Nothing was listed'}.`),
        );
      const tool = findTool(listed, name, given);
      if (typeof tool === 'string') return failure(tool);
      const kept = { ...keeperOf(context), redact: (text: string) => context.redact(redact(text)) };
      return cleaned(await runTool({ set, server, tool, kept }, given, context), redact);
    },
  });
}

/** The tool, or why a call of it would fail. */
function findTool(
  listed: ListedServer,
  name: string,
  given: Readonly<Record<string, unknown>>,
): NamedServerTool | string {
  const { tools } = listed;
  const tool = tools.find(({ fullName }) => fullName === name);
  if (tool === undefined) return leftOutTool(listed, name) ?? noTool(name, tools);
  const wrong = wrongArguments(tool.inputSchema, given);
  return wrong === null
    ? tool
    : `${name} was not called: ${wrong}.\narguments: ${schemaText(tool.inputSchema)}`;
}

/** Its server has it, and says so little about it that nobody can call it. */
function leftOutTool({ server, offer }: ListedServer, name: string): string | null {
  const leftOut = 'problem' in offer ? [] : offer.leftOut;
  const found = leftOut.find((one) => toolKeys(server.key, [one.name]).get(one.name) === name);
  return found === undefined ? null : `${name} cannot be called: its server lists it, but ${found.reason}.`;
}

interface ToolCall {
  readonly set: ServerSet;
  readonly server: UsableServer;
  readonly tool: NamedServerTool;
  readonly kept: TextKeeper;
}

function keeperOf({ outputDirectory, call: id, redact }: ToolContext): TextKeeper {
  return { outputDirectory, call: id, redact };
}

/** Without secrets; text alone is a text. */
function cleaned(outcome: ToolOutcome, redact: (text: string) => string): ToolOutcome {
  const { content } = outcome;
  if (typeof content === 'string') return { ...outcome, content: redact(content) };
  const texts = content.flatMap((block) => (block.type === 'text' ? [redact(block.text)] : []));
  if (texts.length === content.length) return { ...outcome, content: texts.join('\n') };
  return {
    ...outcome,
    content: content.map((block) => (block.type === 'text' ? { ...block, text: redact(block.text) } : block)),
  };
}

async function runTool(
  { set, server, tool, kept }: ToolCall,
  given: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { signal } = context;
  const connection = set.connect(context.agent, server);
  try {
    if (tool.readsResources) {
      const read = await connection.readResource(String(given.uri), { signal });
      return { content: await keptWithin(blocksOfResource(read), kept) };
    }
    const onProgress = (line: string): void => context.progress?.(`${tool.fullName}: ${line}`);
    const result = await connection.call(tool.name, given, { signal, onProgress });
    const blocks = blocksOfContent(result.content);
    // Some say it only in the structured form.
    if (blocks.length === 0 && result.structuredContent !== undefined)
      blocks.push({ type: 'text', text: JSON.stringify(result.structuredContent) });
    const isWordless = blocks.every((block) => block.type === 'text' && block.text.trim() === '');
    if (result.isError === true && isWordless)
      return failure(
        `${tool.fullName} failed: its server says so, and does not say why.\narguments: ${schemaText(tool.inputSchema)}`,
      );
    const content = await keptWithin(blocks, kept);
    if (result.isError !== true) return { content };
    // The arguments are the likely cause.
    const schema = { type: 'text' as const, text: `arguments: ${schemaText(tool.inputSchema)}` };
    return { content: [...content, schema], isError: true };
  } catch (error) {
    if (signal.aborted) return failure('Interrupted: the call may have been carried out.');
    const isRefused = /-32602|invalid (?:params|arguments|input)/i.test(describeError(error));
    return failure(`${describeError(error)}.${isRefused ? `\n${describeTool(tool)}` : ''}`);
  }
}

/** A server runs until the last agent that used it has ended. */
function held(set: ServerSet, context: ToolContext): void {
  if (!set.holds(context.agent)) context.onAgentEnd(() => set.releaseFor(context.agent));
}

function serversNamed(set: ServerSet, server: string): UsableServer[] {
  const bare = server.startsWith(PREFIX) ? server.slice(PREFIX.length) : server;
  return set.servers.filter(({ key, name }) => key === bare || name === server);
}

function noServer(set: ServerSet, wanted: string): string {
  const keys = set.servers.map(({ key }) => key);
  if (keys.length === 0) return 'No MCP server is set up for you.';
  const shown = JSON.stringify(wanted.slice(0, 200));
  const names = set.servers
    .flatMap((server) => set.known(server)?.tools ?? [])
    .map(({ fullName }) => fullName);
  const whole = `${PREFIX}${wanted.trim()}`;
  const meant = set.serverOf(whole) === undefined ? didYouMean(wanted, names) : ` Did you mean ${whole}?`;
  return `There is no MCP server for ${shown}.${meant} The servers are ${namesWithin(keys, 2_000)}; names of tools are mcp__server__tool.`;
}

function noTool(wanted: string, tools: readonly NamedServerTool[]): string {
  const names = tools.map(({ fullName }) => fullName);
  return `There is no tool ${wanted}.${didYouMean(wanted, names)} The server has: ${namesWithin(names, 3_000) || 'none'}.`;
}

function didYouMean(wanted: string, names: readonly string[]): string {
  const near = nearName(wanted, names);
  return near === null ? '' : ` Did you mean ${near}?`;
}
