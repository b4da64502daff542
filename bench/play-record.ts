/** What the cache server notes of one request, and what is read out of that. */
import type { PromptBill } from './prompt-cache.ts';

export interface PlayRecord extends PromptBill {
  /** When it arrived and when its answer had been sent (`process.hrtime`), in nanoseconds. */
  at: string;
  endedAt: string;
  /** Null for the parent. */
  child: number | null;
  bytes: number;
  /** Of the parent: the children whose reports its last message holds, in order. */
  reports: number[];
}

/** Input-token equivalents: a write is 1.25, a read 0.1. */
export function costOf(records: readonly PlayRecord[]): number {
  return records.reduce((sum, { input, write, read }) => sum + input + 1.25 * write + 0.1 * read, 0);
}

export function ofChildren(records: readonly PlayRecord[]): PlayRecord[] {
  return records.filter(({ child }) => child !== null);
}

export function ofParent(records: readonly PlayRecord[]): PlayRecord[] {
  return records.filter(({ child }) => child === null);
}

/** Milliseconds from one of the server's times to another. */
export function msBetween(from: string, to: string): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}
