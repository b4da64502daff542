/**
 * The shapes of the engine that other rooms know. Types only: importing it loads nothing. Each is declared beside the code
 * that it describes; here they are one door instead of nineteen.
 */

export type { Agent } from './agent/agent.ts';
export type { AgentSnapshot } from './agent/agent-content.ts';
export type { AgentEvent, AgentResult } from './agent/agent-event.ts';
export type { SpecBasis } from './agent/agent-spec.ts';
export type {
  AgentHooks,
  AgentHost,
  AgentRuntime,
  AgentSpec,
  CalledAgent,
  MemoryRights,
  SessionRuntime,
} from './agent/runtime.ts';
export type { AnswerSchema } from './answer/answer-schema.ts';
export type { BackgroundForks, EarlierUsage } from './background/background-forks.ts';
export type { BackgroundWork, DueWork, FinishedTurn } from './background/background-work.ts';
export type { PreparedWork } from './background/prepared-work.ts';
export type { AgentSummaries } from './background/summarise-agents.ts';
export type { SpendingRecord } from './budget/budget.ts';
export type { Permit, PermitRequest } from './calls/permit.ts';
export type { AgentHandle } from './children/child-handle.ts';
export type { SpawnOrder } from './children/child-plan.ts';
export type { ForkOverrides } from './children/child-terms.ts';
export type {
  AgentFamily,
  ChildSurroundings,
  LoadedSkills,
  RecordedOrder,
  ToolHeir,
} from './children/family.ts';
export type { SpawnOutcome } from './children/spawn.ts';
export type { CompactionOutcome } from './compaction/compaction.ts';
export type { ContextUse } from './compaction/context-state.ts';
export type { ExchangeOptions, ModelExchange } from './exchange/model-exchange.ts';
export type { Housing } from './isolation/resume-workspace.ts';
export type { LazyWorkspaces } from './lazy-parts.ts';
export type { Ending, RunOptions } from './loop/run-state.ts';
export type { RecordedSpec } from './resume/resume.ts';
export type { FamilyTeam, MemberRun } from './team/family-team.ts';
