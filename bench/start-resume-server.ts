/** Starts the server of the resume benchmark. */
import type { PromptBill } from './prompt-cache.ts';
import { type PlayedServer, startPlayedServer } from './start-played-server.ts';

export interface ResumePlay {
  /** Agents that the parent starts in one message. */
  children: number;
  /** Files that each reads, one a turn. */
  turns: number;
  /** Whether agents are then left in mid-work, or report. */
  hold: boolean;
}

export interface ResumeRecord extends PromptBill {
  /** When it arrived (`process.hrtime`), in nanoseconds. */
  at: string;
  /** Null for the parent. */
  child: number | null;
  bytes: number;
  /** The agent was left in mid-work after it. */
  left: boolean;
}

export type ResumeServer = PlayedServer<ResumePlay, ResumeRecord>;

export function startResumeServer(): Promise<ResumeServer> {
  return startPlayedServer('resume-server.ts');
}
