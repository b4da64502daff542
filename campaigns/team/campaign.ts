/** Plays rounds of teams, a few at a time, until there were enough kills or the time is up. */
import { join } from 'node:path';
import { chanceOf } from '../kill/random.ts';
import { teamPlan } from './plan.ts';
import { type TeamKill, type TeamRound, teamRound } from './round.ts';

export interface TeamCampaignOptions {
  kills: number;
  seed: number;
  parallel: number;
  minutes: number;
  onlyRound?: number;
  mostKills?: number;
  keep?: string;
  onRound?: (line: string) => void;
  stopped?: AbortSignal;
}

export interface TeamCampaignResult {
  options: TeamCampaignOptions;
  rounds: (TeamRound & { round: number })[];
  ms: number;
  outOfTime: boolean;
}

const MOST_KILLS_A_ROUND = 12;
const SPREAD = 7_919;
const MOST_SHOWN = 15;

export async function runTeamCampaign(options: TeamCampaignOptions): Promise<TeamCampaignResult> {
  const { seed, parallel, minutes, kills, onlyRound, stopped, keep } = options;
  const began = performance.now();
  const rounds: TeamCampaignResult['rounds'] = [];
  const play = async (round: number): Promise<void> => {
    const chance = chanceOf(seed * SPREAD * SPREAD + round);
    const result = await teamRound(teamPlan(chance, round), {
      ...{ chance, mostKills: options.mostKills ?? MOST_KILLS_A_ROUND },
      ...(keep !== undefined && { keep: join(keep, `round-${round}`) }),
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
  const outOfTime = onlyRound === undefined && !isEnough() && isOver();
  return { options, rounds, ms: performance.now() - began, outOfTime };
}

function lineOf(round: number, { plan, kills, letters, problems, ms }: TeamRound): string {
  const head = `round ${round} ${plan}: ${kills.length} kills, ${letters} letters (${(ms / 1_000).toFixed(1)} s)`;
  const more = problems.length > MOST_SHOWN ? [`  and ${problems.length - MOST_SHOWN} more`] : [];
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => `  WRONG ${problem}`);
  return [head, ...shown, ...more].join('\n');
}

const TARGETS: readonly TeamKill[] = ['host', 'member process', 'host and member processes'];

export function teamCampaignReport({ options, rounds, ms, outOfTime }: TeamCampaignResult): string {
  const kills = rounds.flatMap((round) => round.kills);
  const letters = rounds.reduce((sum, round) => sum + round.letters, 0);
  const failed = rounds.filter(({ problems }) => problems.length > 0);
  return [
    '',
    `${kills.length} kills in ${rounds.length} rounds, ${letters} letters, ${(ms / 1_000).toFixed(0)} s, seed ${options.seed}`,
    ...TARGETS.map(
      (target) => `  ${String(kills.filter((kill) => kill === target).length).padStart(5)}  ${target}`,
    ),
    ...(outOfTime ? [`  STOPPED, or out of time: fewer than ${options.kills} kills`] : []),
    failed.length === 0
      ? '  every letter, claim, task and file is accounted for'
      : `  ${failed.length} rounds FAILED`,
    ...failed.map(({ round }) => `  npm run campaign:team -- --seed ${options.seed} --round ${round}`),
  ].join('\n');
}
