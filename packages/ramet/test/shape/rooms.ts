/**
 * The house as a table: every folder of `src/`, from the ground up. A room imports only rooms above it in this
 * list, less those it is told to leave alone. docs/decisions/001-rooms-and-arrows.md says why.
 */
export interface Room {
  name: string;
  owns: string;
  /** Rooms further up that it must not import all the same. */
  avoids?: readonly string[];
}

export const ROOMS: readonly Room[] = [
  { name: 'schema', owns: 'ids, messages, events, errors: shapes only, fit for a browser' },
  { name: 'system', owns: 'paths and files as every room needs them: path inside, atomic replace' },
  { name: 'journal', owns: 'the SQLite log, its migrations and the views computed from it' },
  { name: 'model', owns: 'providers, streaming, retries, prices, the cache map' },
  { name: 'emulator', owns: 'the server that speaks the Messages API' },
  { name: 'conversation', owns: 'the frozen prefix, its digests, breakpoints, request bytes' },
  { name: 'workspace', owns: 'file versions, git' },
  { name: 'permission', owns: 'modes and the decision whether a tool may run' },
  { name: 'extensions', owns: 'settings with their origin, hooks, skills, plugins' },
  { name: 'tools', owns: 'one file per tool, and the registry' },
  { name: 'agents', owns: 'agent definitions and the assembly of prompts' },
  { name: 'engine', owns: 'the turn loop, scopes, budgets, resume' },
  { name: 'executors', owns: 'how an agent is hosted' },
  { name: 'memory', owns: 'what outlives a conversation' },
  { name: 'background', owns: 'forks that run beside the main agent' },
  { name: 'team', owns: 'teammates, mailboxes, task lists', avoids: ['background'] },
  { name: 'coordinator', owns: 'plan and delegate', avoids: ['memory', 'background', 'team'] },
  { name: 'operator', owns: 'task graphs', avoids: ['memory', 'background', 'coordinator'] },
  { name: 'telemetry', owns: 'OpenTelemetry and Perfetto views of the journal' },
  { name: 'sdk', owns: 'the public API: what users import' },
  { name: 'server', owns: 'HTTP, MCP and ACP faces' },
  { name: 'cli', owns: 'commands, one file each, and the terminal view' },
  { name: 'testing', owns: 'published test doubles' },
];

/** Whether a file of `from` may import one of `to`. Unknown rooms may do nothing. */
export function mayImport(from: string, to: string): boolean {
  const above = ROOMS.findIndex((room) => room.name === to);
  const below = ROOMS.findIndex((room) => room.name === from);
  if (above === -1 || below === -1) return false;
  return above <= below && !ROOMS[below]?.avoids?.includes(to);
}
