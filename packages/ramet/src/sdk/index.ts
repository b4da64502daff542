/** The public API. Everything a user of the library may import is named here, and nothing else. */
export type {
  AgentEvent,
  AgentHandle,
  AgentResult,
  CompactionOutcome,
  RunOptions,
} from '../engine/shapes.ts';
export type { RestorationStep, UndoPlan } from '../files/undo.ts';
export type { BlamedLine, ConflictMatrix, MergeEntry, MergeReport } from '../git/shapes.ts';
export type { WorktreeResult } from '../git/worktrees/workspace/agent-workspace.ts';
export type { AgentActivity, AgentOverview } from '../journal/projections/status.ts';
export type { SessionEntry } from '../journal/session-list.ts';
export type { ModelProvider } from '../model/provider.ts';
export type {
  ElicitedAnswer,
  ElicitedQuestion,
  MemberPlan,
  PermissionAnswer,
  PermissionBroker,
  PermissionQuestion,
  PlanDecision,
} from '../permission/broker.ts';
export type { RuleTexts } from '../permission/policy.ts';
export { ModelError, RametError, UserMistake } from '../schema/errors.ts';
export type { JournalEvent, RecordedEvent } from '../schema/events.ts';
export type {
  AgentStatus,
  BudgetLimits,
  ConflictPolicy,
  LaunchMode,
  MergeStrategy,
  PermissionMode,
  SessionMode,
} from '../schema/status.ts';
export type { Usage } from '../schema/usage.ts';
export { currentAgentId } from '../system/current-agent.ts';
export type { SpawnRequest } from '../tools/agent-desk.ts';
export type { TreePlace } from '../views/agent-label.ts';
export type { ExplainedRequest } from '../views/cache/explanation-text.ts';
export type { LedgerLine } from '../views/ledger/ledger.ts';
export type { SessionSummary } from '../views/session-rows.ts';
export type { AgentTranscript, SessionTranscript, ShownMessage } from '../views/transcript.ts';
export type { ListedAgentType } from '../views/type-list.ts';
export type { WorktreeView } from '../views/worktree-view.ts';
export type { AgentTypeView } from './agent-types/child-view.ts';
export type { AgentTypeOptions } from './agent-types/code-types.ts';
export type { CallOptions } from './calls/caller.ts';
export type { AgentTypeList } from './calls/check-types.ts';
export type { CacheReport } from './calls/explain-cache.ts';
export type { DiffOptions } from './calls/provenance.ts';
export type { DeletedSession } from './calls/sessions.ts';
export type { SettingsOverview } from './calls/settings-report.ts';
export type { PlainLedger, SessionBill, SessionStatus } from './calls/status.ts';
export type { StopOptions, StopOutcome } from './calls/stop.ts';
export type { SentLetter, StoppedTeam, TeamReport } from './calls/teams.ts';
export type { ReviewedPart, TrustReview } from './calls/trust.ts';
export type { UndoOptions, UndoOutcome } from './calls/undo.ts';
export type { HealthCheck, HealthState } from './doctor/health-check.ts';
export {
  askOperator,
  blame,
  collectWorktrees,
  commitWorktree,
  continueMerge,
  cost,
  diff,
  listWorktrees,
  mergeBranches,
  mergeQueue,
  operatorStatus,
  previewMerge,
  removeWorktrees,
  showWorktree,
  status,
  stop,
  undo,
} from './library.ts';
export {
  collectGarbage,
  deleteSessions,
  explainCache,
  exportSession,
  listSessions,
  planTasks,
  readEvents,
  renameSession,
  runStatistics,
  transcript,
} from './library-record.ts';
export {
  addServer,
  checkAgentTypes,
  checkHealth,
  listAgentTypes,
  listServers,
  logInToServer,
  readSettings,
  removeServer,
  repairSession,
  reviewTrust,
  revokeTrust,
  trustFolder,
  tryServers,
  viewAgentType,
} from './library-setup.ts';
export {
  answerPlan,
  editMemory,
  explainMemory,
  listTeams,
  reopenTeam,
  saveMemoryNote,
  sendToTeam,
  showMemory,
  showTeam,
  stopTeam,
  undoMemory,
} from './library-teams.ts';
export type { AddScope, DescribedServer, ServerListing, TriedServer } from './mcp/manage-servers.ts';
export type { EditedMemory, ExplainedLine, MemoryReport, UndoneMemory } from './memory/memory-calls.ts';
export type { MergeOptions, MergeTargetOptions } from './merge/merge.ts';
export type { AskedOutcome, RunCallOptions, RunOverview } from './operator/control/ask-operator.ts';
export type { PlanQuestion, TaskPlan } from './operator/planning/plan-tasks.ts';
export type { SessionOptions } from './options.ts';
export type { ImageInput, ToolContent, ToolReport } from './own-tools/own-result.ts';
export type { OwnTool } from './own-tools/own-tool.ts';
export type { JsonSchema, SchemaOutput, StandardSchema } from './own-tools/standard-schema.ts';
export {
  type ToolAccessRule,
  type ToolCallContext,
  type ToolReach,
  type ToolWithJsonSchema,
  type ToolWithSchema,
  tool,
} from './own-tools/tool.ts';
export type { TypedHandle, TypedResult } from './own-tools/typed-handle.ts';
export type { CollectedGarbage, GarbageQuestion, HeldItem } from './retention/gc.ts';
export type {
  AnswerServer,
  DecideToolCall,
  ForkToolCall,
  ForkToolDecision,
  NarrowToolCall,
  ToolCallDecision,
  ToolCallQuestion,
} from './session/deciding-broker.ts';
export { type CompactRequest, openSession, type Session, type SessionEvent } from './session/session.ts';
export type {
  Answered,
  AskedOptions,
  ForkOptions,
  PromptContent,
  PromptContentPart,
  PromptOptions,
  PromptSchema,
  ResultEvent,
  RunEvent,
  RunResult,
  SpawnOptions,
  SteeredMessage,
} from './session/session-type.ts';
export { VERSION } from './version.ts';
export type {
  CollectedWorktree,
  CommittedWorktree,
  RemovedWorktree,
  WorktreeList,
} from './worktrees/worktrees.ts';
