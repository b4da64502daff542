/** What a type of agent is (TYPE-1): everything that its agents have in common. */
import { EXTENSION_SOURCES, type ExtensionSource } from '../../extensions/extension-places.ts';
import type { FileProblem } from '../../extensions/front-matter/field-problem.ts';
import type { RunCheck } from '../../extensions/trust/run-check.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import type { BudgetLimits, Effort, PermissionMode } from '../../schema/status.ts';

/** Where types come from; of two with one name the later wins (TYPE-4). */
export const DEFINITION_SOURCES: readonly DefinitionSource[] = ['built-in', ...EXTENSION_SOURCES];

export type DefinitionSource = 'built-in' | ExtensionSource;

export interface AgentDefinition {
  readonly name: string;
  /** Other names by which it may be asked for. */
  readonly aliases?: readonly string[];
  /** When to use it, for the agent that chooses. */
  readonly description: string;
  /** The system prompt: the same bytes for all its agents, wherever they work (FORK-9). */
  readonly system: readonly string[];
  /** What its agents are told with their task, after everything they share with agents of other types. */
  readonly notes: string | null;
  /** Names of tools; `all` means what the parent has. An agent never has a tool that its parent has not. */
  readonly tools: 'all' | readonly string[];
  /** Names of tools that it has in no case. */
  readonly disallowedTools?: readonly string[];
  /** Which calls of its tools its agents may make, where the lists say more than names. */
  readonly toolLimits?: ToolLimits;
  /** Skills whose texts its agents have from the beginning. */
  readonly skills?: readonly string[];
  /** What a main agent of it is told with its first prompt, before what the user says. */
  readonly initialPrompt?: string;
  /** A tier or a model id; `inherit` takes the parent's. */
  readonly model: string;
  /** How hard its agents think; absent means as their parent does, up to a cap (RES-9). */
  readonly effort?: Effort;
  readonly permissionMode: PermissionMode;
  /** Its agents change nothing: no tools that write, and only commands that are shown to read (TYPE-2). */
  readonly readOnly?: boolean;
  /** Hooks of its agents, as they are set up: they can take rights away and give none. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  /** Whether its agents are given the project's instructions and the state of git. */
  readonly instructions: boolean;
  readonly git: boolean;
  readonly maxTurns?: number;
  /** What each of its agents may spend by itself (RES-10). */
  readonly budget?: BudgetLimits;
  /** Its agents run in the background, whatever is asked for. */
  readonly background?: boolean;
  /** An agent of it that has a name is a member of the session's team (TEAM-1). */
  readonly teammate?: boolean;
  /** False for a type that is known and that nobody can ask for: what it needs does not exist yet. */
  readonly offered?: boolean;
  /** Its agents run in processes of their own (EXEC-2); absent means what the settings say. */
  readonly executor?: 'in-process' | 'process';
  /** Each of its agents works in a worktree of its own (EXEC-5). */
  readonly isolation?: 'worktree';
  /** MCP servers of its agents besides their parent's: names of servers that are set up, and servers of its own by name. */
  readonly mcpServers?: readonly (string | Readonly<Record<string, unknown>>)[];
  /** Of a repository: its servers start only with the files that were trusted. */
  readonly check?: RunCheck;
  /** Its agents have a memory of their own, for this repository or for all. */
  readonly memory?: 'user' | 'project' | 'local';
  readonly source?: DefinitionSource;
  /** The file it was read from. */
  readonly path?: string;
}

/** What is wrong with a definition file, or worth knowing about it. */
export type DefinitionProblem = FileProblem;
