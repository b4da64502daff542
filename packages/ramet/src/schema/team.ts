/** Teams as they are recorded and shown: members, messages, tasks. */
import type { AgentId, SessionId } from './ids.ts';
import type { LiveStatus } from './status.ts';

/** The member that every team has: the main agent of its session. */
export const LEAD = 'lead';

/** Everybody but the sender. */
export const EVERYBODY = '*';

export interface TeamRecord {
  id: number;
  name: string;
  /** The lead's session: every member is an agent of it. */
  session: SessionId;
  created: number;
}

/**
 * As the roster has it. `idle`: it has nothing to do and is in no memory; `working`: its journal says what it does; `stopping`: it was asked to end; `stopped`: it has ended, and nothing
 * wakes it.
 */
export type MemberState = 'idle' | 'working' | 'stopping' | 'stopped';

/** `required`: it only reads until a plan is approved; `sent`: its plan waits for an answer. */
export type PlanState = 'required' | 'sent' | 'approved';

export interface TeamMember {
  name: string;
  /** Null for one that has not begun. */
  agent: AgentId | null;
  type: string;
  state: MemberState;
  plan: PlanState | null;
  /** How many messages it has not been told. */
  unread: number;
}

/**
 * As everybody is shown it: what one at work is says its status (AGENT-5). The process of one that is `interrupted` is gone,
 * or its run was; it continues when the team is resumed or it is written to.
 */
export interface ShownMember extends Omit<TeamMember, 'state'> {
  state: Exclude<MemberState, 'working'> | LiveStatus | 'interrupted';
  /** `permission`, `capacity`, `provider` ...: why one at work does not run; null where nothing is known. */
  cause: string | null;
  /** Of its worktree; null for one that has none. */
  branch: string | null;
}

/** What a message is about, where the engine acts on it: a plan for the lead, and the answers to one. */
export type MessageKind = 'plan' | 'approved' | 'rejected';

export interface TeamMessage {
  /** Unique in the repository and rising: the order in which messages were sent. */
  seq: number;
  /** A member's name; null for one that a person or a program sent from outside the team. */
  from: string | null;
  text: string;
  /** Null for plain words. */
  kind: MessageKind | null;
}

/** A plan that waits for an answer. */
export interface WaitingPlan {
  member: string;
  text: string;
}

/** What the record of a member shows of its work on a task, whatever the member says. */
export interface TaskProof {
  /** Files that its file tools changed: what commands changed is not known. */
  files: readonly string[];
  /** Commands that it ran, the last ones; null for one that did not end by itself. */
  commands: readonly { command: string; exit: number | null }[];
}

export type TeamTaskState = 'pending' | 'in_progress' | 'completed' | 'failed';

export interface TeamTask {
  number: number;
  subject: string;
  description: string;
  status: TeamTaskState;
  /** Who works on it; of a pending task, the only one who may claim it. */
  owner: string | null;
  createdBy: string;
  /** The tasks that it depends on. */
  needs: readonly number[];
  /** Those of them that are not completed. */
  blockedBy: readonly number[];
  /** What proves that it is completed. */
  evidence: string | null;
  /** What the engine has seen of that; null before it is completed. */
  proof: TaskProof | null;
  /** What was last said about its state: why it failed, why it was released. */
  note: string | null;
}

/** A change of a task that its row does not show any more. */
export interface TaskChange {
  task: number;
  by: string;
  what: 'released' | 'overridden' | 'retried' | 'removed';
  detail: string;
}
