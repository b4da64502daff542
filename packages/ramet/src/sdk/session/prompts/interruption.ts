/** Interrupted work: agents of an earlier process are resumed (AGENT-5), and a run that would wait too long is ended. */
import { endingOfAbort } from '../../../engine/loop/run-state.ts';
import { closeCalls, hasOpenCalls } from '../../../engine/opening.ts';
import type { Agent, AgentFamily, AgentResult, RunOptions } from '../../../engine/shapes.ts';
import {
  agentsGivenUp,
  CONVERSATION_LOST,
  type CutOffAgent,
  cutOffAgents,
} from '../../../journal/projections/cut-off-agents.ts';
import { type Clock, wallOf } from '../../../schema/clock.ts';
import {
  type InterruptionCause,
  PROVIDER_CAUSE,
  type ProviderAway,
  UserMistake,
} from '../../../schema/errors.ts';
import { untilText } from '../../../schema/until-text.ts';
import { onAbort } from '../../../system/on-abort.ts';

export interface InterruptedWork {
  /** Prepares the main agent for a prompt; null resumes what was interrupted. */
  beforePrompt(prompt: string | null, signal: AbortSignal): Promise<void>;
  /** Returns how many agents resume. */
  resumeAgents(signal: AbortSignal): Promise<number>;
  /** What a run came to: not done while agents are left that a provider interrupted, nor where one was given up. */
  afterRun(
    result: AgentResult,
    options: Pick<Partial<RunOptions>, 'waitForChildren'> & { prompt: string | null; signal: AbortSignal },
  ): Promise<AgentResult>;
}

export function interruptedWork(parts: {
  agent: Agent;
  family: AgentFamily;
  isResumed: boolean;
  runEnd: RunEnd;
}): InterruptedWork {
  const { agent, family, isResumed, runEnd } = parts;
  // Most sessions begin here, or never had any agents: then nothing is loaded and nothing read.
  let isDue = isResumed && family.parts.lastNumber > 1;
  /** Under way; it may fail. */
  let resuming: Promise<unknown> | null = null;
  const resume = (prompted: boolean, signal: AbortSignal): Promise<number> => {
    const all = resumeAll(prompted, signal).finally(() => {
      resuming = null;
    });
    resuming = all;
    return all;
  };
  const resumeAll = async (prompted: boolean, signal: AbortSignal): Promise<number> => {
    isDue = false;
    const { resumeAgents } = await import('../../../engine/resume/resume-agents.ts');
    const count = await resumeAgents(family, agent, { prompted, signal });
    // It may have stopped halfway: the next one takes the rest.
    isDue = signal.aborted;
    return count;
  };
  return {
    async beforePrompt(prompt, signal) {
      // Reports that they were interrupted are taken back first: a turn would deliver them, and then they stay interrupted.
      await resuming?.catch(() => {});
      // Calls that wait for agents are left open by an interruption in this process too.
      if (isDue || (prompt === null && hasOpenCalls(agent))) await resume(prompt !== null, signal);
      if (prompt !== null) await closeCalls(agent);
    },
    resumeAgents: async (signal) => (isDue ? resume(false, signal) : 0),
    async afterRun(ended, { waitForChildren = true, prompt, signal }) {
      const isWhole = prompt !== null || !waitForChildren || (await endOfAgents(agent, signal));
      if (!isWhole) {
        isDue = true;
        return { ...ended, ...endingOfAbort(signal) };
      }
      const result = runEnd.explain(ended, agent.runtime.clock);
      if (result.status === 'done') family.team?.news.warnOfLeft(agent);
      if (family.parts.lastNumber === 1 || !(isResumed || runEnd.isReached)) return result;
      if (result.status === 'done' && waitForChildren)
        return withUndoneWork(result, await undoneWork(agent, family));
      isDue ||= result.cause === 'limit' || result.cause === PROVIDER_CAUSE;
      return result;
    },
  };
}

/**
 * Agents that a program of an earlier process had started: no call waits for them, so the turn has ended without them. False if
 * they were interrupted while the run waited.
 */
async function endOfAgents({ children }: Agent, signal: AbortSignal): Promise<boolean> {
  const waiting = children.running;
  if (waiting.length === 0) return true;
  const unlink = onAbort(signal, () => children.stop(String(signal.reason)));
  await Promise.all(waiting.map(({ result }) => result));
  unlink();
  return !signal.aborted;
}

interface UndoneWork {
  readonly left: readonly CutOffAgent[];
  readonly givenUp: readonly string[];
}

async function undoneWork(agent: Agent, family: AgentFamily): Promise<UndoneWork> {
  try {
    await agent.runtime.journal.commit('written');
    const reader = family.parts.openReader();
    try {
      const main = agent.spec.id;
      return { left: cutOffAgents(reader, main), givenUp: agentsGivenUp(reader, main) };
    } finally {
      reader.close();
    }
  } catch {
    // What a run came to does not depend on whether it can be read again.
    return { left: [], givenUp: [] };
  }
}

const MOST_NAMED = 5;

function withUndoneWork(result: AgentResult, { left, givenUp }: UndoneWork): AgentResult {
  const lost = `the conversation of ${named(givenUp)} is lost: check what is done of its work`;
  if (left.length === 0)
    return givenUp.length === 0
      ? result
      : { ...result, status: 'failed', cause: CONVERSATION_LOST, message: lost };
  const cause = left.every((agent) => agent.cause === 'limit') ? 'limit' : PROVIDER_CAUSE;
  const who = cause === 'limit' ? 'a usage limit' : 'the provider';
  const message = `${who} interrupted ${named(left.map(({ id }) => id))}, not resumed since`;
  const all = givenUp.length === 0 ? message : `${message}; ${lost}`;
  return { ...result, status: 'interrupted', cause, message: all };
}

/** `agents k3v9x2ab.2, k3v9x2ab.3`. */
function named(ids: readonly string[]): string {
  const rest = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : '';
  return `agent${ids.length === 1 ? '' : 's'} ${ids.slice(0, MOST_NAMED).join(', ')}${rest}`;
}

/**
 * Interrupts all work when a provider limits requests, or is away, for longer than the session may wait (settings
 * `limits.waitSeconds`, `limits.outageSeconds`). It can be resumed.
 */
export class RunEnd {
  #cause: InterruptionCause | null = null;
  #message: (clock: Clock) => string = () => '';
  /** Whether the run that is under way has reached it. */
  #isOver = false;
  #onReached: ((cause: InterruptionCause) => void) | null = null;

  /** Of a run that begins: ends whatever is under way. */
  set onReached(end: (cause: InterruptionCause) => void) {
    this.#onReached = end;
    this.#isOver = false;
  }

  get isReached(): boolean {
    return this.#cause !== null;
  }

  /** `until` is by the clock that `explain` is given. */
  limited(model: string, until: number): void {
    // Of two refusals the one that says until when is told.
    if (this.#isOver && this.#cause !== 'limit') return;
    this.#reach('limit', (clock) => {
      const wall = wallOf(clock);
      return `${model} is limited until ${untilText(wall + until - clock.now(), wall)}`;
    });
  }

  /** What ended the run counts: requests that were under way are refused after that. */
  away({ code, message }: ProviderAway): void {
    if (!this.#isOver) this.#reach(code, () => message);
  }

  /** The result with the reason and, if known, when to resume. */
  explain(result: AgentResult, clock: Clock): AgentResult {
    if (this.#cause === null || result.cause !== this.#cause) return result;
    return { ...result, message: this.#message(clock) };
  }

  #reach(cause: InterruptionCause, message: (clock: Clock) => string): void {
    this.#cause = cause;
    this.#message = message;
    this.#isOver = true;
    this.#onReached?.(cause);
  }
}

/** Ends the agents of the session, and whatever else looks at the signal, when the provider refuses for too long. */
export function abortAtEnd({ agent, runEnd }: { agent: Agent; runEnd: RunEnd }): AbortController {
  const abort = new AbortController();
  runEnd.onReached = (cause) => {
    abort.abort(cause);
    agent.children.stop(cause);
  };
  return abort;
}

/** Returns the unsubscribe function. */
export function linkSignal(
  { children }: Agent,
  abort: AbortController,
  { signal, waitForChildren }: Partial<RunOptions>,
): () => void {
  if (signal === undefined) return () => {};
  return onAbort(signal, () => {
    abort.abort(signal.reason);
    // A run that would have waited for them is over for them too; their commands end while its own do.
    if (waitForChildren !== false) children.stop(String(signal.reason));
  });
}

/** Its parts, until it begins to close. */
export function whileOpen<Parts>(parts: Parts, closing: AbortSignal): Parts {
  if (!closing.aborted) return parts;
  throw sessionClosed();
}

export function sessionClosed(): UserMistake {
  return new UserMistake('session_closed', 'this session is closed: open it again with resume');
}
