/** What a campaign has found, as text: kills by moment, phase and target, and every failure with how to repeat it. */
import { AIMS } from './aim.ts';
import type { CampaignOptions, CampaignResult } from './campaign.ts';
import { PHASES } from './phase.ts';
import { type Kill, TARGETS } from './round.ts';

export function campaignReport({ options, rounds, ms, outOfTime }: CampaignResult): string {
  const kills = rounds.flatMap((round) => round.kills);
  const failed = rounds.filter(({ problems }) => problems.length > 0);
  const resumes = rounds.flatMap(({ resumeMs }) => resumeMs).sort((a, b) => a - b);
  const cuts = kills.filter(({ lost }) => lost !== null);
  return [
    '',
    `${kills.length} kills in ${rounds.length} rounds, ${(ms / 1000).toFixed(0)} s, seed ${options.seed}`,
    `  of resumed processes: ${kills.filter(({ resumed }) => resumed).length}; power cuts: ${cuts.length}`,
    ...table('aimed at', AIMS, (aim) => kills.filter((kill) => kill.aim === aim).length),
    ...table('target', TARGETS, (target) => kills.filter((kill) => kill.target === target).length),
    ...table('agents found in phase', PHASES, (phase) => agentsIn(kills, phase)),
    `  a run after a kill took ${spread(resumes)} ms`,
    ...(outOfTime ? [`  STOPPED, or out of time: fewer than ${options.kills} kills`] : []),
    failed.length === 0 ? '  nothing lost, nothing doubled' : `  ${failed.length} rounds FAILED`,
    ...failed.flatMap(({ round, plan, problems }) => [
      `  round ${round} (${plan}): npm run campaign:kill -- ${optionsOf(options)} --round ${round}`,
      ...problems.map((problem) => `    ${problem}`),
    ]),
  ].join('\n');
}

/** What chooses the rounds: the same round number means the same round with the same of these. */
function optionsOf({ seed, shape, executor, power }: CampaignOptions): string {
  return [
    `--seed ${seed}`,
    ...(shape === undefined ? [] : [`--shape ${shape}`]),
    ...(executor === undefined || executor === 'in-process' ? [] : [`--executor ${executor}`]),
    ...(power ? ['--power'] : []),
  ].join(' ');
}

function agentsIn(kills: readonly Kill[], phase: string): number {
  return kills.flatMap(({ phases }) => phases).filter((one) => one === phase).length;
}

function table(heading: string, names: readonly string[], count: (name: string) => number): string[] {
  return [`  ${heading}`, ...names.map((name) => `    ${String(count(name)).padStart(5)}  ${name}`)];
}

function spread(sorted: readonly number[]): string {
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  return `min ${at(0)}, median ${at(0.5)}, max ${at(1)}`;
}
