/**
 * One round: a plan is begun, killed once or several times, resumed each time, and looked at when it has ended. What
 * happens when is chosen by the round's own chance, so a round can be repeated by its number.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Aim, chooseAim, type Expected, moment } from './aim.ts';
import { problemsOf, type Undisturbed } from './checks.ts';
import { collect, type Evidence } from './evidence.ts';
import { type KillPhase, phasesOf } from './phase.ts';
import { everyAgent, type RoundPlan } from './plan.ts';
import { copiedEnd, losePower } from './power-loss.ts';
import { agentProcesses, endProcess } from './processes.ts';
import type { Chance } from './random.ts';
import { begunRound, type RecordedRound } from './recorded.ts';
import { Stage } from './stage.ts';
import { type Run, type RunEnd, World } from './world.ts';

export const TARGETS = ['host', 'agent process', 'host and agent processes', 'SIGINT', 'SIGTERM'] as const;
export type KillTarget = (typeof TARGETS)[number];

export interface Kill {
  aim: Aim['kind'];
  target: KillTarget;
  phases: KillPhase[];
  /** Bytes that a power cut took from the WAL; null when there was none. */
  lost: number | null;
  /** Whether it was a resumed process. */
  resumed: boolean;
}

export interface RoundResult {
  plan: string;
  kills: Kill[];
  problems: string[];
  ms: number;
  /** From the start of each resumed process to its end. */
  resumeMs: number[];
}

export interface RoundOptions {
  expected: Expected;
  undisturbed: Undisturbed;
  chance: Chance;
  /** Whether journals lose what was not synced. */
  power: boolean;
  mostKills: number;
  /** Where the place of a failed round is copied to. */
  keep?: string;
  /** The user wants no more of it. */
  stopped?: AbortSignal;
}

export const PROMPT = '[task root] Do the work.';
export const ALLOWED: readonly string[] = ['--permission-mode', 'bypassPermissions'];
const PROMPTED_SHARE = 0.1;

/** The plan without any kill: what every round is compared with. */
export async function undisturbedRun(plan: RoundPlan): Promise<Undisturbed & Expected> {
  await using stage = await Stage.open(plan);
  await using world = new World(plan, stage.emulator.url);
  const end = await world.start('-p', PROMPT, ...ALLOWED).ended;
  const evidence = await collect({ plan, stage, world }, end, false);
  const reports = Array.from(
    evidence.recorded.agents.values(),
    ({ task, lastText }) => [task, lastText] as const,
  );
  const found = {
    reports: new Map(reports),
    files: evidence.files,
    ms: end.ms,
    requests: stage.asked.length,
    effects: evidence.effects.length,
  };
  const problems = problemsOf(evidence, { undisturbed: found, mayBeGivenUp: false });
  const missing = everyAgent(plan.root).filter(({ task }) => !found.reports.get(task)?.startsWith('Scope: '));
  if (problems.length > 0 || missing.length > 0) {
    throw new Error(`the undisturbed run of ${plan.name} is not sound: ${problems.join('; ')}`);
  }
  return found;
}

export async function killedRun(plan: RoundPlan, options: RoundOptions): Promise<RoundResult> {
  await using stage = await Stage.open(plan);
  await using world = new World(plan, stage.emulator.url, { stopped: options.stopped });
  // Waited for here: what was opened is closed when this returns.
  const result = await new KilledRun(plan, stage, world, options).play();
  const stopped = options.stopped?.aborted === true;
  if (options.keep !== undefined && result.problems.length > 0 && !stopped)
    keepPlace(options.keep, { stage, world }, result);
  return result;
}

/** To find the cause: the place as it was left, what was asked of the server, what was wrong. */
function keepPlace(to: string, { stage, world }: { stage: Stage; world: World }, result: RoundResult): void {
  cpSync(world.root, to, { recursive: true });
  const asked = stage.asked.map(({ record, ...rest }) => ({ ...rest, outcome: record?.outcome }));
  writeFileSync(join(to, 'round.json'), JSON.stringify({ ...result, asked }, null, 1));
}

class KilledRun {
  readonly #place: { plan: RoundPlan; stage: Stage; world: World };
  readonly #options: RoundOptions;
  readonly #kills: Kill[] = [];
  readonly #resumeMs: number[] = [];
  readonly #began = performance.now();
  #prompted = false;

  constructor(plan: RoundPlan, stage: Stage, world: World, options: RoundOptions) {
    this.#place = { plan, stage, world };
    this.#options = options;
  }

  async play(): Promise<RoundResult> {
    const { chance, mostKills } = this.#options;
    for (let left = 1 + chance.below(mostKills); ; left--) {
      const state = this.#state();
      if (state === 'ended') return this.#result(null, true);
      const { end, killed } = await this.#run(state, left > 0 ? this.#aim() : null);
      // Who is not killed comes to its end: nobody has to be resumed twice.
      if (!killed || end.hung) return this.#result(end, false);
    }
  }

  #aim(): Aim {
    const { chance, expected } = this.#options;
    const aim = chooseAim(chance, expected, this.#place.plan.name);
    const { settings, root } = this.#place.plan;
    const atAgents = settings !== null && root.children.length > 0 && chance.holds(0.6);
    return { ...aim, atAgents };
  }

  /** What there is to go on from. */
  #state(): 'nothing' | 'open' | 'ended' {
    const main = this.#recorded()?.agents.values().next().value;
    if (main === undefined) return 'nothing';
    return main.ended?.status === 'done' ? 'ended' : 'open';
  }

  #recorded(): RecordedRound | null {
    const { world } = this.#place;
    for (const session of world.sessions()) {
      const recorded = begunRound(world.project, session);
      if (recorded !== null) return recorded;
    }
    return null;
  }

  async #run(state: 'nothing' | 'open', aim: Aim | null): Promise<{ end: RunEnd; killed: boolean }> {
    const { stage, world } = this.#place;
    stage.run += 1;
    const resumed = state === 'open';
    const session = this.#recorded()?.session ?? '';
    const run = world.start(...(resumed ? this.#resumption(session) : ['-p', PROMPT, ...ALLOWED]));
    const hit = aim !== null && (await moment(aim, run, this.#place));
    if (hit) await this.#kill(run, aim, resumed);
    const end = await run.ended;
    if (resumed) this.#resumeMs.push(end.ms);
    if (aim?.kind === 'at a rate limit') world.forgetLimits();
    return { end, killed: hit };
  }

  /** Without a prompt the interrupted work goes on; with one, which happens too, agents go on in the background. */
  #resumption(session: string): string[] {
    const prompted = this.#options.chance.holds(PROMPTED_SHARE);
    this.#prompted ||= prompted;
    if (prompted) return ['-p', 'Go on.', '--resume', session];
    return this.#options.chance.holds(0.5) ? ['resume', session] : ['-p', '--resume', session];
  }

  async #kill(run: Run, aim: Aim, resumed: boolean): Promise<void> {
    const { chance, power } = this.#options;
    const { stage, world } = this.#place;
    const target = this.#target(run, aim);
    if (target === 'SIGINT' || target === 'SIGTERM') endProcess(run.pid, target);
    for (const pid of this.#agentTargets(run, target)) endProcess(pid);
    if (target.startsWith('host')) endProcess(run.pid);
    await run.ended;
    // Before anybody opens the journal again.
    const copied = new Map(
      world.sessions().map((session) => [session, copiedEnd(world.journalFile(session))]),
    );
    const recorded = this.#recorded();
    const hadAsked = stage.asked.some((asked) => asked.run === stage.run);
    const phases = phasesOf(recorded, { resumed, hadAsked });
    const cut = power && target.startsWith('host') && chance.holds(0.7);
    const lost = cut && recorded !== null ? this.#losePower(recorded.session, copied) : null;
    this.#kills.push({ aim: aim.kind, target, phases, lost, resumed });
    // A moment later, or at once: who resumes may find what the dead one had started still running.
    if (chance.holds(0.5)) await sleep(chance.next() * 80);
  }

  /** Everybody's with the host, one of them alone. */
  #agentTargets(run: Run, target: KillTarget): number[] {
    if (!target.includes('agent process')) return [];
    const all = agentProcesses(run.pid);
    return target.startsWith('host') || all.length === 0 ? all : [this.#options.chance.pick(all)];
  }

  #target(run: Run, { kind, atAgents }: Aim): KillTarget {
    const { chance } = this.#options;
    if (atAgents && agentProcesses(run.pid).length > 0) {
      // Who lives on would wait for the limit to pass.
      const alone = kind !== 'at a rate limit' && chance.holds(0.6);
      return alone ? 'agent process' : 'host and agent processes';
    }
    const others = TARGETS.filter((target) => !target.includes('agent'));
    return chance.holds(0.6) ? 'host' : chance.pick(others);
  }

  #losePower(session: string, copied: ReadonlyMap<string, number>): number | null {
    const file = this.#place.world.journalFile(session);
    const cut = losePower(file, copied.get(session) ?? 0, this.#options.chance);
    return cut === null ? null : cut.before - cut.after;
  }

  async #result(end: RunEnd | null, alreadyEnded: boolean): Promise<RoundResult> {
    const ended = end ?? { code: 0, signal: null, stdout: '', stderr: '', hung: false, ms: 0 };
    const problems = await this.#problems(ended, alreadyEnded);
    return {
      plan: this.#place.plan.name,
      kills: this.#kills,
      problems,
      ms: performance.now() - this.#began,
      resumeMs: this.#resumeMs,
    };
  }

  async #problems(end: RunEnd, alreadyEnded: boolean): Promise<string[]> {
    let evidence: Evidence;
    try {
      evidence = await collect(this.#place, end, alreadyEnded);
    } catch (error) {
      return [`the round cannot be read: ${String(error)}; it had said ${JSON.stringify(end.stderr)}`];
    }
    // An agent that was interrupted together with its parent, which got another prompt, continues when asked.
    const mayBeGivenUp = this.#prompted;
    return problemsOf(evidence, { undisturbed: this.#options.undisturbed, mayBeGivenUp });
  }
}
