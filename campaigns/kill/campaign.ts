/** Rounds of sessions that are killed and resumed. */
import { join } from 'node:path';
import type { Expected } from './aim.ts';
import type { Undisturbed } from './checks.ts';
import { type PlanExecutor, type PlanShape, planOf, type RoundPlan, SHAPES } from './plan.ts';
import { type Played, playRounds, type RoundLimits, SPREAD } from './play-rounds.ts';
import { chanceOf } from './random.ts';
import { killedRun, type RoundResult, undisturbedRun } from './round.ts';

export interface CampaignOptions extends RoundLimits {
  power: boolean;
  shape?: string;
  /** `mixed`: every other round. */
  executor?: PlanExecutor | 'mixed';
  mostKills?: number;
  /** Where places of failed rounds are copied to. */
  keep?: string;
}

export interface CampaignResult extends Played<RoundResult> {
  options: CampaignOptions;
}

const MOST_KILLS_A_ROUND = 4;

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
  const { power, keep, stopped, mostKills = MOST_KILLS_A_ROUND } = options;
  const scenes = await openScenes(options);
  const played = await playRounds(
    options,
    (round, chance) => {
      const scene = scenes[round % scenes.length];
      if (scene === undefined) throw new Error(`round ${round} has no plan`);
      const { plan, known } = scene;
      return killedRun(plan, {
        ...{ expected: known, undisturbed: known, chance, power, mostKills },
        ...(stopped !== undefined && { stopped }),
        ...(keep !== undefined && { keep: join(keep, `round-${round}`) }),
      });
    },
    lineOf,
  );
  return { options, ...played };
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

function lineOf(round: number, { plan, kills, problems, ms }: RoundResult): string {
  const how = kills.map(
    ({ target, aim, lost }) => `${target} ${aim}${lost === null ? '' : `, ${lost} bytes lost`}`,
  );
  const head = `round ${round} ${plan}: ${how.join('; ') || 'no kill'} (${(ms / 1000).toFixed(1)} s)`;
  return [head, ...problems.map((problem) => `  WRONG ${problem}`)].join('\n');
}
