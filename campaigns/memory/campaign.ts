/** Rounds of conversations whose memory is written and edited while processes are killed, and what they have shown. */
import { join } from 'node:path';
import { type Played, playRounds, type RoundLimits } from '../kill/play-rounds.ts';
import { type MemoryRound, memoryRound, TARGETS } from './round.ts';

export interface MemoryCampaignOptions extends RoundLimits {
  mostSteps?: number;
  keep?: string;
}

export interface MemoryCampaignResult extends Played<MemoryRound> {
  options: MemoryCampaignOptions;
}

const MOST_STEPS = 10;

export async function runMemoryCampaign(options: MemoryCampaignOptions): Promise<MemoryCampaignResult> {
  const { keep, stopped, mostSteps = MOST_STEPS } = options;
  const played = await playRounds(
    options,
    (round, chance) =>
      memoryRound({
        ...{ chance, mostSteps },
        ...(keep !== undefined && { keep: join(keep, `round-${round}`) }),
        ...(stopped !== undefined && { stopped }),
      }),
    (round, { plan, kills, changes, problems, ms }) =>
      [
        `round ${round} ${plan}: ${kills.length} kills, ${changes} changes (${(ms / 1_000).toFixed(1)} s)`,
        ...problems.map((problem) => `  WRONG ${problem}`),
      ].join('\n'),
  );
  return { options, ...played };
}

export function memoryCampaignReport({ options, rounds, ms, outOfTime }: MemoryCampaignResult): string {
  const kills = rounds.flatMap((round) => round.kills);
  const changes = rounds.reduce((sum, round) => sum + round.changes, 0);
  const failed = rounds.filter(({ problems }) => problems.length > 0);
  return [
    '',
    `${kills.length} kills in ${rounds.length} rounds, ${changes} changes of memory, ${(ms / 1_000).toFixed(0)} s, seed ${options.seed}`,
    ...TARGETS.map(
      (target) => `  ${String(kills.filter((kill) => kill === target).length).padStart(5)}  ${target}`,
    ),
    ...(outOfTime ? [`  STOPPED, or out of time: fewer than ${options.kills} kills`] : []),
    failed.length === 0 ? '  no line is lost or doubled' : `  ${failed.length} rounds FAILED`,
    ...failed.map(({ round }) => `  npm run campaign:memory -- --seed ${options.seed} --round ${round}`),
  ].join('\n');
}
