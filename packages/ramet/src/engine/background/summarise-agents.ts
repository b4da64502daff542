/**
 * One line on what a long-running child is doing (BG-8). A fork of the child says it, without tools and without the child
 * noticing; it becomes the child's progress line, which `ramet ps` and the live view show.
 */
import type { Agent } from '../agent/agent.ts';
import type { AgentFamily } from '../children/family.ts';
import { reportProgress } from '../loop/stop-reason.ts';
import type { BackgroundForks } from './background-forks.ts';
import { type BackgroundWork, NO_TOOLS, ONE_ANSWER } from './background-work.ts';

export const SUMMARISE_AGENT = 'Say in one line what you are doing now.';

const TASK = `${SUMMARISE_AGENT} At most 12 words, in the present tense, with what is done so far; no heading and nothing else. Call no tool.`;

interface WatchedChild {
  /** When it was first seen, or last summed up. */
  since: number;
  /** Its requests then: one that has not moved needs no other line. */
  requests: number;
}

/** Looks at children from the first one on until none runs. */
export class AgentSummaries {
  readonly #family: AgentFamily;
  readonly #afterMs: number;
  readonly #forks: () => Promise<BackgroundForks>;
  readonly #watched = new Map<string, WatchedChild>();
  readonly #over = new AbortController();
  #isWatching = false;

  constructor(family: AgentFamily, afterMs: number, forks: () => Promise<BackgroundForks>) {
    this.#family = family;
    this.#afterMs = afterMs;
    this.#forks = forks;
  }

  /** A child has begun. Returns at once. */
  childBegan(main: Agent): void {
    if (!this.#isWatching) void this.#watch(main);
  }

  close(): void {
    this.#over.abort();
  }

  async #watch({ runtime: { clock } }: Agent): Promise<void> {
    this.#isWatching = true;
    this.#note(clock.now());
    while (!this.#over.signal.aborted && this.#family.running.length > 0) {
      await clock.sleep(this.#afterMs / 2, this.#over.signal, { keepsAlive: false });
      this.#note(clock.now());
      const child = this.#due(clock.now());
      if (child !== null && !this.#over.signal.aborted) await this.#sumUp(child, clock.now());
    }
    this.#isWatching = false;
  }

  #note(now: number): void {
    const running = new Set(this.#family.running.map(({ id }) => id));
    for (const id of this.#watched.keys()) if (!running.has(id)) this.#watched.delete(id);
    for (const id of running) if (!this.#watched.has(id)) this.#watched.set(id, { since: now, requests: 0 });
  }

  /** The one that has waited longest. */
  #due(now: number): Agent | null {
    const waiting = [...this.#watched].filter(([, { since }]) => now - since >= this.#afterMs);
    waiting.sort(([, one], [, other]) => one.since - other.since);
    for (const [id, { requests }] of waiting) {
      const child = this.#family.find(id);
      if (child !== undefined && child.state.requests > requests && child.previousEnd !== null) return child;
    }
    return null;
  }

  async #sumUp(child: Agent, now: number): Promise<void> {
    this.#watched.set(child.spec.id, { since: now, requests: child.state.requests });
    (await this.#forks()).begin(summaryOf(this.#family), { agent: child, prompts: child.prompts.length });
  }
}

function summaryOf(family: AgentFamily): BackgroundWork {
  return {
    source: 'summary',
    description: 'what its agent is doing',
    limits: ONE_ANSWER,
    canUseTool: NO_TOOLS,
    endsWithPrompt: false,
    isForWorking: true,
    due: ({ agent }) => ({
      task: TASK,
      take({ answer }) {
        const lines = answer.split('\n').map((line) => line.replace(/^\s*Scope:/i, '').trim());
        const line = lines.findLast((text) => text !== '');
        if (line !== undefined && family.find(agent.spec.id) === agent) reportProgress(agent, line);
      },
    }),
  };
}
