/** The public API. Everything a user of the library may import is named here, and nothing else. */
export type { AgentEvent, AgentResult } from '../engine/agent-event.ts';
export type { AgentHandle } from '../engine/agent-handle.ts';
export type { CompactionOutcome } from '../engine/compaction.ts';
export type { WorktreeResult } from '../engine/isolation/agent-workspace.ts';
export type { ModelProvider } from '../model/provider.ts';
export type { PermissionAnswer, PermissionBroker, PermissionQuestion } from '../permission/broker.ts';
export type { RuleTexts } from '../permission/policy.ts';
export { ModelError, RametError, UserMistake } from '../schema/errors.ts';
export type { AgentStatus, BudgetLimits, LaunchMode, PermissionMode, SessionMode } from '../schema/status.ts';
export type { Usage } from '../schema/usage.ts';
export type { SpawnRequest } from '../tools/agent-desk.ts';
export type { SessionOptions } from './options.ts';
export { type CompactRequest, openSession, type Session, type SessionEvent } from './session.ts';
export type { ForkOptions, SpawnOptions, SteeredMessage } from './session-type.ts';
export { VERSION } from './version.ts';
