/** Plays rounds, a few at a time, until there were enough kills or the time is up. */
import { join } from 'node:path';
import type { Expected } from './aim.ts';
import type { Undisturbed } from './checks.ts';
import { type PlanExecutor, type PlanShape, planOf, type RoundPlan, SHAPES } from './plan.ts';
import { chanceOf } from './random.ts';
import { killedRun, type RoundResult, undisturbedRun } from './round.ts';

export interface CampaignOptions {
  kills: number;
  seed: number;
  parallel: number;
  minutes: number;
  power: boolean;
  /** Repeats one round, and nothing else. */
  onlyRound?: number;
  shape?: string;
  /** `mixed`: every other round. */
  executor?: PlanExecutor | 'mixed';
  mostKills?: number;
  /** Where places of failed rounds are copied to. */
  keep?: string;
  onRound?: (line: string) => void;
  /** Ends it: what runs is killed, and what was found until then is the result. */
  stopped?: AbortSignal;
}

export interface PlayedRound extends RoundResult {
  round: number;
}

export interface CampaignResult {
  options: CampaignOptions;
  rounds: PlayedRound[];
  ms: number;
  /** It stopped before there were enough kills. */
  outOfTime: boolean;
}

const MOST_KILLS_A_ROUND = 4;
/** So that neighbouring rounds have nothing in common. */
const SPREAD = 7_919;

const EXECUTORS: Readonly<Record<PlanExecutor | 'mixed', readonly PlanExecutor[]>> = {
  'in-process': ['in-process'],
  process: ['process'],
  mixed: ['in-process', 'process'],
};

interface Scene {
  plan: RoundPlan;
  known: Undisturbed & Expected;
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const began = performance.now();
  const scenes = await openScenes(options);
  const rounds: PlayedRound[] = [];
  let next = 0;
  const isOver = (): boolean =>
    options.stopped?.aborted === true || performance.now() - began > options.minutes * 60_000;
  const isEnough = (): boolean => rounds.flatMap(({ kills }) => kills).length >= options.kills;
  const worker = async (): Promise<void> => {
    while (!isEnough() && !isOver()) {
      next += 1;
      const round = await playRound(next, scenes, options);
      // A round that was stopped says nothing.
      if (options.stopped?.aborted !== true) rounds.push(round);
    }
  };
  if (options.onlyRound !== undefined) rounds.push(await playRound(options.onlyRound, scenes, options));
  else await Promise.all(Array.from({ length: options.parallel }, worker));
  return { options, rounds, ms: performance.now() - began, outOfTime: !isEnough() && isOver() };
}

/** Every plan that rounds take in turn: each shape, with each executor. */
async function openScenes({ seed, shape, onlyRound, executor }: CampaignOptions): Promise<Scene[]> {
  const shapes: readonly PlanShape[] = SHAPES.filter((name) => shape === undefined || name === shape);
  if (shapes.length === 0) throw new Error(`there is no shape ${shape}; there are ${SHAPES.join(', ')}`);
  const executors = EXECUTORS[executor ?? 'in-process'];
  const plans = executors.flatMap((kind) =>
    shapes.map((name) => planOf(name, chanceOf(seed * SPREAD + SHAPES.indexOf(name)), kind)),
  );
  // Rounds find theirs by number, also when it is the only one that was opened.
  const scenes: Scene[] = new Array(plans.length);
  for (const [index, plan] of plans.entries()) {
    if (onlyRound === undefined || onlyRound % plans.length === index) {
      scenes[index] = { plan, known: await undisturbedRun(plan) };
    }
  }
  return scenes;
}

async function playRound(
  round: number,
  scenes: readonly Scene[],
  options: CampaignOptions,
): Promise<PlayedRound> {
  const scene = scenes[round % scenes.length];
  if (scene === undefined) throw new Error(`round ${round} has no plan`);
  const { plan, known } = scene;
  const result = await killedRun(plan, {
    expected: known,
    undisturbed: known,
    chance: chanceOf(options.seed * SPREAD * SPREAD + round),
    power: options.power,
    ...(options.stopped !== undefined && { stopped: options.stopped }),
    mostKills: options.mostKills ?? MOST_KILLS_A_ROUND,
    ...(options.keep !== undefined && { keep: join(options.keep, `round-${round}`) }),
  });
  if (options.stopped?.aborted !== true) options.onRound?.(lineOf(round, result));
  return { ...result, round };
}

function lineOf(round: number, { plan, kills, problems, ms }: RoundResult): string {
  const how = kills.map(
    ({ target, aim, lost }) => `${target} ${aim}${lost === null ? '' : `, ${lost} bytes lost`}`,
  );
  const head = `round ${round} ${plan}: ${how.join('; ') || 'no kill'} (${(ms / 1000).toFixed(1)} s)`;
  return [head, ...problems.map((problem) => `  WRONG ${problem}`)].join('\n');
}
