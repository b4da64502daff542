/** Rounds of operator runs that are killed and resumed, and what they have shown. */
import { join } from 'node:path';
import { type Played, playRounds, type RoundLimits } from '../kill/play-rounds.ts';
import { MOMENTS, TARGETS } from './aim.ts';
import { type OperatorPlan, operatorPlan, SHAPES } from './plan.ts';
import { type Known, killedRun, type OperatorRound, undisturbedRun } from './round.ts';

export interface CampaignOptions extends RoundLimits {
  shape?: string;
  mostKills?: number;
  keep?: string;
}

export interface CampaignResult extends Played<OperatorRound> {
  options: CampaignOptions;
}

const MOST_KILLS_A_ROUND = 4;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { keep, stopped, mostKills = MOST_KILLS_A_ROUND } = options;
  const plans = plansOf(options);
  const knownOf = new Map<OperatorPlan, Promise<Known>>();
  const played = await playRounds(
    options,
    async (round, chance) => {
      const plan = plans[round % plans.length];
      if (plan === undefined) throw new Error(`round ${round} has no plan`);
      const known = knownOf.get(plan) ?? undisturbedRun(plan);
      knownOf.set(plan, known);
      return killedRun(plan, {
        ...{ known: await known, chance, mostKills },
        ...(keep !== undefined && { keep: join(keep, `round-${round}`) }),
        ...(stopped !== undefined && { stopped }),
      });
    },
    lineOf,
  );
  return { options, ...played };
}

/** Each shape in this process, and in processes of the agents' own. */
function plansOf({ shape }: CampaignOptions): OperatorPlan[] {
  const shapes = SHAPES.filter((name) => shape === undefined || name === shape);
  if (shapes.length === 0) throw new Error(`there is no shape ${shape}; there are ${SHAPES.join(', ')}`);
  const executors = ['in-process', 'process'] as const;
  return executors.flatMap((executor) => shapes.map((name) => operatorPlan(name, executor)));
}

function lineOf(round: number, { plan, kills, problems, ms }: OperatorRound): string {
  const how = kills.map(
    ({ moment, target, what }) =>
      `${target} ${moment}${what === target ? '' : ` (${what.replace(/-c \S+ /g, '').slice(0, 160)})`}`,
  );
  const head = `round ${round} ${plan}: ${how.join('; ') || 'no kill'} (${(ms / 1_000).toFixed(1)} s)`;
  return [head, ...problems.map((problem) => `  WRONG ${problem}`)].join('\n');
}

export function campaignReport({ options, rounds, ms, outOfTime }: CampaignResult): string {
  const kills = rounds.flatMap((round) => round.kills);
  const failed = rounds.filter(({ problems }) => problems.length > 0);
  const resumes = rounds.flatMap(({ resumeMs }) => resumeMs).sort((one, other) => one - other);
  const at = (share: number): string =>
    (resumes[Math.min(resumes.length - 1, Math.floor(share * resumes.length))] ?? 0).toFixed(0);
  const statuses = kills.flatMap((kill) => kill.statuses.map((text) => text.split(' ')[1] ?? ''));
  const plan = options.shape === undefined ? '' : ` --shape ${options.shape}`;
  return [
    '',
    `${kills.length} kills in ${rounds.length} rounds, ${(ms / 1_000).toFixed(0)} s, seed ${options.seed}`,
    `  of resumed runs: ${kills.filter(({ resumed }) => resumed).length}`,
    ...table('moment', MOMENTS, (name) => kills.filter(({ moment }) => moment === name).length),
    ...table('target', TARGETS, (name) => kills.filter(({ target }) => target === name).length),
    ...table(
      'tasks found',
      [...new Set(statuses)].sort(),
      (name) => statuses.filter((one) => one === name).length,
    ),
    `  a run after a kill took min ${at(0)}, median ${at(0.5)}, max ${at(1)} ms`,
    ...(outOfTime ? [`  STOPPED, or out of time: fewer than ${options.kills} kills`] : []),
    failed.length === 0
      ? '  every run ended with the same tree; nothing lost, nothing twice'
      : `  ${failed.length} rounds FAILED`,
    ...failed.flatMap(({ round, plan: name, problems }) => [
      `  round ${round} (${name}): npm run campaign:operator -- --seed ${options.seed}${plan} --round ${round}`,
      ...problems.map((problem) => `    ${problem}`),
    ]),
  ].join('\n');
}

function table(heading: string, names: readonly string[], count: (name: string) => number): string[] {
  return [`  ${heading}`, ...names.map((name) => `    ${String(count(name)).padStart(5)}  ${name}`)];
}
