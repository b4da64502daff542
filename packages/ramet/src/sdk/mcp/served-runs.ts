/**
 * The runs that a program has asked for over the protocol: agents and task files. Each is a session of this machine like
 * any other, so `ramet ps`, `cost` and `resume` know it.
 *
 * Invariants
 * 1. Starting a run answers as soon as its session is there; waiting for it has a bound.
 * 2. When the program goes away, what runs is interrupted and can be resumed.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentResult } from '../../engine/shapes.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { isInside } from '../../system/landing-path.ts';
import { summaryOf } from '../../views/operator/run-summary.ts';
import type { Caller } from '../calls/caller.ts';
import { status } from '../calls/status.ts';
import { stop } from '../calls/stop.ts';
import { recordedRun } from '../operator/recorded-runs.ts';
import { requireSessionMode } from '../options.ts';
import { findPlace } from '../place.ts';
import { openSession } from '../session/session.ts';
import type { Session } from '../session/session-type.ts';

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

/** A run as a program sees it. */
export interface ServedRun {
  session: string;
  running: boolean;
  /** `running`, `succeeded`, `failed` and so on. */
  status: string;
  /** Why it ended so; null while it runs and where nothing is to be said. */
  cause: string | null;
  /** The last answer; null before there is one. */
  text: string | null;
  cost_usd: number | null;
  turns: number;
  agents: { id: string; type: string; status: string; description: string | null; progress: string | null }[];
  /** Of a run of tasks. */
  tasks?: Record<string, number>;
  /** What to do next, in words. */
  next: string;
}

interface OwnRun {
  readonly session: string;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  isOver: boolean;
  result: AgentResult | null;
  problem: string | null;
}

/** Why runs end whose program has gone: their sessions can be resumed. */
const CLIENT_GONE = 'client_gone';

export class ServedRuns implements AsyncDisposable {
  readonly #caller: Caller;
  readonly #mode: string | undefined;
  readonly #runs = new Map<string, OwnRun>();

  constructor(caller: Caller, mode: string | undefined) {
    this.#caller = caller;
    this.#mode = mode;
  }

  async startAgent(order: AgentOrder): Promise<ServedRun> {
    const { cwd, type, prompt, session: resumed, model, budget_usd: usd, max_turns: maxTurns } = order;
    if (resumed === undefined && (prompt === undefined || prompt.trim() === ''))
      throw new UserMistake('no_prompt', 'give a prompt: what the agent is to do');
    if (resumed !== undefined && this.#runs.get(resumed)?.isOver === false)
      throw new UserMistake('session_busy', `the session ${resumed} is still running`);
    const session = await openSession({
      cwd: this.#directory(cwd),
      env: this.#caller.env,
      ...(resumed === undefined ? { title: prompt ?? '' } : { resume: resumed }),
      ...(model !== undefined && { model }),
      ...(usd !== undefined && { budget: { usd } }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(this.#mode !== undefined && { permissionMode: requireSessionMode(this.#mode) }),
    });
    this.#follow(session.id, async (signal) => {
      await using open = session;
      // Awaited here: the session ends with this function.
      return await (type === undefined
        ? answer(open, prompt ?? null, signal)
        : childAnswer(open, type, prompt ?? '', signal));
    });
    return this.view(session.id);
  }

  async startTasks(order: TasksOrder): Promise<ServedRun> {
    const { file, session: resume, budget_usd: maxBudgetUsd, parallel, check } = order;
    if ((file === undefined) === (resume === undefined))
      throw new UserMistake('no_tasks', 'give either file, a list of tasks, or session, a run to resume');
    const { operateTasks } = await import('../operator/operate.ts');
    const begun = Promise.withResolvers<string>();
    const abort = new AbortController();
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
    running.catch(begun.reject);
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

  /** A run of this process, or a session that an earlier one has left. */
  view(session: string): ServedRun {
    const own = this.#runs.get(session);
    const { cwd, env } = this.#caller;
    const found = status({ cwd, env }).find((one) => one.session.session.startsWith(session));
    if (found === undefined)
      throw new UserMistake('no_session', `there is no session ${session}: list_runs names those there are`);
    const id = found.session.session;
    const agents = found.agents.map(({ agent }) => agent);
    const [main] = agents;
    const running = own?.isOver === false;
    const tasks = tasksOf(findPlace({ cwd, env }).project, id);
    const costs = agents.map(({ costUsd }) => costUsd);
    return {
      session: id,
      running,
      status: own?.problem ? 'failed' : (own?.result?.status ?? main?.status ?? 'starting'),
      cause: own?.problem ?? (own?.result ?? main)?.message ?? (own?.result ?? main)?.cause ?? null,
      text: own?.result?.text ?? null,
      cost_usd: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
      turns: agents.reduce((sum, { turns }) => sum + turns, 0),
      agents: agents.map(({ id: agent, type, status: how, description, progress }) => ({
        ...{ id: agent, type, status: how, description, progress },
      })),
      ...(tasks !== null && { tasks }),
      next: running
        ? 'it runs: wait_for_run waits for it, stop_run ends it'
        : `it does not run now: ramet show ${id} shows it, and it can be continued by its session`,
    };
  }

  list(): ServedRun[] {
    const { cwd, env } = this.#caller;
    return status({ cwd, env, limit: 20 }).map(({ session }) => this.view(session.session));
  }

  /** Returns as soon as the run has ended, and after `seconds` in any case. */
  async wait(session: string, seconds: number, signal: AbortSignal): Promise<ServedRun> {
    const id = this.view(session).session;
    const own = this.#runs.get(id);
    if (own !== undefined && !own.isOver) {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1_000)]);
      const waited = new Promise<void>((done) =>
        timeout.addEventListener('abort', () => done(), { once: true }),
      );
      await Promise.race([own.ended, waited]);
    }
    return this.view(id);
  }

  async stop(session: string): Promise<ServedRun> {
    const id = this.view(session).session;
    const own = this.#runs.get(id);
    if (own === undefined) await stop(id, this.#caller);
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

  /** Agents work in the repository that the server was started in, and nowhere else. */
  #directory(wanted: string | undefined): string {
    const { cwd, env } = this.#caller;
    const place = findPlace({ cwd, env });
    const root = place.repository?.root ?? place.cwd;
    if (wanted === undefined) return place.cwd;
    const path = realOf(resolve(place.cwd, wanted));
    if (path !== null && isInside(path, root)) return path;
    throw new UserMistake(
      'outside',
      `${wanted} is not a directory inside of ${root}, where this server works`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const { abort } of runs) abort.abort(CLIENT_GONE);
    await Promise.all(runs.map(({ ended }) => ended));
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

async function answer(session: Session, prompt: string | null, signal: AbortSignal): Promise<AgentResult> {
  const run = session.run(prompt, { signal });
  for (;;) {
    const { done, value } = await run.next();
    if (done) return value;
  }
}

async function childAnswer(
  session: Session,
  type: string,
  prompt: string,
  signal: AbortSignal,
): Promise<AgentResult> {
  const [description = type] = prompt.trim().split('\n');
  const handle = await session.spawn({ prompt, description: description.slice(0, 80), subagent_type: type });
  signal.addEventListener('abort', () => handle.stop('stopped'), { once: true });
  return handle.result;
}

function tasksOf(project: string, session: string): Record<string, number> | null {
  const state = recordedRun(project, session);
  return state.run === null ? null : Object.fromEntries(summaryOf(state).counts);
}
