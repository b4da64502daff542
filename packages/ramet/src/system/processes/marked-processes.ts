/**
 * Ends every process that carries a mark in its environment: also one that left its group by a session of its own. A
 * program that clears its environment is not found. Where the system does not tell, nothing is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess } from './process-identity.ts';

const LONGEST_MS = 2_000;
const PAUSE_MS = 10;

/** `mark` is `NAME=value`, of a value that nobody else has. What is started meanwhile is found by the next look. */
export async function endMarked(mark: string): Promise<void> {
  for (let waited = 0; waited <= LONGEST_MS; waited += PAUSE_MS) {
    const found = markedProcesses(mark);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await sleep(PAUSE_MS);
  }
}

function markedProcesses(mark: string): number[] {
  return processIds().filter((pid) => pid !== process.pid && isMarked(pid, mark));
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

function isMarked(pid: number, mark: string): boolean {
  try {
    const isThere = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
    return isThere && findProcess(pid)?.ended === false;
  } catch {
    return false; // it has ended, or belongs to another user
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}
