/** What an agent's process and its host say to each other, besides answers. All of it is plain data. */
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type {
  AgentResult,
  ExchangeOptions,
  ModelExchange,
  Permit,
  PermitRequest,
  SpendingRecord,
} from '../../engine/shapes.ts';
import type { HookEventName } from '../../extensions/hooks/hook-event.ts';
import type { HookEffect } from '../../extensions/hooks/hook-runner.ts';
import type { LastWrite } from '../../files/file-ledger.ts';
import type { JournalEvent } from '../../schema/events.ts';
import type { Usage } from '../../schema/usage.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import type { RootView } from '../../tools/root-view.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { AgentImage } from './agent-image.ts';

export type HostNotice =
  | { type: 'start'; image: AgentImage }
  /** The host has recorded something of the agent: its state follows from it. With the blocks that it names. */
  | { type: 'recorded'; event: JournalEvent; blocks: readonly FrozenBlock[] }
  /** What the run and everything above it has spent: kept by the host, held to by both. */
  | { type: 'spent'; records: readonly SpendingRecord[] };

export type AgentNotice =
  | { type: 'record'; event: JournalEvent }
  | { type: 'block'; digest: string; bytes: Uint8Array }
  | { type: 'wrote'; path: string; version: string }
  | { type: 'unlock'; lock: number }
  | { type: 'group'; group: number; runs: boolean };

/** What the agent's process asks of its host. */
export interface HostCalls {
  exchange: { asks: ExchangeCall; answer: ExchangeAnswer };
  permit: { asks: PermitRequest; answer: Permit };
  /** Runs a permitted call of a tool that is a function of the host. */
  tool: { asks: string; answer: ToolOutcome };
  hook: { asks: HookCall; answer: HookEffect };
  desk: { asks: DeskCall; answer: ToolOutcome | null };
  /** Of these open calls, those that started agents; then the report of one, or what can be said without waiting. */
  called: { asks: readonly string[]; answer: readonly string[] };
  report: { asks: { call: string; wait: boolean }; answer: ToolOutcome };
  lock: { asks: string; answer: LockAnswer };
  root: { asks: null; answer: RootView };
  commit: { asks: 'written' | 'synced'; answer: null };
  news: { asks: null; answer: null };
}

/** What the host asks of the agent's process. */
export interface AgentCalls {
  run: { asks: RunCall; answer: AgentResult };
  /** Releases what the agent acquired. */
  end: { asks: null; answer: null };
}

/** The line as the agent's process has it, and as its host has it. */
export interface AgentLine {
  sent: AgentNotice;
  received: HostNotice;
  calls: HostCalls;
  answers: AgentCalls;
}

export interface HostLine {
  sent: HostNotice;
  received: AgentNotice;
  calls: AgentCalls;
  answers: HostCalls;
}

export interface RunCall {
  /** What the run has had, in a process that is gone. */
  turns: number;
  /** What it and everything above it has spent. */
  totals: readonly SpendingRecord[];
}

export interface HookCall {
  event: HookEventName;
  fields: Readonly<Record<string, unknown>>;
}

export type ExchangeCall = Pick<ExchangeOptions, 'turn' | 'maxTokens' | 'partial' | 'aside' | 'instead'>;

export interface ExchangeAnswer {
  done: ModelExchange;
  /** Of all attempts, in order. */
  spent: readonly { usage: Usage; costUsd: number | null }[];
  /** With these: what the agent's process adds up by itself knows nothing of others. */
  totals: readonly SpendingRecord[];
}

export type DeskCall = { call: string } & (
  | { method: 'spawn'; request: SpawnRequest }
  | { method: 'send'; to: string; message: string }
  | { method: 'look'; id: string; wait: { block: boolean; timeoutMs: number } }
  | { method: 'stop'; id: string }
);

export interface LockAnswer {
  lock: number;
  last: LastWrite | undefined;
}
