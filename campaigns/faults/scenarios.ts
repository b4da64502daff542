/** The faults of the campaign. Each is one thing that goes wrong; where it does is counted through. */
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chance } from '../kill/random.ts';
import type { FaultScenario } from './fault-round.ts';

const DISK = /disk|no space|refused the write|ENOSPC|EIO|I\/O|cannot write/i;
const ANY = /^ramet: ./;
const HOUR_MS = 3_600_000;

/** A write of the journal, the index or the shared files that fails: once, or from then on. */
export function diskScenarios(writes: readonly number[]): FaultScenario[] {
  return writes.flatMap((write) => [
    { name: `disk full from write ${write} on`, under: injecting('ENOSPC', `${write}+`), says: DISK },
    { name: `write ${write} fails once`, under: injecting('EIO', String(write)), says: DISK },
  ]);
}

function injecting(error: string, when: string): string[] {
  const inject = `inject=pwrite64:error=${error}:when=${when}`;
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e', inject];
}

export function limitScenarios(): FaultScenario[] {
  const limited = (files: number): string[] => ['bash', '-c', `ulimit -n ${files}; exec "$@"`, 'bash'];
  return [24, 48, 56, 64].map((files) => ({
    name: `at most ${files} open files`,
    under: limited(files),
    says: /may be open|open files|EMFILE|too many/i,
  }));
}

export function networkScenarios(chance: Chance): FaultScenario[] {
  const every = 2 + chance.below(3);
  let began = 0;
  return [
    {
      name: `every connection ${every} is reset in mid-answer`,
      fault: ({ number }) => (number % every === 0 ? { kind: 'reset', at: 'text' } : undefined),
      says: ANY,
    },
    {
      name: 'answers stall for a second',
      fault: ({ number }) => (number % every === 0 ? { kind: 'stall', at: 'text', ms: 1_000 } : undefined),
      says: ANY,
    },
    {
      name: 'the provider is away for four seconds',
      fault: ({ number }) => {
        if (number === 3) began = performance.now();
        return number >= 3 && performance.now() - began < 4_000 ? { kind: 'status', status: 529 } : undefined;
      },
      says: ANY,
    },
  ];
}

export function clockScenarios(): FaultScenario[] {
  const preload = join(import.meta.dirname, 'clock-jump.ts');
  return [-HOUR_MS, -20_000, 240 * HOUR_MS].map((jump) => ({
    name: `the clock jumps by ${jump / 1_000} s`,
    env: { NODE_OPTIONS: `--import=${preload}`, FAULT_CLOCK_JUMP_MS: String(jump) },
    says: ANY,
  }));
}

export function journalScenarios(chance: Chance): FaultScenario[] {
  const killAt = 4 + chance.below(6);
  const wal = (file: string): string => `${file}-wal`;
  return [
    {
      name: 'the WAL is removed after a kill',
      damage: (file: string) => rmSync(wal(file), { force: true }),
      losesEnd: true,
    },
    { name: 'the WAL is cut after a kill', damage: (file: string) => cut(wal(file), chance), losesEnd: true },
    {
      name: 'the shared memory is removed after a kill',
      damage: (file: string) => rmSync(`${file}-shm`, { force: true }),
    },
  ].map((scenario) => ({ ...scenario, killAt, says: ANY }));
}

function cut(file: string, chance: Chance): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0) truncateSync(file, Math.floor(size * (0.3 + 0.7 * chance.next())));
}

/** Turns some bits of a file over. */
export function flipBits(file: string, count: number, chance: Chance): void {
  const bytes = readFileSync(file);
  for (let flips = 0; flips < count; flips++) {
    const at = chance.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
  }
  writeFileSync(file, bytes);
}
