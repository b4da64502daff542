/** Plays rounds of a campaign, a few at a time, until there were enough kills or the time is up. */
import { type Chance, chanceOf } from './random.ts';

export interface RoundLimits {
  kills: number;
  seed: number;
  parallel: number;
  minutes: number;
  /** Repeats one round, and nothing else. */
  onlyRound?: number;
  /** Ends it: what runs is killed, and what was found until then is the result. */
  stopped?: AbortSignal;
  onRound?: (line: string) => void;
}

export interface Played<Round> {
  rounds: (Round & { round: number })[];
  ms: number;
  /** It stopped before there were enough kills. */
  outOfTime: boolean;
}

/** So that neighbouring rounds have nothing in common. */
export const SPREAD = 7_919;

export async function playRounds<Round extends { readonly kills: readonly unknown[] }>(
  { kills, seed, parallel, minutes, onlyRound, stopped, onRound }: RoundLimits,
  play: (round: number, chance: Chance) => Promise<Round>,
  lineOf: (round: number, played: Round) => string,
): Promise<Played<Round>> {
  const began = performance.now();
  const rounds: Played<Round>['rounds'] = [];
  const playOne = async (round: number): Promise<void> => {
    const played = await play(round, chanceOf(seed * SPREAD * SPREAD + round));
    // A round that was stopped says nothing.
    if (stopped?.aborted === true) return;
    rounds.push({ ...played, round });
    onRound?.(lineOf(round, played));
  };
  const isOver = (): boolean => stopped?.aborted === true || performance.now() - began > minutes * 60_000;
  const isEnough = (): boolean => rounds.flatMap((round) => round.kills).length >= kills;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (!isEnough() && !isOver()) await playOne(++next);
  };
  if (onlyRound !== undefined) await playOne(onlyRound);
  else await Promise.all(Array.from({ length: parallel }, worker));
  const outOfTime = onlyRound === undefined && !isEnough() && isOver();
  return { rounds, ms: performance.now() - began, outOfTime };
}
