/**
 * The house as a table: every folder of `src/`, from the ground up. A room imports only rooms above it in this list. A room
 * that does not exist yet is not in it. docs/decisions/001-rooms-and-arrows.md says why; docs/architecture.md prints it.
 */
export interface Room {
  name: string;
  owns: string;
  /** What a reader might look for in it, and finds elsewhere. */
  leaves: string;
}

export const ROOMS: readonly Room[] = [
  {
    name: 'schema',
    owns: 'ids, content blocks, events, errors: shapes only, fit for a browser',
    leaves: 'any input or output',
  },
  {
    name: 'system',
    owns: 'what every room needs of the machine: home directory, paths, files, processes, SQLite, digests, text',
    leaves: 'what the files hold',
  },
  {
    name: 'journal',
    owns: 'the SQLite log of a session and its projections',
    leaves: 'decisions',
  },
  {
    name: 'model',
    owns: 'providers, streaming, retries, prices, the cache map, the recipe model',
    leaves: 'conversations',
  },
  {
    name: 'emulator',
    owns: 'the server that speaks the Messages API, published as `ramet/emulator`',
    leaves: 'agents',
  },
  {
    name: 'conversation',
    owns: 'frozen blocks, the chain of digests, fork messages, breakpoints, request bytes, what a compaction keeps',
    leaves: 'when to fork, calling a model',
  },
  {
    name: 'files',
    owns: 'file versions, who changed which file, undo',
    leaves: 'git',
  },
  {
    name: 'sandbox',
    owns: 'where an agent may write; bubblewrap: what a command can see, write and reach',
    leaves: 'whether a command may run',
  },
  {
    name: 'git',
    owns: 'running git, the repository, worktrees as agents get them, merges, provenance, the checkout that agents share',
    leaves: 'agents',
  },
  { name: 'permission', owns: 'modes, and whether a tool may run under them', leaves: 'asking anybody' },
  {
    name: 'settings',
    owns: 'three files joined, every value with its origin; the settings of other tools',
    leaves: 'what the values do',
  },
  { name: 'tools', owns: 'one file per tool, the registry', leaves: 'the engine: a tool asks its context' },
  {
    name: 'agents',
    owns: 'prompts and agent types: system prompts, the first message, project instructions',
    leaves: 'running agents',
  },
  {
    name: 'engine',
    owns: 'the turn loop, tool calls, budgets, fallback, compaction, resumption; forks, launches and the life of children',
    leaves: 'how an agent is hosted, how a session is opened',
  },
  {
    name: 'executors',
    owns: 'where an agent runs: in this process, or in one of its own',
    leaves: 'what the agent does',
  },
  {
    name: 'views',
    owns: 'what people read of sessions: session view, bill, timeline, cache explain, provenance, worktrees, and how figures look',
    leaves: 'finding the place, printing',
  },
  { name: 'sdk', owns: 'the public API: `openSession` wires the rooms together', leaves: 'logic' },
  { name: 'cli', owns: 'the command: one file per command, output formats, signals', leaves: 'logic' },
  { name: 'testing', owns: 'published test doubles', leaves: 'tests themselves' },
];

/** Whether a file of `from` may import one of `to`. Unknown rooms may do nothing. */
export function mayImport(from: string, to: string): boolean {
  const above = ROOMS.findIndex((room) => room.name === to);
  const below = ROOMS.findIndex((room) => room.name === from);
  return above !== -1 && below !== -1 && above <= below;
}
