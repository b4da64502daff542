/** Plays rounds, a few at a time, until there were enough kills or the time is up. */
import { join } from 'node:path';
import { chanceOf } from '../kill/random.ts';
import { MOMENTS, TARGETS } from './aim.ts';
import { type OperatorPlan, operatorPlan, SHAPES } from './plan.ts';
import { type Known, killedRun, type OperatorRound, undisturbedRun } from './round.ts';

export interface CampaignOptions {
  kills: number;
  seed: number;
  parallel: number;
  minutes: number;
  shape?: string;
  onlyRound?: number;
  mostKills?: number;
  keep?: string;
  onRound?: (line: string) => void;
  stopped?: AbortSignal;
}

export interface CampaignResult {
  options: CampaignOptions;
  rounds: (OperatorRound & { round: number })[];
  ms: number;
  outOfTime: boolean;
}

const MOST_KILLS_A_ROUND = 4;
const SPREAD = 7_919;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, parallel, minutes, kills, onlyRound, stopped } = options;
  const began = performance.now();
  const plans = plansOf(options);
  const known = new Map<OperatorPlan, Promise<Known>>();
  const rounds: CampaignResult['rounds'] = [];
  const play = async (round: number): Promise<void> => {
    const plan = plans[round % plans.length];
    if (plan === undefined) throw new Error(`round ${round} has no plan`);
    const first = known.get(plan) ?? undisturbedRun(plan);
    known.set(plan, first);
    const result = await killedRun(plan, {
      ...{ known: await first, chance: chanceOf(seed * SPREAD * SPREAD + round) },
      mostKills: options.mostKills ?? MOST_KILLS_A_ROUND,
      ...(options.keep !== undefined && { keep: join(options.keep, `round-${round}`) }),
      ...(stopped !== undefined && { stopped }),
    });
    // A round that was stopped says nothing.
    if (stopped?.aborted === true) return;
    rounds.push({ ...result, round });
    options.onRound?.(lineOf(round, result));
  };
  const isOver = (): boolean => stopped?.aborted === true || performance.now() - began > minutes * 60_000;
  const isEnough = (): boolean => rounds.flatMap((round) => round.kills).length >= kills;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (!isEnough() && !isOver()) await play(++next);
  };
  if (onlyRound !== undefined) await play(onlyRound);
  else await Promise.all(Array.from({ length: parallel }, worker));
  return { options, rounds, ms: performance.now() - began, outOfTime: !isEnough() && isOver() };
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
