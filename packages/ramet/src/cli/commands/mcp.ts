/** `ramet mcp`: the MCP servers that agents here can use, and Ramet as one. */

import { UserMistake } from '../../schema/errors.ts';
import {
  type AddScope,
  addServer,
  type ConfiguredServer,
  describeConfig,
  describedServer,
  listServers,
  logInTo,
  removeServer,
  type TriedServer,
  tryServers,
} from '../../sdk/mcp/manage-servers.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { printable } from '../../views/text/format.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';

interface McpFlags {
  json?: boolean;
}

export async function listMcp(flags: McpFlags, io: CommandIo): Promise<void> {
  const { servers, problems, onlyManaged } = await listServers(callFrom(io));
  if (flags.json) {
    io.out(jsonLine({ servers: servers.map(describedServer), problems }));
    return;
  }
  const how = onlyManaged ? 'managed policy allows only its own' : 'ramet mcp add NAME -- PROGRAM adds one';
  if (servers.length === 0) io.out(`no MCP server is set up here: ${how}\n`);
  for (const server of servers) io.out(`${printable(serverLine(server))}\n`);
  for (const problem of problems) io.note(problem);
}

function serverLine({ name, scope, source, checked, unused }: ConfiguredServer): string {
  const what = checked.ok
    ? `${checked.config.type}  ${describeConfig(checked.config)}`
    : `cannot be used: it ${checked.problem}`;
  const why = checked.ok && unused !== null ? `  (not used: ${unused})` : '';
  const notes = checked.ok ? checked.notes.map((note) => `\n    it ${note}`).join('') : '';
  return `${name}  ${what}${why}\n    ${scope}: ${source}${notes}`;
}

interface AddFlags extends McpFlags {
  scope: AddScope;
  transport?: 'stdio' | 'http' | 'sse';
  env?: Record<string, string>;
  header?: Record<string, string>;
  force?: boolean;
}

export async function addMcpServer(
  name: string,
  [first = '', ...rest]: readonly string[],
  { scope, transport, env, header, force, json }: AddFlags,
  io: CommandIo,
): Promise<void> {
  const isAddress = transport === undefined ? /^https?:\/\//.test(first) : transport !== 'stdio';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(first) && !/^https?:\/\//i.test(first))
    throw new UserMistake('mcp_server', `${first.slice(0, 100)}: an address begins with http:// or https://`);
  const server = isAddress
    ? { type: transport ?? 'http', url: first, ...(header && { headers: header }) }
    : { command: first, args: rest, ...(env && { env }) };
  const path = await addServer({ name, scope, server, force }, callFrom(io));
  const { servers } = await listServers(callFrom(io));
  const added = servers.find((one) => one.name === name && one.source.startsWith(path));
  const why = added?.unused ?? null;
  if (json) io.out(jsonLine({ name, scope, file: path, inUse: why === null, problem: why }));
  else if (why === null)
    io.out(`${printable(`${name} is in ${path} now: ramet mcp test ${name} tries it`)}\n`);
  else io.out(`${printable(`${name} is in ${path} now, but is not used: ${why}`)}\n`);
}

export async function removeMcpServer(
  name: string,
  { scope, json }: McpFlags & { scope?: AddScope },
  io: CommandIo,
): Promise<void> {
  const files = await removeServer(name, { ...callFrom(io), scope });
  if (json) io.out(jsonLine({ name, files }));
  else io.out(`${printable(`${name} is no longer in ${files.join(', ')}`)}\n`);
}

/** Exits with 1 when one does not work. */
export async function testMcp(names: readonly string[], flags: McpFlags, io: CommandIo): Promise<number> {
  const tried = await tryServers(names, callFrom(io));
  if (flags.json) io.out(jsonLine({ servers: tried.map(triedObject) }));
  else if (tried.length === 0) io.out('no MCP server is in use here: see ramet mcp ls\n');
  else for (const server of tried) io.out(`${printable(triedLine(server))}\n`);
  return tried.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}

function triedObject({ startMs, leftOut, ...server }: TriedServer): object {
  return { ...server, left_out: leftOut, start_ms: startMs };
}

function triedLine(server: TriedServer): string {
  const { name, ok, startMs, tools, resources, prompts, leftOut, problem } = server;
  if (!ok) return `NO  ${name}: ${problem}`;
  const counts = [`${tools.length} tools`];
  if (resources.length > 0) counts.push(`${resources.length} resources`);
  if (prompts.length > 0) counts.push(`${prompts.length} prompts`);
  const lines = tools.map((tool) => `    ${tool.name}  ${headOf(tool.description)}`.trimEnd());
  const without = leftOut.length === 0 ? [] : [`    left out: ${shownWithin(leftOut)}`];
  return [`ok  ${name}: ${counts.join(', ')}, started in ${startMs} ms`, ...without, ...lines].join('\n');
}

const MOST_LEFT_OUT = 10;

function shownWithin(items: readonly string[]): string {
  const more = items.length - MOST_LEFT_OUT;
  const shown = items.slice(0, MOST_LEFT_OUT).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

function headOf(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

export async function logInToMcp(name: string, io: CommandIo): Promise<void> {
  const outcome = await logInTo(name, {
    ...callFrom(io),
    visit: (url) => io.out(`open this address in a browser and log in:\n${printable(url)}\n`),
  });
  const text = outcome === 'done' ? `logged in to ${name}` : `${name} answers without a login`;
  io.out(`${printable(text)}\n`);
}

export async function serveMcp(options: { permissionMode?: string }, io: CommandIo): Promise<void> {
  const { serveAgents } = await import('../../sdk/mcp/serve-agents.ts');
  await serveAgents({ ...callFrom(io), permissionMode: options.permissionMode });
}
