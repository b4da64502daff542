/**
 * How long a key takes to be seen while an answer streams at 1,000 tokens a second: from the write to a
 * pseudo-terminal (`script`, util-linux) until the frame that shows it has been read back from there. The model is
 * the emulator, in a process of its own; the command is the built one.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchPlace, BIN, benchPlace } from './command.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const KEYS = 300;
const TOKENS_PER_SECOND = 1_000;
const FRAME_MS = 16;
/** Between two keys: a fast typist, and no multiple of a frame. */
const PAUSE_MS = 37;

export async function run(): Promise<void> {
  using place = benchPlace();
  const { url, emulator } = await startEmulator(place);
  const terminal = startTerminal(place, url);
  try {
    const screen = watch(terminal);
    await screen.shows('/help');
    const idle = await typeKeys(terminal, screen);
    terminal.stdin.write('\u0015go\r');
    await screen.shows('word');
    const streaming = await typeKeys(terminal, screen);
    console.log(`\na key until it is seen on a terminal, ${KEYS} keys each`);
    console.log(`  idle          ${showSpread(spreadOf(idle), 'ms')}`);
    console.log(`  streaming     ${showSpread(spreadOf(streaming), 'ms')}`);
    console.log(`  99 of 100     idle ${p99(idle).toFixed(1)} ms, streaming ${p99(streaming).toFixed(1)} ms`);
    const name = `99 of 100 keys at ${TOKENS_PER_SECOND} tokens/s`;
    console.log(`  ${verdict(name, p99(streaming), FRAME_MS, 'ms')}`);
  } finally {
    terminal.kill();
    emulator.kill();
  }
}

function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

interface WatchedScreen {
  /** Waits for text in what is written from now on. */
  shows(text: string): Promise<void>;
}

function watch(terminal: ChildProcessWithoutNullStreams): WatchedScreen {
  let wanted: { text: string; seen: string; resolve: () => void } | null = null;
  terminal.stdout.setEncoding('utf8').on('data', (bytes: string) => {
    if (wanted === null) return;
    wanted.seen += bytes;
    if (wanted.seen.includes(wanted.text)) wanted.resolve();
  });
  return {
    shows: (text) =>
      new Promise((resolve) => {
        wanted = { text, seen: '', resolve };
      }),
  };
}

async function typeKeys(terminal: ChildProcessWithoutNullStreams, screen: WatchedScreen): Promise<number[]> {
  const times: number[] = [];
  let typed = '';
  while (times.length < KEYS) {
    await sleep(PAUSE_MS);
    if (typed.length === 40) {
      terminal.stdin.write('\u0015');
      typed = '';
      await sleep(PAUSE_MS);
    }
    const key = String(typed.length % 10);
    typed += key;
    const seen = screen.shows(`> ${typed}`);
    const start = performance.now();
    terminal.stdin.write(key);
    await seen;
    times.push(performance.now() - start);
  }
  return times;
}

async function startEmulator(
  place: BenchPlace,
): Promise<{ url: string; emulator: ReturnType<typeof spawn> }> {
  const scenario = join(place.repository, 'scenario.json');
  const text = 'some words of an answer, word after word\n'.repeat(1_500);
  writeFileSync(scenario, JSON.stringify({ rules: [{ match: {}, respond: { text } }] }));
  const pace = ['--tokens-per-second', String(TOKENS_PER_SECOND)];
  const emulator = spawn(process.execPath, [BIN, 'emulate', '--scenario', scenario, ...pace], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(emulator.stdout, 'data');
  const url = /http:[\d./:]+\d/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`the emulator did not say where it listens: ${line}`);
  return { url, emulator };
}

function startTerminal(place: BenchPlace, url: string): ChildProcessWithoutNullStreams {
  const command = `stty cols 80 rows 24; exec '${process.execPath}' '${BIN}'`;
  return spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: place.repository,
    env: {
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      HOME: place.repository,
      RAMET_HOME: place.freshHome(),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'bench',
    },
  });
}

if (import.meta.main) await run();
