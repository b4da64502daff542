/** The command line of a campaign of rounds, and its exit code: 1 if anything did not hold, or the time was up. */
import { parseArgs } from 'node:util';
import type { Played, RoundLimits } from './play-rounds.ts';

export interface RoundOptions extends RoundLimits {
  /** The directory of every failed round is copied there. */
  keep?: string;
  /** Only this kind of plan, in a campaign that has several. */
  shape?: string;
}

export function roundOptions(kills: number): RoundOptions {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: String(kills) },
      seed: { type: 'string', default: '1' },
      round: { type: 'string' },
      shape: { type: 'string' },
      parallel: { type: 'string', default: '2' },
      minutes: { type: 'string', default: '60' },
      keep: { type: 'string' },
    },
  });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return {
    stopped: stop.signal,
    ...{ kills: Number(values.kills), seed: Number(values.seed), parallel: Number(values.parallel) },
    minutes: Number(values.minutes),
    ...(values.round !== undefined && { onlyRound: Number(values.round) }),
    ...(values.shape !== undefined && { shape: values.shape }),
    ...(values.keep !== undefined && { keep: values.keep }),
    onRound: (line) => console.log(line),
  };
}

export function exitCodeOf({ rounds, outOfTime }: Played<{ problems: readonly string[] }>): number {
  return outOfTime || rounds.some(({ problems }) => problems.length > 0) ? 1 : 0;
}
