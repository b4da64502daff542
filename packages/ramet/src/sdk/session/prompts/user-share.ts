/** What a person shares with the main agent beside a prompt: files, commands with their output, and notes for later sessions. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { callForUser } from '../../../engine/later.ts';
import type { Agent } from '../../../engine/shapes.ts';
import type { MemoryScope } from '../../../memory/files/memory-places.ts';
import type { ImageBlock, TextBlock } from '../../../schema/content.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { visibleName } from '../../../system/text/visible-text.ts';
import { serversOf } from '../../../tools/mcp/mcp-tools.ts';
import type { EditedMemory } from '../../memory/memory-calls.ts';
import { memoryPlace } from '../../memory/session-memory.ts';
import type { LiveParts } from '../live-parts.ts';
import type { Attachment, SharedCommand } from '../session-type.ts';

/** Hooks learn of it. */
export async function remember(
  { agent, place, settings }: LiveParts,
  note: string,
  { scope, signal }: { scope?: MemoryScope | undefined; signal: AbortSignal },
): Promise<EditedMemory> {
  const { refuseWhereOff, saveNote } = await import('../../memory/memory-calls.ts');
  refuseWhereOff(settings.settings);
  const { memoryWritten } = await import('../../../engine/later.ts');
  const order = { note, session: agent.runtime.journal.session, ...(scope && { scope }) };
  const { saved, change, ...written } = await saveNote(order, memoryPlace(place, settings.env));
  if (change !== null) await memoryWritten(agent, { ...written, change }, signal);
  return saved;
}

export async function attachFiles(
  agent: Agent,
  paths: readonly string[],
  signal: AbortSignal,
  callFor?: typeof callForUser,
): Promise<Attachment[]> {
  const call = callFor ?? (await import('../../../engine/later.ts')).callForUser;
  const attached: Attachment[] = [];
  for (const path of paths) {
    const resource = resourceCall(path, agent);
    const read = resource ?? { name: 'Read', input: { file_path: path } };
    const { content, isError } = await call(agent, read, signal);
    const problem = isError ? firstLine(content) : null;
    const what = resource === null ? 'file' : 'resource';
    attached.push({
      path,
      problem,
      blocks: isError ? [] : content.map((block) => fileBlock(path, block, what)),
    });
  }
  return attached;
}

/** Without what may follow it in a sentence. A server may be named as it is configured: `my.db`. */
const RESOURCES = /(?:^|[\s(])@(([\w.-]+):[a-z][a-z\d+.-]*:\S*[^\s.,;:!?)\]}'"])/gi;

/** The resources of its servers that a prompt names; one that cannot be read ends the prompt. */
export async function namedResources(
  agent: Agent,
  prompt: string,
  signal: AbortSignal,
): Promise<(TextBlock | ImageBlock)[]> {
  const names = Array.from(prompt.matchAll(RESOURCES), ([, name = '', server = '']) => ({ name, server }));
  const known = names.filter(({ server }) => keyOf(agent, server) !== null).map(({ name }) => name);
  const attached = await attachFiles(agent, [...new Set(known)], signal);
  const refused = attached.find(({ problem }) => problem !== null);
  if (refused !== undefined) throw new UserMistake('mcp_resource', `@${refused.path}: ${refused.problem}`);
  return attached.flatMap(({ blocks }) => blocks);
}

/** `server:uri` is a resource of an MCP server, unless a file has that name. */
function resourceCall(path: string, agent: Agent): { name: string; input: unknown } | null {
  const [, server, uri] = /^([\w.-]+):([a-z][a-z\d+.-]*:\S+)$/i.exec(path) ?? [];
  if (server === undefined || existsSync(resolve(agent.directory.cwd, path))) return null;
  const tool = `mcp__${keyOf(agent, server) ?? server}__read_resource`;
  return { name: 'McpCall', input: { tool, arguments: { uri } } };
}

/** What names of tools call a server; one that has that name itself comes before one that is configured by it. */
function keyOf(agent: Agent, name: string): string | null {
  const servers = serversOf(agent.spec.tools)?.servers ?? [];
  const found = servers.find(({ key }) => key === name) ?? servers.find((server) => server.name === name);
  return found?.key ?? null;
}

export async function shareCommand(
  agent: Agent,
  command: string,
  signal: AbortSignal,
  onOutput?: (text: string) => void,
): Promise<SharedCommand> {
  const { callForUser } = await import('../../../engine/later.ts');
  const { content, isError } = await callForUser(
    agent,
    { name: 'Bash', input: { command } },
    signal,
    onOutput,
  );
  const output = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const told = `${within('user-command', command)}\n${within('user-command-output', output)}`;
  const text = `The user ran a command in the terminal:\n${told}`;
  return { output, isError, block: { type: 'text', text } };
}

function fileBlock(
  path: string,
  block: TextBlock | ImageBlock,
  what: 'file' | 'resource',
): TextBlock | ImageBlock {
  if (block.type === 'image') return block;
  const about =
    what === 'file' ? 'The user attached a file.' : 'The user attached a resource of an MCP server.';
  const inside = within(`attached-${what}`, block.text, inQuotes(visibleName(path)));
  return { type: 'text', text: `${about}\n${inside}` };
}

/** What is inside cannot close the element. */
function within(element: string, text: string, path?: string): string {
  const inside = text.replaceAll(new RegExp(`</(?=${element})`, 'gi'), '<\\/');
  return `<${element}${path === undefined ? '' : ` path=${path}`}>\n${inside}\n</${element}>`;
}

/** The name stays as it is: the agent may open the file by it. Only one with both kinds of quotes is escaped. */
function inQuotes(name: string): string {
  if (!name.includes('"')) return `"${name}"`;
  return name.includes("'") ? `"${name.replaceAll('"', '&quot;')}"` : `'${name}'`;
}

function firstLine(content: readonly (TextBlock | ImageBlock)[]): string {
  const [first] = content;
  return (first?.type === 'text' ? first.text : '').split('\n')[0] ?? '';
}
