/** Rounds of teams that are killed and resumed, and what they have shown. */
import { join } from 'node:path';
import { type Played, playRounds, type RoundLimits } from '../kill/play-rounds.ts';
import { teamPlan } from './plan.ts';
import { type TeamKill, type TeamRound, teamRound } from './round.ts';

export interface TeamCampaignOptions extends RoundLimits {
  mostKills?: number;
  keep?: string;
}

export interface TeamCampaignResult extends Played<TeamRound> {
  options: TeamCampaignOptions;
}

const MOST_KILLS_A_ROUND = 12;
const MOST_SHOWN = 15;

export async function runTeamCampaign(options: TeamCampaignOptions): Promise<TeamCampaignResult> {
  const { keep, stopped, mostKills = MOST_KILLS_A_ROUND } = options;
  const played = await playRounds(
    options,
    (round, chance) =>
      teamRound(teamPlan(chance, round), {
        ...{ chance, mostKills },
        ...(keep !== undefined && { keep: join(keep, `round-${round}`) }),
        ...(stopped !== undefined && { stopped }),
      }),
    lineOf,
  );
  return { options, ...played };
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
