/**
 * What a tool is. A tool owns its wire schema, its input's shape and its action; it never touches the engine:
 * whatever it needs comes in `ToolContext`. An expected failure is an outcome with `isError`, not a throw;
 * what is thrown is a bug, and the tool runner turns it into an error result too.
 */

import type { FileAccess } from '../files/file-access.ts';
import type { ShellDecision } from '../sandbox/command-sandbox.ts';
import type { Clock } from '../schema/clock.ts';
import type { ServerToolSchema, ToolSchema } from '../schema/content.ts';
import type { TodoItem } from '../schema/status.ts';
import type { CallDetails, ToolAccess } from '../schema/tool-access.ts';
import * as z from '../schema/zod.ts';
import type { ExpectedGroup } from '../system/processes/process-group.ts';
import type { AgentDesk, ToolOutcome } from './agent-desk.ts';
import { KNOWN_SCHEMAS } from './known-schemas.ts';
import type { RootView } from './root-view.ts';
import type { BackgroundTasks } from './shell/background-tasks.ts';

// Declared with the desk, which answers with it too: two files cannot import each other.
export { failure, type ToolOutcome } from './agent-desk.ts';

/**
 * `read` changes nothing outside the agent, so plan mode allows it; `write` changes
 * files through `FileAccess`; `execute` runs programs or reaches into the network.
 */
export type ToolEffect = 'read' | 'write' | 'execute';

/**
 * Among the calls of one message: `parallel` beside its neighbours, and again after a crash; `ordered` alone and in its
 * place; `last` side by side, after all others have ended, for calls that start agents (FORK-2); `divider` alone and in its
 * place, after all that stand before it, those that start agents too.
 */
export type ToolSchedule = 'parallel' | 'ordered' | 'last' | 'divider';

/** How a field of the input names files. A `pattern` does so only when it begins with `/`. */
export type PathField = 'path' | 'pattern';

export interface ToolContext {
  agent: string;
  /** Id of the tool_use block this run answers. */
  call: string;
  /** The agent's own directory; every relative path and every Bash call starts here. */
  cwd: string;
  /** Environment for child programs, already scrubbed of model keys. Never `process.env`. */
  env: Readonly<Record<string, string>>;
  /** Where output too long for the conversation is kept, one file a call. It may not exist yet. */
  outputDirectory: string;
  files: FileAccess;
  /** How the command's shell is started; absent where it runs as it is. */
  shell?: ((command: string) => Promise<ShellDecision>) | undefined;
  /**
   * Asks whether a command may run outside the sandbox that stopped it; null when the sandbox only changed its answer,
   * which needs no question. Absent for a command without a sandbox.
   */
  outside?: ((command: string, stopped: string | null) => Promise<ShellDecision>) | undefined;
  /** Files that rules keep from being read: a tool that looks through many leaves them out. */
  leavesOut?: ((path: string) => boolean) | undefined;
  signal: AbortSignal;
  clock: Clock;
  /** Tells those who watch how far the call is. Models do not see it. */
  progress?: ((text: string) => void) | undefined;
  /** Gets the first of a command's output as it comes, in whole lines, without secrets. */
  onOutput?: ((text: string) => void) | undefined;
  /** Notes that a process group is about to start. */
  expectGroup?: (() => ExpectedGroup) | undefined;
  /** Notes a process group that was started, in case this process is killed; what it returns takes the note away. */
  registerGroup(group: number): () => void;
  /** The agent's own background tasks. */
  tasks: BackgroundTasks;
  /** Other agents: those it starts, and those it may talk to. */
  agents: AgentDesk;
  /** The state of the session's main agent now: a frozen copy (RES-4). */
  root(): Promise<RootView>;
  /** Where the agent works, and going elsewhere. */
  directory: DirectoryDesk;
  /** Replaces the agent's list of its own work. */
  setTodos(todos: readonly TodoItem[]): void;
  /** Registers what must be released when the agent ends, such as a background shell. */
  onAgentEnd(release: () => Promise<void> | void): void;
  /** Takes secrets out of text; for what a tool leaves in files. The runner redacts results itself. */
  redact(text: string): string;
  /** Looks what a command has changed that others have read; a line to add to its result, or null. */
  afterCommand?(command: string, since: number): Promise<string | null>;
  /** Waits for a place for a heavy command; null where it runs without one. Absent for other commands. */
  heavyPlace?(command: string): Promise<HeavyPlace | null>;
}

/** Held while a heavy command runs (OP-3). */
export interface HeavyPlace extends Disposable {
  /** Tells the command, and what it starts, that it has a place. */
  readonly environment: Readonly<Record<string, string>>;
  /** For a command in the background, instead of disposing it. */
  keepUntil(ended: Promise<unknown>): void;
}

/** A worktree for the agent itself (WORK-2). */
export interface DirectoryDesk {
  enter(name: string | undefined): Promise<ToolOutcome>;
  exit(): Promise<ToolOutcome>;
}

export interface Tool<Input = unknown> {
  name: string;
  description: string;
  effect: ToolEffect;
  schedule: ToolSchedule;
  /** It can change files of the checkout by itself, though that is not its `effect`. */
  changesFiles?: true;
  /**
   * In a session with a team its effect is on record under the id of the call. A call that a kill cut off is made again,
   * and finds what it did.
   */
  onceInTeam?: true;
  /** Agents that keep a memory have it for that, whatever their list of tools says (MEM-1). */
  forMemory?: true;
  /** Agents that the main agent starts do not have it; a fork, which shares its parent's list, is refused by the tool. */
  mainOnly?: true;
  /**
   * It belongs to one session, not to Ramet (`sdk/session/tools/session-tools.ts`): it is a function of the host, so the loop
   * of an agent in another process has the host run it. Agents that only read get it only if its effect is `read`.
   */
  ofSession?: true;
  /** The program that opened the session brought it: types that come with Ramet and only read have it if its effect is `read`. */
  ofProgram?: true;
  /**
   * Fields of the input that name files. `any`: it is another program's tool, and any text that begins with `/` may
   * name one.
   */
  pathFields?: Readonly<Record<string, PathField>> | 'any';
  /** Other programs' tools, which are not in the list and which it calls: its input is `{ tool, arguments }`. */
  adopts?: ToolAdoption;
  /** The provider runs it: this is in the list, under a name of the provider's. */
  server?: ServerToolSchema;
  /** Whether a rule means it that names it in another way; `giving` for a rule that allows. */
  isNamed?(written: string, giving: boolean): boolean;
  input: z.ZodMiniType<Input>;
  /** The JSON Schema that the model gets, where `input` cannot say it. */
  inputSchema?: ToolSchema['input_schema'];
  /** What a call reaches. Permission, fences and isolation ask this, never the tool's name. */
  access?(input: Input): ToolAccess;
  /** What views show of a call; the first text of its input where this is absent. */
  details?(input: Input): CallDetails;
  /**
   * Why the call would fail even if permitted; null if it might succeed. No one is asked about a call that would fail.
   */
  precheck?(input: Input, context: Pick<ToolContext, 'files' | 'cwd'>): Promise<string | null>;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
}

/**
 * A call of a tool that adopts others is taken for a call of the tool it names, as soon as it is read: permission, hooks,
 * views and records know it by that name and with those arguments. A call by the name alone means the same.
 */
export interface ToolAdoption {
  /** What names of adopted tools begin with. No other tool's name does. */
  readonly prefix: string;
  tool(name: string): Tool;
}

export function defineTool<Input>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

/** The tool in the list that the model gets. */
export function wireTool(tool: Tool): ToolSchema | ServerToolSchema {
  return tool.server ?? toolSchema(tool);
}

const schemas = new WeakMap<Tool, ToolSchema>();

/** The tool as the model sees it; made once, since every head of a prompt asks for it. */
export function toolSchema(tool: Tool): ToolSchema {
  const schema = schemas.get(tool) ?? describeTool(tool);
  schemas.set(tool, schema);
  return schema;
}

function describeTool(tool: Tool): ToolSchema {
  const { name, description, inputSchema } = tool;
  const schema = inputSchema ?? KNOWN_SCHEMAS[name] ?? computeInputSchema(tool);
  return { name, description, input_schema: schema };
}

/**
 * Its bytes are part of every prompt, so what a model hardly needs is left out: the range of integers, that names are
 * texts, and that there are no other fields. Input is checked for all of it.
 */
function computeInputSchema(tool: Tool): ToolSchema['input_schema'] {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      delete jsonSchema.propertyNames;
    },
  });
  return schema;
}
