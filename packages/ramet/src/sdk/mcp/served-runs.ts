/**
 * The runs that a program has asked for over the protocol: agents and task files. Each is a session of this machine like
 * any other, so `ramet ps`, `cost` and `resume` know it.
 *
 * Invariants
 * 1. Starting a run answers as soon as its session is there; waiting for it has a bound.
 * 2. When the program goes away, what runs is interrupted and can be resumed.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentHandle, AgentResult } from '../../engine/shapes.ts';
import { findSession, type SessionEntry } from '../../journal/session-list.ts';
import { systemClock } from '../../schema/clock.ts';
import { Cancelled, describeError, UserMistake } from '../../schema/errors.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { existingPath, isInside } from '../../system/landing-path.ts';
import { onAbort } from '../../system/on-abort.ts';
import { LastAnswers } from '../../views/exchanges.ts';
import { foldEntries, type SessionView, viewEntry } from '../../views/session-view.ts';
import type { Caller } from '../calls/caller.ts';
import { refuseUnknownType } from '../calls/session-defaults.ts';
import { stop } from '../calls/stop.ts';
import { requireSessionMode } from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { openSession } from '../session/session.ts';
import type { Session } from '../session/session-type.ts';
import { describeRun, type OwnRun, type ServedRun } from './served-run.ts';

export interface AgentOrder {
  prompt?: string | undefined;
  type?: string | undefined;
  cwd?: string | undefined;
  model?: string | undefined;
  budget_usd?: number | undefined;
  max_turns?: number | undefined;
  /** A session to continue. */
  session?: string | undefined;
}

export interface TasksOrder {
  file?: string | undefined;
  session?: string | undefined;
  budget_usd?: number | undefined;
  parallel?: number | undefined;
  check?: string | undefined;
}

const MOST_LISTED = 20;
const LOOK_AGAIN_MS = 500;

/** Why runs end whose program has gone: their sessions can be resumed. */
const CLIENT_GONE = 'client_gone';

export class ServedRuns implements AsyncDisposable {
  readonly #caller: Caller;
  readonly #mode: string | undefined;
  readonly #place: Place;
  readonly #runs = new Map<string, OwnRun>();
  /** Runs that have no session yet. */
  readonly #starting = new Set<Promise<unknown>>();
  /** The program has gone. */
  readonly #closing = new AbortController();

  constructor(caller: Caller, mode: string | undefined) {
    this.#caller = caller;
    this.#mode = mode;
    this.#place = findPlace(caller);
  }

  /** `signal`: the program has taken the order back. */
  startAgent(order: AgentOrder, signal?: AbortSignal): Promise<ServedRun> {
    return this.#start(this.#openAgent(order, signal));
  }

  startTasks(order: TasksOrder): Promise<ServedRun> {
    return this.#start(this.#openTasks(order));
  }

  /** Who ends waits for what is about to start, and ends it too. */
  async #start(starting: Promise<ServedRun>): Promise<ServedRun> {
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  async #openAgent(order: AgentOrder, signal: AbortSignal | undefined): Promise<ServedRun> {
    const { cwd, type, session: resumed, model, budget_usd: usd, max_turns: maxTurns } = order;
    const prompt = order.prompt?.trim() ? order.prompt : null;
    // An agent of a type is a new one, whatever its session has left to do.
    if (prompt === null && (resumed === undefined || type !== undefined))
      throw new UserMistake('no_prompt', 'give a prompt: what the agent is to do');
    const directory = this.#directory(cwd);
    const { env } = this.#caller;
    // Before there is a session that nobody uses.
    if (type !== undefined) await refuseUnknownType({ cwd: directory, env }, type);
    const earlier = resumed === undefined ? undefined : this.#find(resumed).session;
    if (earlier !== undefined && this.#runs.get(earlier)?.isOver === false)
      throw new UserMistake('session_busy', `the session ${earlier} is still running`);
    const session = await openSession({
      ...{ cwd: directory, env, team: false },
      ...(earlier === undefined ? { title: prompt ?? '' } : { resume: earlier }),
      ...(model !== undefined && { model }),
      ...(usd !== undefined && { budget: { usd } }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(this.#mode !== undefined && { permissionMode: requireSessionMode(this.#mode) }),
    });
    if (this.#closing.signal.aborted || signal?.aborted === true) {
      await session[Symbol.asyncDispose]();
      throw new Cancelled();
    }
    const child = type === undefined ? null : await startedChild(session, type, prompt ?? '');
    this.#follow(session.id, async (signal) => {
      await using open = session;
      // Awaited here: the session ends with this function.
      return await (child === null ? answer(open, prompt, signal) : childAnswer(child, signal));
    });
    return this.view(session.id);
  }

  async #openTasks(order: TasksOrder): Promise<ServedRun> {
    const { file, session: resume, budget_usd: maxBudgetUsd, parallel, check } = order;
    if ((file === undefined) === (resume === undefined))
      throw new UserMistake('no_tasks', 'give either file, a list of tasks, or session, a run to resume');
    const { operateTasks } = await import('../operator/operate.ts');
    const begun = Promise.withResolvers<string>();
    const abort = new AbortController();
    const unlink = onAbort(this.#closing.signal, () => abort.abort(CLIENT_GONE));
    const { cwd, env } = this.#caller;
    if (file !== undefined) this.#directory(resolve(cwd, file, '..'));
    const running = operateTasks(file, {
      ...{ cwd, env, signal: abort.signal, onBegin: ({ session }) => begun.resolve(session) },
      ...(resume !== undefined && { resume }),
      ...(maxBudgetUsd !== undefined && { maxBudgetUsd }),
      ...(parallel !== undefined && { parallel }),
      ...(check !== undefined && { check }),
      ...(this.#mode !== undefined && { permissionMode: requireSessionMode(this.#mode) }),
    });
    // Also one that is over before it begins: a file of tasks that are all done.
    running.then((outcome) => begun.resolve(outcome.session), begun.reject).finally(unlink);
    const session = await begun.promise;
    this.#follow(
      session,
      async () => {
        await running;
        return undefined;
      },
      abort,
    );
    return this.view(session);
  }

  /** A run of this process, or a session of another one. A beginning of its id is enough. */
  view(session: string): ServedRun {
    const { project } = this.#place;
    const entry = this.#find(session);
    const answers = new LastAnswers();
    using opened = viewEntry(project, entry, (recorded) => answers.take(recorded));
    return describeRun(opened, answers, this.#runs.get(opened.entry.session));
  }

  list(): ServedRun[] {
    return foldEntries(this.#place.project, MOST_LISTED, this.#caller, () => {
      const answers = new LastAnswers();
      return {
        take: (recorded: RecordedEvent) => answers.take(recorded),
        read: (opened: SessionView) => describeRun(opened, answers, this.#runs.get(opened.entry.session)),
      };
    });
  }

  /** Returns as soon as the run has ended, and after `seconds` in any case. */
  async wait(session: string, seconds: number, signal: AbortSignal): Promise<ServedRun> {
    const id = this.#find(session).session;
    const own = this.#runs.get(id);
    const timeout = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(seconds * 1_000)]);
    const waited = new Promise<void>((done) => void onAbort(timeout, done));
    if (own !== undefined) await Promise.race([own.ended, waited]);
    // A run of another process is read again and again.
    else
      while (!timeout.aborted && this.view(id).running)
        await Promise.race([systemClock.sleep(LOOK_AGAIN_MS, timeout).catch(() => {}), waited]);
    return this.view(id);
  }

  async stop(session: string): Promise<ServedRun> {
    const id = this.#find(session).session;
    const own = this.#runs.get(id);
    if (own === undefined || own.isOver) await stop(id, this.#caller);
    else {
      own.abort.abort('stopped');
      await own.ended;
    }
    return this.view(id);
  }

  #follow(
    session: string,
    work: (signal: AbortSignal) => Promise<AgentResult | undefined>,
    abort = new AbortController(),
  ): void {
    const run: { -readonly [Key in keyof OwnRun]: OwnRun[Key] } = {
      ...{ session, abort, ended: Promise.resolve(), isOver: false, result: null, problem: null },
    };
    run.ended = (async () => {
      try {
        run.result = (await work(abort.signal)) ?? null;
      } catch (error) {
        run.problem = describeError(error);
      } finally {
        run.isOver = true;
      }
    })();
    this.#runs.set(session, run);
  }

  #find(session: string): SessionEntry {
    return findSession(this.#place.project, session);
  }

  /** Agents work in the repository that the server was started in, and nowhere else. */
  #directory(wanted: string | undefined): string {
    const place = this.#place;
    const root = place.repository?.root ?? place.cwd;
    if (wanted === undefined) return place.cwd;
    const path = existingPath(resolve(place.cwd, wanted));
    if (path !== null && isInside(path, root) && statSync(path).isDirectory()) return path;
    throw new UserMistake(
      'outside',
      `${wanted} is not a directory inside of ${root}, where this server works`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(CLIENT_GONE);
    await Promise.allSettled(this.#starting);
    const runs = [...this.#runs.values()];
    for (const { abort } of runs) abort.abort(CLIENT_GONE);
    await Promise.all(runs.map(({ ended }) => ended));
  }
}

async function answer(session: Session, prompt: string | null, signal: AbortSignal): Promise<AgentResult> {
  const run = session.run(prompt, { signal });
  for (;;) {
    const { done, value } = await run.next();
    if (done) return value;
  }
}

/** A type that there is not is refused at once, and nothing stays open for it. */
async function startedChild(session: Session, type: string, prompt: string): Promise<AgentHandle> {
  const [description = type] = prompt.trim().split('\n');
  try {
    return await session.spawn({ prompt, description: description.slice(0, 80), subagent_type: type });
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

function childAnswer(handle: AgentHandle, signal: AbortSignal): Promise<AgentResult> {
  const unlink = onAbort(signal, () => handle.stop('stopped'));
  return handle.result.finally(unlink);
}
