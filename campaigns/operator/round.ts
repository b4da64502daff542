/** One round: a run is begun, killed once or several times, resumed each time, and looked at when it has ended. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOverview } from '../../packages/ramet/src/sdk/operator/control/ask-operator.ts';
import { endProcess } from '../kill/processes.ts';
import type { Chance } from '../kill/random.ts';
import type { Run, RunEnd } from '../kill/world.ts';
import { type Aim, carryOut, chooseAim, type Measured } from './aim.ts';
import { problemsOf } from './checks.ts';
import { collect, type SavedWork, savedWork } from './evidence.ts';
import { OperatorPlace } from './place.ts';
import type { OperatorPlan } from './plan.ts';

export interface OperatorKill extends Aim {
  /** What died. */
  what: string;
  /** Whether it was a resumed run. */
  resumed: boolean;
  /** How the tasks were, as the journal has it. */
  statuses: string[];
}

export interface OperatorRound {
  plan: string;
  kills: OperatorKill[];
  problems: string[];
  ms: number;
  resumeMs: number[];
}

export interface Known extends Measured {
  tree: string;
}

export interface RoundOptions {
  known: Known;
  chance: Chance;
  mostKills: number;
  keep?: string;
  stopped?: AbortSignal;
}

/** It may be slow where the machine is busy: what it takes is what others are compared with. */
const LONGEST_UNDISTURBED_MS = 300_000;

/** The plan without any kill. */
export async function undisturbedRun(plan: OperatorPlan, stopped?: AbortSignal): Promise<Known> {
  const longestRun = async (): Promise<number> => LONGEST_UNDISTURBED_MS;
  await using place = await OperatorPlace.open(plan, { stopped, longestRun });
  const run = place.world.start('operate', '../tasks.md', ...plan.flags);
  const end = await run.ended;
  const evidence = await collect(place, end);
  const problems = problemsOf(evidence, { tree: evidence.tree, saved: { commits: [], files: [] } });
  if (problems.length > 0)
    throw new Error(`the undisturbed run of ${plan.name} is not sound: ${problems.join('; ')}`);
  const lines = end.stdout.split('\n').length;
  return { tree: evidence.tree, ms: end.ms, lines, requests: place.requests };
}

export async function killedRun(plan: OperatorPlan, options: RoundOptions): Promise<OperatorRound> {
  const { stopped } = options;
  // A machine that is busy now was perhaps not when the plan was measured.
  const longestRun = (): Promise<number> =>
    undisturbedRun(plan, stopped).then(
      ({ ms }) => TIMES_UNDISTURBED * ms,
      () => 0,
    );
  await using place = await OperatorPlace.open(plan, { stopped, longestRun });
  const result = await new KilledRun(place, options).play();
  if (options.keep !== undefined && result.problems.length > 0 && options.stopped?.aborted !== true) {
    cpSync(place.world.root, options.keep, { recursive: true, verbatimSymlinks: true });
    writeFileSync(join(options.keep, 'round.json'), JSON.stringify(result, null, 1));
  }
  return result;
}

/** A run hangs that takes this many times as long as one without kills does now. */
const TIMES_UNDISTURBED = 10;
const ASKS: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'Ctrl-C']);
/** Who is interrupted again saves and ends at once. */
const SECOND_SHARE = 0.6;

class KilledRun {
  readonly #place: OperatorPlace;
  readonly #options: RoundOptions;
  readonly #kills: OperatorKill[] = [];
  readonly #resumeMs: number[] = [];
  readonly #saved: SavedWork = { commits: [], files: [] };
  readonly #began = performance.now();

  constructor(place: OperatorPlace, options: RoundOptions) {
    [this.#place, this.#options] = [place, options];
  }

  async play(): Promise<OperatorRound> {
    const { chance, mostKills, known } = this.#options;
    const hasProcesses = this.#place.plan.name.endsWith(', process');
    for (let left = 1 + chance.below(mostKills); ; left--) {
      const state = this.#state();
      if (state.status === 'over') return this.#result(null);
      const aim = left > 0 ? chooseAim(chance, known, hasProcesses) : null;
      const { end, killed } = await this.#run(state.status === 'open', aim);
      // Who was not killed comes to its end. Who outlives a part of it may, too.
      if (!killed || end.hung) return this.#result(end);
    }
  }

  #state(): { status: 'none' | 'open' | 'over'; tasks: string[] } {
    const { world } = this.#place;
    try {
      const { status, tasks } = runOverview({ cwd: world.repository, env: world.env });
      const now = tasks.map((task) => `${task.task.id} ${task.status}`);
      const isDone = status === 'ended' && tasks.every((task) => task.status === 'done');
      return { status: isDone ? 'over' : 'open', tasks: now };
    } catch {
      return { status: 'none', tasks: [] };
    }
  }

  async #run(resumed: boolean, aim: Aim | null): Promise<{ end: RunEnd; killed: boolean }> {
    const { world, plan } = this.#place;
    const { chance } = this.#options;
    const args = resumed ? ['--resume', ...PERMITTED] : ['../tasks.md', ...plan.flags];
    const run = world.start('operate', ...args);
    const what = aim === null ? null : await carryOut(aim, run, this.#place, chance);
    if (aim !== null && what !== null) await this.#afterKill(aim, run, { what, resumed });
    const end = await run.ended;
    if (resumed) this.#resumeMs.push(end.ms);
    return { end, killed: what !== null };
  }

  async #afterKill(aim: Aim, run: Run, told: { what: string; resumed: boolean }): Promise<void> {
    const { chance } = this.#options;
    this.#kills.push({ ...aim, ...told, statuses: this.#state().tasks });
    if (ASKS.has(aim.target) && chance.holds(SECOND_SHARE)) {
      await Promise.race([run.ended, sleep(chance.next() * 300)]);
      if (!run.isOver) endProcess(aim.target === 'Ctrl-C' ? -run.pid : run.pid, 'SIGINT');
    }
    await run.ended;
    const { commits, files } = savedWork(this.#place);
    this.#saved.commits.push(...commits);
    this.#saved.files.push(...files);
    // A moment later, or at once: who resumes may find what the dead one had started still running.
    if (chance.holds(0.5)) await sleep(chance.next() * 80);
  }

  async #result(end: RunEnd | null): Promise<OperatorRound> {
    const problems = await this.#problems(end);
    const ms = performance.now() - this.#began;
    return { plan: this.#place.plan.name, kills: this.#kills, problems, ms, resumeMs: this.#resumeMs };
  }

  async #problems(end: RunEnd | null): Promise<string[]> {
    try {
      const evidence = await collect(this.#place, end);
      return problemsOf(evidence, { tree: this.#options.known.tree, saved: this.#saved });
    } catch (error) {
      return [`the round cannot be read: ${String(error)}; it had said ${JSON.stringify(end?.stderr)}`];
    }
  }
}

const PERMITTED = ['--permission-mode', 'bypassPermissions'];
