/**
 * The terminal while much happens. A key until it is seen, from the write to a pseudo-terminal (`script`, util-linux)
 * until the frame that shows it has been read back: idle, and while an answer streams at 1,000 tokens a second with 20
 * children at work. Processor time with 50 children at work, beside the same run without a terminal, and beside a program
 * that only reads the same streams. The first frame
 * beside the first request of `ramet -p`. The model is the emulator, in a process of its own; the command is the built one.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBusyModel } from './busy-model.ts';
import { type BenchPlace, BIN, benchPlace, spawnPrint } from './command.ts';
import { type CannedServer, startServer } from './start-server.ts';
import { showSpread, spreadOf, verdict } from './statistics.ts';

const KEYS = 300;
const TOKENS_PER_SECOND = 1_000;
const FRAME_MS = 16;
/** Between two keys: a fast typist, and no multiple of a frame. */
const PAUSE_MS = 37;
const CHILDREN_WHILE_TYPING = 20;
const BUSY_CHILDREN = 50;
const BUSY_SECONDS = 10;
const BUSY_ROUNDS = 3;
/** Until all of them have begun and the code that they run is compiled. */
const SETTLE_SECONDS = 6;
const PAINTS = 12;

export async function run(): Promise<void> {
  await keys();
  await busyChildren();
  await firstPaint();
}

async function keys(): Promise<void> {
  using place = benchPlace();
  using model = await startBusyModel(place, { answerTokensPerSecond: TOKENS_PER_SECOND });
  using terminal = startTerminal(place, model.url, ['--permission-mode', 'bypassPermissions']);
  await terminal.shows('/help');
  const idle = await typeKeys(terminal);
  terminal.type(`\u0015start ${CHILDREN_WHILE_TYPING}\r`);
  await terminal.shows('more: ');
  terminal.type('answer\r');
  await terminal.shows('word');
  const streaming = await typeKeys(terminal);
  console.log(`\na key until it is seen on a terminal, ${KEYS} keys each`);
  console.log(`  idle          ${showSpread(spreadOf(idle), 'ms')}`);
  console.log(`  streaming     ${showSpread(spreadOf(streaming), 'ms')}`);
  console.log(`  99 of 100     idle ${p99(idle).toFixed(1)} ms, streaming ${p99(streaming).toFixed(1)} ms`);
  const name = `99 of 100 keys at ${TOKENS_PER_SECOND} tokens/s, ${CHILDREN_WHILE_TYPING} children at work`;
  console.log(`  ${verdict(name, p99(streaming), FRAME_MS, 'ms')}`);
}

/** At work: each streams 50 tokens a second, then reads a file, again and again. */
async function busyChildren(): Promise<void> {
  using place = benchPlace();
  using model = await startBusyModel(place, { answerTokensPerSecond: TOKENS_PER_SECOND });
  const [shown, plain, bare]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < BUSY_ROUNDS; round++) {
    shown.push(await shareOnTerminal(place, model.url));
    plain.push(await shareWithout(place, model.url));
    bare.push(await shareOfReading(model.url));
  }
  const [onTerminal, without] = [spreadOf(shown), spreadOf(plain)];
  console.log(
    `\nprocessor time with ${BUSY_CHILDREN} children at work, in % of one core, ${BUSY_ROUNDS} rounds`,
  );
  console.log(`  on a terminal, with its rows     ${showSpread(onTerminal, '%')}`);
  console.log(`  the same work without a terminal ${showSpread(without, '%')}`);
  console.log(`  only reading the same streams    ${showSpread(spreadOf(bare), '%')}`);
  const added = onTerminal.min - without.min;
  console.log(`  of minima, the terminal adds     ${added.toFixed(1)} %`);
  console.log(`  ${verdict(`${BUSY_CHILDREN} children at work on a terminal`, onTerminal.median, 5, '%')}`);
}

async function shareOnTerminal(place: BenchPlace, url: string): Promise<number> {
  using terminal = startTerminal(place, url, ['--permission-mode', 'bypassPermissions']);
  await terminal.shows('/help');
  terminal.type(`start ${BUSY_CHILDREN}\r`);
  await terminal.shows('more: ');
  return await shareOf(terminal.pid());
}

async function shareWithout(place: BenchPlace, url: string): Promise<number> {
  const home = place.freshHome();
  homeForMany(join(home, 'ramet'));
  const child = spawnPrint(place, url, { prompt: `start ${BUSY_CHILDREN}`, home });
  try {
    return await shareOf(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
  }
}

/** What no program that reads their answers can do without. */
async function shareOfReading(url: string): Promise<number> {
  const program = join(import.meta.dirname, 'bare-streams.ts');
  const child = spawn(process.execPath, [program, url, String(BUSY_CHILDREN)], { stdio: 'inherit' });
  try {
    return await shareOf(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
  }
}

/** All children are to be at work at once. */
function homeForMany(home: string): string {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: { concurrent: BUSY_CHILDREN + 1 } }));
  return home;
}

async function shareOf(pid: number): Promise<number> {
  await sleep(SETTLE_SECONDS * 1_000);
  const [before, since] = [processorMs(pid), performance.now()];
  await sleep(BUSY_SECONDS * 1_000);
  return ((processorMs(pid) - before) / (performance.now() - since)) * 100;
}

/** Of all threads so far, without the programs it started. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

async function firstPaint(): Promise<void> {
  using place = benchPlace();
  using server = await startServer([]);
  const [painted, asked, empty]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < PAINTS + 2; round++) {
    const samples = [
      await paintMs(place, server.url),
      await askMs(place, server),
      await emptyTerminalMs(place),
    ];
    // The first two fill the caches of the system.
    if (round > 1) for (const [at, list] of [painted, asked, empty].entries()) list.push(samples[at] ?? 0);
  }
  const terminalMs = spreadOf(empty).median;
  const ratio = (spreadOf(painted).median - terminalMs) / spreadOf(asked).median;
  console.log(`\nprocess start to the first frame, beside the first request of ramet -p, ${PAINTS} rounds`);
  console.log(`  first frame           ${showSpread(spreadOf(painted), 'ms')}`);
  console.log(`  of it the terminal    ${showSpread(spreadOf(empty), 'ms')}`);
  console.log(`  first request of -p   ${showSpread(spreadOf(asked), 'ms')}`);
  console.log(`  ${verdict('first frame, without its terminal', ratio, 1.3, 'times ramet -p')}`);
}

async function paintMs(place: BenchPlace, url: string): Promise<number> {
  const started = performance.now();
  using terminal = startTerminal(place, url, []);
  await terminal.shows('\u001b[?2026l');
  return performance.now() - started;
}

async function askMs(place: BenchPlace, server: CannedServer): Promise<number> {
  const started = process.hrtime.bigint();
  const child = spawnPrint(place, server.url);
  const { at } = await server.nextRequest();
  child.kill('SIGKILL');
  return Number(at - started) / 1e6;
}

/** What the pseudo-terminal takes by itself: `script`, a shell and `stty`. */
async function emptyTerminalMs(place: BenchPlace): Promise<number> {
  const started = performance.now();
  using terminal = new BenchTerminal(place, 'echo painted; exec sleep 5', {});
  await terminal.shows('painted');
  return performance.now() - started;
}

function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

class BenchTerminal implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams;
  #wanted: { text: string; seen: string; resolve: () => void } | null = null;

  constructor(place: BenchPlace, command: string, env: Record<string, string>) {
    this.#child = spawn('script', ['-qefc', `stty cols 80 rows 24; ${command}`, '/dev/null'], {
      cwd: place.repository,
      env: {
        PATH: process.env.PATH,
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        HOME: place.repository,
        ...env,
      },
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('utf8').on('data', (bytes: string) => {
      if (this.#wanted === null) return;
      this.#wanted.seen += bytes;
      if (this.#wanted.seen.includes(this.#wanted.text)) this.#wanted.resolve();
    });
  }

  /** Of what runs in it. */
  pid(): number {
    const { pid = 0 } = this.#child;
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return Number(first);
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits for text in what is written from now on. */
  shows(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = { text, seen: '', resolve };
    });
  }

  [Symbol.dispose](): void {
    // The command in it would keep running without a terminal for a while.
    try {
      process.kill(this.pid(), 'SIGKILL');
    } catch {}
    this.#child.kill('SIGKILL');
  }
}

function startTerminal(place: BenchPlace, url: string, args: readonly string[]): BenchTerminal {
  return new BenchTerminal(place, `exec '${process.execPath}' '${BIN}' ${args.join(' ')}`, {
    RAMET_HOME: homeForMany(place.freshHome()),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'bench',
  });
}

async function typeKeys(terminal: BenchTerminal): Promise<number[]> {
  const times: number[] = [];
  let typed = '';
  while (times.length < KEYS) {
    await sleep(PAUSE_MS);
    if (typed.length === 40) {
      terminal.type('\u0015');
      typed = '';
      await sleep(PAUSE_MS);
    }
    const key = String(typed.length % 10);
    typed += key;
    const seen = terminal.shows(`> ${typed}`);
    const start = performance.now();
    terminal.type(key);
    await seen;
    times.push(performance.now() - start);
  }
  return times;
}

if (import.meta.main) await run();
