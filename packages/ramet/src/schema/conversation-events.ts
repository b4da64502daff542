/** How a conversation is replaced as a whole, and what goes with it (`events.ts` joins this to all that can be recorded). */
import type { Role } from './content.ts';
import type { Digest, SessionId } from './ids.ts';

/** Where a request marks a cache breakpoint. `message` is -1 for a block of the system prompt. */
export interface Breakpoint {
  message: number;
  block: number;
  ttl: '5m' | '1h';
}

/**
 * The conversation continues from another list of messages: thinking stripped for a fallback model, a summary, or what it
 * was before an earlier prompt. What it replaces stays on record.
 */
export interface ConversationReplaced {
  type: 'conversation.replaced';
  /**
   * `model`: the user chose another model, or another way of thinking. `rules`: what rules say now about a tool that the
   * provider runs is not what its prompt began with. `team`: the first member of a session that began without a team brought
   * the team's tools. `session`: it begins with the conversation of another session.
   * `pictures`: the provider refused a request because of its pictures, and the newest are left out.
   */
  cause: 'fallback' | 'model' | 'compaction' | 'rewind' | 'rules' | 'team' | 'session' | 'pictures';
  /** Of a rewind: how many prompts of the session stay. */
  prompts?: number;
  /** Of a rewind: the files that the agent has seen by then. Absent in journals of earlier versions. */
  seen?: { path: string; version: string }[];
  /** The other model, of a change to one. Absent in journals of earlier versions. */
  model?: string;
  messages: { role: Role; blocks: Digest[]; shared: number }[];
  /** How long it is, estimated unless it is as another session has measured it; absent where that is unknown. */
  tokens?: number;
  /** Of a compaction: why, and how long it was before. Absent in journals of earlier versions. */
  trigger?: CompactionTrigger;
  tokensBefore?: number;
  /** Of `session`. Absent in journals of earlier versions. */
  takes?: TakenOver;
}

/**
 * What a main agent takes over with the conversation of another session, besides the messages: whatever is known of them and
 * not said in them. The todo list and a context window that was learned are events of their own.
 */
export interface TakenOver {
  from: SessionId;
  /** All prompts of the session, also those that a compaction has replaced. */
  prompts: { role: Role; blocks: Digest[]; shared: number; typed?: true }[];
  /** What told the agent something, the newest last. */
  sources: string[];
  /** Files that it has read or changed, by name: their versions are not taken over. */
  touched: { path: string; how: 'read' | 'changed' }[];
  /** Ids of its tool calls. */
  calls: string[];
  /** What the provider may hold of the messages, and since when. */
  breakpoints: Breakpoint[];
  answeredAt: number | null;
}

/** Why a conversation is compacted: it is long, it was too long for the model, or the user asked. */
export type CompactionTrigger = 'threshold' | 'overflow' | 'request';
