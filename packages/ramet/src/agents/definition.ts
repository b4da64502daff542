/** What a type of agent is (TYPE-1): everything that its agents have in common. */
import type { PermissionMode } from '../schema/status.ts';

export interface AgentDefinition {
  readonly name: string;
  /** Other names by which it may be asked for. */
  readonly aliases?: readonly string[];
  /** When to use it, for whoever chooses. */
  readonly description: string;
  /** The system prompt: the same bytes for all its agents, wherever they work (FORK-9). */
  readonly system: readonly string[];
  /** What its agents are told with their task, after everything they share with agents of other types. */
  readonly notes: string | null;
  /** Names of tools; `all` means what the parent has. */
  readonly tools: 'all' | readonly string[];
  /** A tier or a model id; `inherit` takes the parent's. */
  readonly model: string;
  readonly permissionMode: PermissionMode;
  /** Whether its agents are given the project's instructions and the state of git. */
  readonly instructions: boolean;
  readonly git: boolean;
}
