/**
 * What work in the background adds to the bill of a conversation, and to the time until a person's prompt is on its way: the
 * same scripted conversation with it and without it, on the emulator, whose cache follows the published rules.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answer,
  type RequestRecord,
  type RequestView,
  startEmulator,
} from '../packages/ramet/src/emulator/index.ts';
import { openReader } from '../packages/ramet/src/journal/sessions.ts';
import { SUGGEST } from '../packages/ramet/src/sdk/background/suggest-prompts.ts';
import { openSession } from '../packages/ramet/src/sdk/index.ts';
import { findPlace } from '../packages/ramet/src/sdk/place.ts';
import { type Ledger, ledgerOf } from '../packages/ramet/src/views/ledger/ledger.ts';
import { atLeast, showSpread, spreadOf, verdict } from './statistics.ts';

const PROMPTS = 40;
const REQUESTS = 8;
/** How long an answer takes: work in the background still runs when the next prompt comes. */
const ANSWER_MS = 40;
/** And how long the person takes: it has begun by then. */
const PAUSE_MS = 25;
const FORK_RULES = 'You are now a fork';

interface Talk extends AsyncDisposable {
  /** Sends the next prompt, and says how long it took to arrive. */
  next(): Promise<number>;
  idle(): Promise<void>;
  /** What it cost, by source. */
  ledger(): Ledger;
  /** First requests of background forks: what they read from the cache, of all tokens. */
  hits(): number[];
}

export async function run(): Promise<void> {
  console.log(
    `\na conversation of ${PROMPTS} prompts with ${REQUESTS} requests each, with and without background work`,
  );
  await bill();
  await delay();
}

/** The person takes so long that all of it comes to its end, and is on the bill. */
async function bill(): Promise<void> {
  await using without = await begin(false);
  await using beside = await begin(true);
  for (const talk of [without, beside])
    for (let prompt = 1; prompt <= PROMPTS; prompt++) {
      await talk.next();
      await talk.idle();
    }
  const [plain, whole] = [without, beside].map((talk) => talk.ledger().total.costUsd ?? Number.NaN);
  for (const [source, { requests, costUsd }] of beside.ledger().sources)
    console.log(`  ${source}: ${requests} requests, $${costUsd?.toFixed(4)}`);
  console.log(`  without $${plain?.toFixed(4)}, with $${whole?.toFixed(4)}`);
  const added = 100 * ((whole ?? Number.NaN) / (plain ?? Number.NaN) - 1);
  console.log(`  ${verdict('added to the bill', added, 15, '%')}`);
  const least = 100 * Math.min(...beside.hits());
  console.log(`  ${atLeast('least read from the cache by a first request', least, 95, '%')}`);
}

/** The next prompt comes while all of it runs. Both conversations take turns, so a busy machine slows both. */
async function delay(): Promise<void> {
  await using without = await begin(false);
  await using beside = await begin(true);
  const delays = { without: [] as number[], beside: [] as number[] };
  for (let prompt = 1; prompt <= PROMPTS; prompt++) {
    delays.without.push(await without.next());
    delays.beside.push(await beside.next());
  }
  const [before, after] = [spreadOf(delays.without), spreadOf(delays.beside)];
  console.log(`  until the prompt is on its way, without: ${showSpread(before, 'ms')}`);
  console.log(`  until the prompt is on its way, with: ${showSpread(after, 'ms')}`);
  const later = delays.beside.map((ms, index) => ms - (delays.without[index] ?? Number.NaN));
  console.log(`  with it ${(after.median / before.median).toFixed(2)} times as long as without`);
  console.log(`  ${verdict('a prompt is later by', spreadOf(later).median, 20, 'ms')}`);
}

async function begin(background: boolean): Promise<Talk> {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-bench-'));
  const [cwd, home] = [join(directory, 'work'), join(directory, 'home')];
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'AGENTS.md'), line('rule', 400));
  writeFileSync(join(cwd, 'part.txt'), line('code', 60));
  let arrived = 0;
  let prompts = 0;
  const stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const emulator = await startEmulator({
    async respond(view) {
      if (isPrompt(view)) arrived = performance.now();
      await pause(ANSWER_MS);
      return answerTo(view);
    },
  });
  stack.defer(() => emulator.close());
  const env = {
    PATH: process.env.PATH,
    RAMET_HOME: home,
    ANTHROPIC_BASE_URL: emulator.url,
    ANTHROPIC_API_KEY: 'x',
  };
  const mode = { attended: true, background, onSuggestions: () => {} };
  const session = stack.use(
    await openSession({ cwd, env, ...mode, permissionMode: 'bypassPermissions', settings: {} }),
  );
  return {
    async next() {
      prompts += 1;
      await pause(PAUSE_MS);
      const sent = performance.now();
      for await (const _ of session.run(
        `Do part ${prompts} of the work. Use plain words in part ${prompts}.`,
      ));
      return arrived - sent;
    },
    idle: async () => session.background?.idle(),
    ledger() {
      const reader = openReader({ project: findPlace({ cwd, env }).project, session: session.id });
      const ledger = ledgerOf(reader.events());
      reader.close();
      return ledger;
    },
    hits: () => emulator.requests.filter(isFork).map(hitOf),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const line = (word: string, times: number): string =>
  `A ${word} of this project that is as long as they usually are.\n`.repeat(times);

function lastText({ request }: Pick<RequestView, 'request'>): string {
  return JSON.stringify(request.messages.at(-1));
}

function isPrompt(view: RequestView): boolean {
  return lastText(view).includes('Do part ') && !lastText(view).includes(FORK_RULES);
}

function isFork({ body }: RequestRecord): boolean {
  return body.includes(FORK_RULES);
}

function hitOf({ usage }: RequestRecord): number {
  const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = usage ?? {};
  return cache_read_input_tokens / (input_tokens + cache_creation_input_tokens + cache_read_input_tokens);
}

/** A fork answers as it is asked to; the main agent reads a file seven times and then answers. */
function answerTo(view: RequestView): Answer {
  const last = lastText(view);
  if (last.includes(FORK_RULES)) return forkAnswer(last);
  const { messages } = view.request;
  const since =
    messages.length - 1 - messages.findLastIndex((message) => JSON.stringify(message).includes('"Do part '));
  if (since >= 2 * (REQUESTS - 1)) return { text: line('result', 8) };
  return {
    text: 'I look at the next place.',
    tool_use: [{ name: 'Read', input: { file_path: 'part.txt' } }],
  };
}

function forkAnswer(task: string): Answer {
  const next = [1, 2, 3].map((index) => `NEXT: Check place ${index} and run its tests again.`);
  if (task.includes(SUGGEST)) return { text: next.join('\n') };
  const number = /part (\d+) of the work/.exec(task)?.[1] ?? '0';
  const fact = (index: number): string =>
    `FACT part-${number}: Place ${index} of part ${number} has code of its own.`;
  const note = (index: number): string => `NOTE: Step ${index} of part ${number} is done and checked.`;
  const found = [1, 2, 3, 4].flatMap((index) => [fact(index), note(index)]);
  return { text: [...found, ...next].join('\n') };
}

if (import.meta.main) await run();
