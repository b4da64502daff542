/** Figures with their spread: a minimum for what the code costs, a median for what a user sees. */
export interface Spread {
  min: number;
  median: number;
  p90: number;
  max: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { min: at(0), median: at(0.5), p90: at(0.9), max: at(1) };
}

export function showSpread({ min, median, p90, max }: Spread, unit: string): string {
  const figure = (value: number): string => value.toFixed(value < 10 ? 3 : 1);
  return `min ${figure(min)}  median ${figure(median)}  p90 ${figure(p90)}  max ${figure(max)} ${unit}`;
}

/** A goal and whether it was reached; a miss is reported, never hidden. */
export function verdict(name: string, value: number, goal: number, unit: string): string {
  const state = value <= goal ? 'reached' : 'MISSED';
  return `${state}: ${name}: ${value.toFixed(2)} ${unit} (goal: at most ${goal} ${unit})`;
}

/** The same for a figure that is to be high. */
export function atLeast(name: string, value: number, goal: number, unit: string): string {
  const state = value >= goal ? 'reached' : 'MISSED';
  return `${state}: ${name}: ${value.toFixed(2)} ${unit} (goal: at least ${goal} ${unit})`;
}
