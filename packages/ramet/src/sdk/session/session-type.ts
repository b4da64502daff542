/** A session as its opener uses it. */

import type {
  AgentEvent,
  AgentHandle,
  AgentResult,
  AgentSpec,
  CompactionOutcome,
  ContextUse,
  ForkOverrides,
  RunOptions,
} from '../../engine/shapes.ts';
import type { Repository } from '../../git/shapes.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import type { AgentId, SessionId } from '../../schema/ids.ts';
import type { BudgetLimits, CoordinatorPhase, ExecutorKind, SessionMode } from '../../schema/status.ts';
import type { ShownMember, TeamTask, WaitingPlan } from '../../schema/team.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { BackgroundView } from '../background/background-view.ts';
import type { UndoOptions, UndoOutcome } from '../calls/undo.ts';
import type { EditedMemory, RememberRequest } from '../memory/memory-calls.ts';
import type { OperateOrder, OperateOutcome } from '../operator/operate-order.ts';
import type { SessionOptions } from '../options.ts';
import type { ImageInput } from '../own-tools/own-result.ts';
import type { JsonSchema, SchemaOutput, StandardSchema } from '../own-tools/standard-schema.ts';
import type { TypedHandle } from '../own-tools/typed-handle.ts';
import type { NarrowToolCall } from './deciding-broker.ts';
import type { SessionEvent } from './event-bus.ts';
import type { ServerStanding } from './tools/tool-source.ts';

/** The coordinator of a session as it is now. */
export interface CoordinatorView {
  readonly phase: CoordinatorPhase;
  /** The directory that it shares with its workers. */
  readonly scratchpad: string;
}

/** The team of a session as it is on record now. */
export interface TeamView {
  readonly name: string;
  /** The lead first. */
  members(): readonly ShownMember[];
  tasks(): readonly TeamTask[];
  /**
   * Adds a member without a task: it begins with its first message, or with a task that becomes free, and is in no memory
   * until then. `type` is `teammate` when absent. The lead learns of it with the next prompt. Rejects with the reason when
   * it cannot be added.
   */
  add(member: { name: string; type?: string | undefined }): Promise<void>;
  /** Plans of members that wait for an answer. */
  plans(): readonly WaitingPlan[];
  /** Answers a plan as a person. Rejected, the member plans again with what `feedback` says. */
  answerPlan(answer: { member: string; approve: boolean; feedback?: string }): Promise<void>;
  /** Writes to a member, `lead` or `*`. It is told that the message came from outside the team. Resolves with the receivers. */
  send(message: { to: string; text: string }): Promise<{ to: readonly string[] }>;
}

export interface CompactRequest {
  signal?: AbortSignal;
  /** What the summary is to pay attention to. */
  instructions?: string;
  onEvent?: (event: AgentEvent) => void;
}

/** What a fork of the library may have of its own: a label, and the four overrides (FORK-3). */
export interface ForkOptions extends Omit<ForkOverrides, 'canUseTool'> {
  canUseTool?: NarrowToolCall | undefined;
  description?: string | undefined;
  name?: string | undefined;
  /** In a worktree of its own (EXEC-5). */
  isolation?: 'worktree' | undefined;
  /** What it may spend by itself, and its turns: limits are the engine's, and no part of a request (RES-10). */
  budget?: BudgetLimits | undefined;
  maxTurns?: number | undefined;
  /**
   * The text of its result is JSON that fits; an answer that does not is sent back. Its `value` has the type. No part of the
   * shared prefix.
   */
  schema?: PromptSchema | undefined;
}

/** A prompt with more than a text. The texts are joined; images and files come before them. */
export type PromptContentPart =
  | string
  | TextBlock
  /** PNG, JPEG, GIF or WebP: bytes or base64. */
  | ImageInput
  /** Read as the Read tool does, under the same rules. */
  | { readonly type: 'file'; readonly path: string };

export type PromptContent = string | readonly PromptContentPart[];

/** Zod 4, another Standard Schema, or JSON Schema. */
export type PromptSchema = StandardSchema | JsonSchema;

/** What a prompt may bring along. */
export interface PromptOptions extends Partial<Omit<RunOptions, 'answer'>> {
  /** The last message must be JSON that fits; one that does not is sent back. `value` of the result has it. */
  schema?: PromptSchema;
  /** Blocks before the prompt: what `attach` and `command` gave. */
  attachments?: readonly (TextBlock | ImageBlock)[];
  /** A prompt `/name arguments` asks for the skill or command of that name, where there is one. */
  commands?: boolean;
  /**
   * The prompt is what a person typed, as with `ramet -p`: `@server:uri` in it attaches a resource of an MCP server, and
   * with `commands` a `/name` that nobody has is an error.
   */
  typed?: boolean;
}

/** How a prompt ended. */
export interface RunResult extends AgentResult {
  /** With `schema` and status `done`: what the schema made of the answer. */
  value?: unknown;
}

/** The last event of a run: how it ended. */
export type ResultEvent = RunResult & { type: 'result'; agentId: AgentId; parentAgentId: null };

export type RunEvent = SessionEvent | ResultEvent;

export interface AskedOptions extends PromptOptions {
  onEvent?: (event: RunEvent) => void;
}

/** Without the option's own type: TypeScript 5 gives up on the intersection with some libraries' schemas. */
type WithSchema<Options, Schema> = Omit<Options, 'schema'> & { schema: Schema };

/** What `ask` resolves with; `value` has the type of the schema, and `cost` is `costUsd`. */
export type Answered<Value> = RunResult & { readonly value: Value; readonly cost: number | null };

/** A file to go with a prompt. */
export interface Attachment {
  readonly path: string;
  /** Why it cannot be attached, in a line; null if it can. */
  readonly problem: string | null;
  readonly blocks: readonly (TextBlock | ImageBlock)[];
}

/** What a command of the user has written. */
export interface SharedCommand {
  readonly output: string;
  /** It failed, or was not permitted. */
  readonly isError: boolean;
  /** Goes with the next prompt. */
  readonly block: TextBlock;
}

export interface RewindRequest {
  /** Which prompt, counted from 1: everything from it on is taken back. */
  prompt: number;
  what: 'conversation' | 'files' | 'both';
  /** Also files that others have changed since. */
  force?: boolean;
}

export interface RewindOutcome {
  /** What had been asked. */
  readonly prompt: string;
  /** What was done to files; null for nothing. */
  readonly files: UndoOutcome | null;
  /** What is not taken back, one line each. */
  readonly notes: readonly string[];
}

/** Something said to an agent that works. */
export interface SteeredMessage {
  /** Whether the agent has been told. */
  readonly isDelivered: boolean;
  /** Takes it back; false when the agent has been told. */
  withdraw(): boolean;
}

/** What the Agent tool takes. */
export interface SpawnOptions extends Omit<SpawnRequest, 'schema'> {
  /** Where it runs; what its type or the settings say when absent. */
  executor?: ExecutorKind | undefined;
  /** Of a member of the team: it only reads until its plan is approved. */
  planFirst?: boolean | undefined;
  /** As for a fork. */
  schema?: PromptSchema | undefined;
}

export interface Session extends AsyncDisposable {
  readonly id: SessionId;
  /** What `await using` does: interrupts a run under way, ends what agents started, closes the journal. Hooks read the reason. */
  close(options?: { reason?: 'clear' | 'resume' | 'prompt_input_exit' | 'other' }): Promise<void>;
  /** The main agent as it is now. */
  readonly agent: Readonly<Pick<AgentSpec, 'id' | 'parent' | 'type' | 'name' | 'permissionMode' | 'cwd'>>;
  readonly tools: readonly string[];
  /** MCP servers that are set up here, as they are now. */
  readonly mcpServers: readonly ServerStanding[];
  /** The model in force: the fallback once it was taken. */
  readonly model: string;
  readonly repository: Repository | null;
  /** The team that it leads (option `team`); undefined for none, until its first member makes one. */
  readonly team?: TeamView | undefined;
  /** Work in the background, if there is any; `idle` resolves when none of it runs: docs/background.md. */
  readonly background?: BackgroundView;
  /** The phase of its coordinator; absent for none (option `coordinator`). */
  readonly coordinator?: CoordinatorView;
  /** What the user should know of the settings, one line each. */
  readonly notices: readonly string[];
  /** The children that run or wait their turn, as they are now. */
  readonly agents: readonly AgentHandle[];
  /** True while messages wait for the main agent. `run(null)` delivers them. */
  readonly hasNews: boolean;
  /** Whether a turn of the main agent was interrupted before its end: `run(null)` resumes it. Of children, see `resumeAgents`. */
  readonly isInterrupted: boolean;
  /**
   * Resumes the agents that an earlier process left at work, and returns how many. `run` does so by itself; this is for
   * callers that want them to work before there is a prompt. `agents` lists them.
   */
  resumeAgents(): Promise<number>;
  /**
   * Carries out a prompt; null resumes an interrupted turn, delivers messages, or waits for agents of an earlier process. Never throws for what a model or tool
   * does: the result says how it ended. Events of children come in between, with their agent's id. It starts with the
   * first event that is asked for, and then waits for no reader; one that leaves interrupts it. The last event is the
   * result, which the generator also returns.
   */
  run(prompt: PromptContent | null, options?: PromptOptions): AsyncGenerator<RunEvent, RunResult>;
  /**
   * Carries out a prompt, or with null resumes one, and resolves with its result. Rejects with a `RametError` when it does not end as `done`: its
   * `code` is the cause, and its `cause` the whole result.
   */
  ask<Schema extends StandardSchema>(
    prompt: PromptContent | null,
    options: WithSchema<AskedOptions, Schema>,
  ): Promise<Answered<SchemaOutput<Schema>>>;
  ask(prompt: PromptContent | null, options?: AskedOptions): Promise<Answered<unknown>>;
  /**
   * Calls `listener` for what children do, also between prompts, and for every change of the main agent's status. What else
   * the main agent does comes from `run` while a prompt is carried out, and goes to `listener` between prompts. A listener
   * that throws or rejects harms nobody: the process gets a warning. Returns the unsubscribe function.
   */
  subscribe(listener: (event: SessionEvent) => void): () => void;
  /**
   * From now on subscribers are also told what this child writes as it writes it (`text_delta`, `thinking_delta`), as long as
   * it works. Returns the function that ends that.
   */
  stream(agent: AgentId): () => void;
  /**
   * The text of the answer that this child is writing, as far as it has come: at most the last 200,000 characters, and empty
   * when it writes none. With `stream` at the same moment nothing is missed and nothing comes twice.
   */
  answerSoFar(agent: AgentId): string;
  /** Sends the main agent a message while it works. It reads the message after its current tool call. */
  steer(text: string): SteeredMessage;
  /**
   * Says something to a child, by id or name, as the user. One that has ended resumes with it in the background;
   * rejects with the reason when it cannot.
   */
  tell(agent: string, text: string): Promise<AgentHandle>;
  /** Starts a fork of the main agent's conversation as it stands. */
  fork<Schema extends StandardSchema>(
    prompt: string,
    options: WithSchema<ForkOptions, Schema>,
  ): Promise<TypedHandle<SchemaOutput<Schema>>>;
  fork(prompt: string, options: WithSchema<ForkOptions, JsonSchema>): Promise<TypedHandle<unknown>>;
  fork(prompt: string, options?: ForkOptions): Promise<AgentHandle>;
  /** Starts a child of the main agent as the Agent tool does; rejects with the reason when that is refused. */
  spawn<Schema extends StandardSchema>(
    request: WithSchema<SpawnOptions, Schema>,
  ): Promise<TypedHandle<SchemaOutput<Schema>>>;
  spawn(request: WithSchema<SpawnOptions, JsonSchema>): Promise<TypedHandle<unknown>>;
  spawn(request: SpawnOptions): Promise<AgentHandle>;
  /**
   * Runs the tasks of a file: agents in worktrees, their work merged and checked, and landed by a policy (OP-2). Rejects
   * with the reason when it cannot begin; how each task ended is in the outcome.
   */
  operate(order?: OperateOrder): Promise<OperateOutcome>;
  /** Reads files for a prompt under the rules of the Read tool; the agent has then read them. `server:uri`: an MCP resource. */
  attach(paths: readonly string[], options?: { signal?: AbortSignal }): Promise<Attachment[]>;
  /** Runs a command as the user, where the main agent works. Rules that deny it count. `onOutput`: the first 30,000 bytes, in whole lines. */
  command(
    command: string,
    options?: { signal?: AbortSignal; onOutput?: (text: string) => void },
  ): Promise<SharedCommand>;
  /** Restores files that Write and Edit changed, as `undo` of the library does for a session that is closed. */
  undo(options?: Pick<UndoOptions, 'turn' | 'force' | 'redo'>): Promise<UndoOutcome>;
  /** Takes the conversation, the files or both back to before an earlier prompt; between prompts, with no child at work. */
  rewind(request: RewindRequest): Promise<RewindOutcome>;
  /** How full the main agent's context window is, and with what. */
  context(): ContextUse;
  /** Changes to another model, by id or tier; between turns only. */
  setModel(model: string): void;
  /** From the next tool call on, and when the session is resumed. */
  setPermissionMode(mode: SessionMode): void;
  /** Looks at once whether a provider that is away is back, instead of at the end of the present pause. */
  tryNow(): void;
  /**
   * Replaces the older part of the conversation by a summary, between two prompts. What a model does wrong is in the
   * outcome, and the conversation then stays as it was; rejects when it is aborted or a prompt is being carried out.
   */
  compact(options?: CompactRequest): Promise<CompactionOutcome>;
  /** Saves a note of the user, of the repository unless another scope is named: later sessions begin with it. */
  remember(note: string, options?: RememberRequest): Promise<EditedMemory>;
}

export type OpenSession = (options: SessionOptions) => Promise<Session>;
