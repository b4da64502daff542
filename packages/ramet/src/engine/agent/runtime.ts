/** What the agents of a session share, and what makes one agent different from another. */
import type { HookEventName } from '../../extensions/hooks/hook-event.ts';
import type { HookEffect } from '../../extensions/hooks/hook-runner.ts';
import type { FileLedger, SessionLedger } from '../../files/file-ledger.ts';
import type { LoadCheckouts } from '../../git/shapes.ts';
import type { AgentWorkspace, AgentWorkspaces } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { Journal } from '../../journal/journal.ts';
import type { MemoryFolder, StoreName } from '../../memory/files/memory-places.ts';
import type { CacheMap } from '../../model/cache/cache-map.ts';
import type { PriceTable } from '../../model/prices.ts';
import type { ModelProvider } from '../../model/provider.ts';
import type { EndpointHealth } from '../../model/rate/endpoint-health.ts';
import type { RateWindow } from '../../model/rate/rate-window.ts';
import type { RetryPolicy } from '../../model/rate/retry.ts';
import type { PermissionBroker } from '../../permission/broker.ts';
import type { SessionRules } from '../../permission/policy.ts';
import type { ToolLimits } from '../../permission/tool-limits.ts';
import type { CommandSandbox } from '../../sandbox/command-sandbox.ts';
import type { Clock } from '../../schema/clock.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type {
  BudgetLimits,
  CoordinatorPhase,
  ExecutorKind,
  PermissionMode,
  SessionMode,
} from '../../schema/status.ts';
import type { CheckSlots } from '../../system/check-slots.ts';
import type { ProcessRegister } from '../../system/processes/process-register.ts';
import type { AgentDesk, ToolOutcome } from '../../tools/agent-desk.ts';
import type { RootView } from '../../tools/root-view.ts';
import type { Tool } from '../../tools/tool.ts';
import type { AnswerSchema } from '../answer/answer-schema.ts';
import type { Evidence } from '../answer/evidence.ts';
import type { Spending } from '../budget/budget.ts';
import type { Permit, PermitRequest } from '../calls/permit.ts';
import type { ExchangeOptions, ModelExchange } from '../exchange/model-exchange.ts';
import type { PrefixGuard } from '../exchange/prefix-guard.ts';
import type { LaunchGate } from '../launch/launch.ts';

/** What an agent's loop needs, wherever it runs. */
export interface AgentRuntime {
  /** Who asks models and people for it. */
  readonly host: AgentHost;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly files: FileLedger;
  /** Checkouts that agents share; absent where nobody shares any. */
  readonly checkouts?: LoadCheckouts | undefined;
  /** Environment of child programs, scrubbed. */
  readonly childEnvironment: Readonly<Record<string, string>>;
  /** Places for heavy commands; absent where nobody waits for any. */
  readonly slots?: CheckSlots | undefined;
  /** What they have started and would leave if this process were killed. */
  readonly processes: ProcessRegister;
  /** Where commands of agents that only read run. */
  readonly sandbox: CommandSandbox;
  /** Where tool output that is too long for a conversation is kept. */
  readonly outputDirectory: string;
  readonly redact: (text: string) => string;
  /** Worktrees for agents that are to have one of their own. */
  readonly workspaces: AgentWorkspaces;
  /** The other agents of the session. */
  readonly agents: AgentDesks;
  /** Absent where no hooks are set up. */
  readonly hooks?: AgentHooks | undefined;
}

/** With what only the process has that holds keys, limits and rules. An agent's own process has none of it (EXEC-2). */
export interface SessionRuntime extends AgentRuntime {
  readonly files: SessionLedger;
  readonly provider: ModelProvider;
  readonly cacheMap: CacheMap;
  /** Passed by the first request of every child. */
  readonly launch: LaunchGate;
  readonly prefixGuard: PrefixGuard;
  readonly prices: PriceTable;
  readonly retry: RetryPolicy;
  /** When a request may go, for all agents of the session and of the machine. */
  readonly rate: RateWindow;
  /** Whether the provider has answered before, and so is waited for; without it nobody waits. */
  readonly health?: EndpointHealth | undefined;
  /** Rules of every agent; each has its own mode. */
  readonly permissions: SessionRules;
  /** Commands that settings call heavy, or light. */
  readonly alsoHeavy?: readonly string[] | undefined;
  /** Answers what rules and modes leave open. */
  readonly broker: PermissionBroker;
  readonly memory?: MemoryRights | undefined;
}

/** Which files of memory there are, and whose. */
export interface MemoryRights {
  /** Where memory is. */
  readonly stores: Readonly<Record<StoreName, string>>;
  /** What an agent may change without a question. */
  foldersOf(agent: { readonly spec: Pick<AgentSpec, 'parent' | 'type' | 'origin'> }): readonly MemoryFolder[];
  /** A file is about to be changed. */
  willChange?(file: { readonly store: string; readonly file: string }): void;
  /** Whether its type has a tool for its memory and for nothing else. */
  isOnlyForMemory(
    agent: { readonly spec: Pick<AgentSpec, 'parent' | 'type' | 'origin'> },
    tool: Tool,
  ): boolean;
}

/**
 * What an agent may do in a phase of a coordinator: `reads`: nothing that changes files; `proves`: commands, but no file is
 * written; both may write to the scratchpad. `coordinates`: tools that read, and nothing else.
 */
export type PhaseRights = 'all' | 'reads' | 'proves' | 'coordinates';

/** Of a session with a coordinator (COORD-1). */
export interface PhaseRules {
  readonly phase: CoordinatorPhase;
  /** Where all of its agents may write. */
  readonly scratchpad: string;
  rightsOf(agent: { readonly spec: Pick<AgentSpec, 'id' | 'origin'> }): PhaseRights;
  /** Whether a command of a verification has made this file, by its name. */
  isOwnProof(path: string): boolean;
}

/** What the engine lets the tools of an agent know of other agents, and ask of them. */
export interface AgentDesks {
  deskFor(agent: AgentId, call: string, signal: AbortSignal): AgentDesk;
  /** Of these calls of the agent's, those that started agents; asked when the calls were left open. */
  calledBy(agent: AgentId, calls: readonly string[]): Promise<ReadonlyMap<string, CalledAgent>>;
  /** The state of the main agent now, to be read only (RES-4). */
  root(): Promise<RootView>;
  /** Null in a session without a coordinator. Permission asks, in the process of the host. */
  phaseRules?(): PhaseRules | null;
  /** Absent in a session that can have no team. */
  isMember?(agent: AgentId): boolean;
  /** Loads what starting agents takes, while nothing else is to be done: a request has just gone out. */
  prepare(): void;
}

/** A throw is a refusal, with its message as the reason. */
export type CanUseTool = (tool: string, input: unknown) => ToolVerdict | Promise<ToolVerdict>;

export type ToolVerdict = { allowed: true } | { allowed: false; reason: string };

export interface AgentSpec {
  readonly id: AgentId;
  readonly parent: AgentId | null;
  readonly type: string;
  readonly name: string | null;
  readonly model: string;
  /** Taken over when the model stays unavailable. */
  readonly fallbackModel: string | null;
  readonly thinking: ThinkingConfig | null;
  readonly system: readonly string[];
  readonly tools: readonly Tool[];
  /** What its children have their tools of, where that is more than its own: a coordinator's workers write. */
  readonly childTools?: readonly Tool[] | undefined;
  /** The mode it starts with. Its state has the one it has now, and `modeInForce` says what that amounts to. */
  readonly permissionMode: PermissionMode;
  /** Its parent's mode in force: it never exceeds that. Absent for the main agent. */
  readonly ceiling?: (() => SessionMode) | undefined;
  /** Consulted before rules and modes, for each call: it can refuse and nothing else. */
  readonly canUseTool?: CanUseTool | undefined;
  readonly maxTurns: number;
  readonly maxTokens: number;
  readonly budget: BudgetLimits;
  /** Whose limits its spending counts against too: its parent's run, or the session. */
  readonly spending?: Spending | undefined;
  /** Where it begins to work; `Agent.directory` says where it is. */
  readonly cwd: string;
  /** The worktree that is in: its own, or its parent's. */
  readonly workspace?: AgentWorkspace | undefined;
  readonly isWorkspaceOwn?: boolean | undefined;
  /** Of a child; the main agent has none. */
  readonly origin?: AgentOrigin | undefined;
  /** Its requests write nothing to the cache that only they would read (FORK-3). */
  readonly skipCacheWrite?: boolean | undefined;
  /** Which calls of their tools its type and those of its ancestors are for. */
  readonly toolLimits?: readonly ToolLimits[] | undefined;
  /** It changes nothing, whatever modes and rules allow (TYPE-2). */
  readonly readOnly?: boolean | undefined;
  /** Where it runs; in this process when absent. */
  readonly executor?: ExecutorKind | undefined;
  /** Hooks of its type, as its definition has them; besides those of the session. */
  readonly hooks?: Readonly<Record<string, unknown>> | undefined;
  /** What its report must be, where that is said; another answer is sent back. */
  readonly answer?: AnswerSchema | undefined;
  /** What must be there before it counts as done. */
  readonly evidence?: Evidence | undefined;
  /** False: the conversation is never compacted by itself; a run that no longer fits ends. */
  readonly compacts?: boolean | undefined;
  /** The share of the context window from which on the conversation is compacted; 0.8 when absent. */
  readonly compactionThreshold?: number | undefined;
  /** In tokens; what is known of the model when absent. */
  readonly contextWindow?: number | undefined;
}

/** The agent that hooks run for. */
export interface HookedAgent {
  readonly spec: Pick<AgentSpec, 'id' | 'parent' | 'hooks'>;
}

/** The hooks of an agent as its loop asks for them. */
export interface AgentHooks {
  /** Whether hooks may be set up for the event; without one, whether any may be. */
  has(agent: HookedAgent, event?: HookEventName): boolean;
  /** Runs those that match, and records it. `fields` are those of the event; the common ones are added. */
  run(
    agent: HookedAgent,
    event: HookEventName,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<HookEffect>;
}

/** The agent that asks its host. A host that needs more of it knows where it comes from: see `agent.ts`. */
export interface AgentGuest {
  readonly spec: { readonly id: AgentId };
}

/**
 * What an agent's loop asks of the process that holds keys, limits and rules, and the children of all agents (EXEC-2).
 * `opening.ts` has the one for agents in that process.
 */
export interface AgentHost {
  exchange(guest: AgentGuest, options: ExchangeOptions): Promise<ModelExchange>;
  /** May this call run? */
  permitFor(guest: AgentGuest, call: AskedCall, signal: AbortSignal): Promise<Permit>;
  /** Runs a call that was permitted, of a tool that only the host has: a tool of the session. */
  callTool(guest: AgentGuest, call: string, signal: AbortSignal): Promise<ToolOutcome>;
  /** Whether there may be news to wait for. */
  mayHaveNews(guest: AgentGuest): boolean;
  /** Resolves when there is news of the agent's children, and at once when there are none to wait for. */
  news(guest: AgentGuest, signal: AbortSignal): Promise<void>;
}

export interface AskedCall {
  readonly tool: Tool;
  readonly request: PermitRequest;
  /** As the tool has parsed it. */
  readonly input: unknown;
}

/** The agent that a call had started, as the call sees it now. */
export interface CalledAgent {
  /** Resolves with its report, as the call would have. */
  report(signal: AbortSignal): Promise<ToolOutcome>;
  /** What can be said without waiting. */
  now(): Promise<ToolOutcome>;
}
