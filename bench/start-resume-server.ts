/** Starts the server of the resume benchmark, tells it what to play, and asks it what it saw. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PromptBill } from './prompt-cache.ts';

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

export interface ResumeServer extends Disposable {
  url: string;
  play(what: ResumePlay): Promise<void>;
  records(): Promise<ResumeRecord[]>;
}

export async function startResumeServer(): Promise<ResumeServer> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/resume-server.ts`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the server has no output');
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    url,
    async play(what) {
      await fetch(`${url}/play`, { method: 'POST', body: JSON.stringify(what) });
    },
    async records() {
      const answer = await fetch(`${url}/records`);
      // The server is ours, and this is what it notes.
      return (await answer.json()) as ResumeRecord[];
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
