/** Background forks on an emulator that counts what its cache holds. */
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, startEngine } from '../../../test/fixtures/engine.ts';
import { eventsOf, familyOf, promptBytes, taskOf } from '../../../test/fixtures/family.ts';
import { type Answer, type EmulatorOptions, type RequestView, startEmulator } from '../../emulator/index.ts';
import { inProcess } from '../../executors/in-process.ts';
import { agentStatuses, statusBoardOf } from '../../journal/projections/status.ts';
import { openReader } from '../../journal/sessions.ts';
import { anthropicProvider } from '../../model/anthropic/anthropic.ts';
import { createRateWindow } from '../../model/rate/rate-window.ts';
import { systemClock } from '../../schema/clock.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { ledgerOf } from '../../views/ledger/ledger.ts';
import type { SessionRuntime } from '../agent/runtime.ts';
import { Spending } from '../budget/budget.ts';
import { BackgroundForks, type BackgroundOptions } from './background-forks.ts';
import { type BackgroundOutcome, type BackgroundWork, NO_TOOLS, ONE_ANSWER } from './background-work.ts';

const TASK = 'NOTE what is new.';
/** About 12,000 tokens. */
const LONG = 'A line of the project that everybody has to know about.\n'.repeat(860);

type Respond = (view: RequestView) => Answer | Promise<Answer>;

interface Setting {
  fork?: Respond;
  emulator?: EmulatorOptions;
  runtime?: Partial<SessionRuntime>;
  work?: Partial<BackgroundWork>;
  options?: Partial<BackgroundOptions>;
  spending?: Spending;
}

async function start({ fork, emulator: emulated, runtime, work, options, ...setting }: Setting = {}) {
  const { spending = new Spending({}, 0) } = setting;
  const over = Promise.withResolvers<Answer>();
  const emulator = await startEmulator({
    respond: (view) =>
      view.task.startsWith(TASK)
        ? Promise.race([fork?.(view) ?? { text: 'Scope: notes\nFOUND' }, over.promise])
        : { text: 'The answer.' },
    ...emulated,
  });
  onTestFinished(() => {
    over.resolve({ text: 'The test is over.' });
    return emulator.close();
  });
  const provider = anthropicProvider({ baseUrl: new URL(emulator.url), apiKey: 'test', env: {} });
  const engine = await startEngine({
    provider,
    spec: { system: [LONG], spending },
    ...(runtime && { runtime }),
  });
  const family = familyOf(engine, inProcess, { spending });
  const taken: string[] = [];
  const outcomes: BackgroundOutcome[] = [];
  const notes: BackgroundWork = {
    source: 'memory',
    description: 'note what is new',
    limits: ONE_ANSWER,
    canUseTool: NO_TOOLS,
    endsWithPrompt: false,
    due: () => ({ task: TASK, take: ({ answer }) => void taken.push(answer) }),
    ...work,
  };
  const forks = new BackgroundForks({
    family,
    works: [notes],
    costShare: 10,
    onEnd: (outcome) => outcomes.push(outcome),
    ...options,
  });
  const turn = async (prompt: string): Promise<void> => {
    expect((await engine.run(prompt)).result.status).toBe('done');
    forks.turnEnded({ agent: engine.agent, prompts: 1 });
  };
  const requests = () => emulator.requests.filter((record) => taskOf(record).startsWith(TASK));
  return { engine, emulator, family, forks, taken, outcomes, turn, requests };
}

async function eventsIn({ runtime: { journal } }: EngineFixture): Promise<RecordedEvent[]> {
  await journal.commit('written');
  const reader = openReader({ project: dirname(journal.file), session: journal.session });
  try {
    return [...reader.events()];
  } finally {
    reader.close();
  }
}

const warnings = (engine: EngineFixture): string[] =>
  eventsOf(engine.recorded(), 'warning.raised').map(({ message }) => message);

describe('BG-1: a background fork', () => {
  test('reads its prefix from the cache, runs no tool, is on record with its source, and its answer is taken', async () => {
    const { engine, emulator, forks, taken, turn, requests } = await start();
    await turn('First.');
    await turn('Second.');
    await forks.idle();
    await turn('Third.');
    await forks.idle();
    expect(taken).toEqual(['Scope: notes\nFOUND', 'Scope: notes\nFOUND']);
    expect(requests()).toHaveLength(2);
    for (const { usage } of requests()) {
      const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = usage ?? {};
      const whole = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
      expect(cache_read_input_tokens).toBeGreaterThan(10_000);
      expect(cache_read_input_tokens / whole).toBeGreaterThan(0.95);
    }
    // Byte for byte what the main agent sends next, up to what is the fork's own.
    const [fork, next] = [requests()[0], emulator.requests.at(-2)].map((one) =>
      one ? promptBytes(one) : '',
    );
    const shared = fork?.slice(0, fork.indexOf('{"type":"text","text":"You are now a fork')) ?? '';
    expect(shared.length).toBeGreaterThan(LONG.length);
    expect(next?.startsWith(shared)).toBe(true);
    const events = await eventsIn(engine);
    const [started] = eventsOf(engine.recordedOf(`${engine.runtime.journal.session}.2`), 'agent.started');
    expect(started).toMatchObject({ agentType: 'fork', origin: { source: 'memory', skipTranscript: true } });
    const [, agent] = agentStatuses(statusBoardOf(events), { writerAlive: true });
    expect(agent).toMatchObject({
      source: 'memory',
      status: 'done',
      description: 'memory: note what is new',
    });
    const ledger = ledgerOf(events);
    expect(ledger.sources.get('memory')).toMatchObject({ requests: 2, responses: 2 });
    expect(ledger.sources.get('memory')?.costUsd).toBeGreaterThan(0);
  });

  test('is told that it has no tools, and its next answer counts', async () => {
    let asked = 0;
    const { engine, cwd, taken, forks, turn, requests } = await start({
      fork: ({ last }) => {
        asked += 1;
        if (asked > 1) return { text: `SEEN ${last.includes('you work in the background')}` };
        return {
          tool_use: [
            { name: 'Write', input: { file_path: 'stolen.txt', content: 'x' } },
            { name: 'Bash', input: { command: 'touch stolen.sh', description: 'x' } },
            { name: 'Agent', input: { prompt: 'Do it.', description: 'x' } },
          ],
        };
      },
    }).then((world) => ({ ...world, cwd: world.engine.cwd }));
    await turn('First.');
    await forks.idle();
    expect(taken).toEqual(['SEEN true']);
    expect(requests()).toHaveLength(2);
    expect(readdirSync(cwd).filter((name) => name.startsWith('stolen'))).toEqual([]);
    expect(eventsOf(engine.recorded(), 'agent.started')).toHaveLength(2);
  });

  test('that only calls tools ends after its third request, and nothing is taken', async () => {
    const { taken, outcomes, forks, turn, requests } = await start({
      fork: () => ({ tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] }),
    });
    await turn('First.');
    await forks.idle();
    expect([taken, requests().length]).toEqual([[], 3]);
    expect(outcomes).toMatchObject([{ result: { status: 'failed', cause: 'max_turns' } }]);
  });

  test('meets an outage: it is not tried again, and the main agent hears nothing of it', async () => {
    let failed = 0;
    const { engine, outcomes, forks, turn } = await start({
      fork: () => {
        failed += 1;
        throw new Error('down');
      },
    });
    await turn('First.');
    await forks.idle();
    expect(failed).toBe(1);
    expect(outcomes).toMatchObject([{ result: { status: 'failed' } }]);
    expect(warnings(engine)).toEqual([]);
    expect((await engine.run('Second.')).result.status).toBe('done');
  });

  test('whose answer cannot be kept is reported once', async () => {
    const { engine, forks, turn } = await start({
      work: {
        due: () => ({
          task: TASK,
          take() {
            throw new Error('no space left on device');
          },
        }),
      },
    });
    for (const prompt of ['First.', 'Second.']) {
      await turn(prompt);
      await forks.idle();
    }
    expect(warnings(engine)).toEqual([expect.stringMatching(/\(memory\) found is not kept: no space left/)]);
  });
});

describe('BG-1: background work gives way', () => {
  const hang: Respond = () => new Promise<Answer>(() => {});

  test('continues beside the next prompt, or ends with it where its result is of no use then', async () => {
    const arrived = Promise.withResolvers<Answer>();
    const beside = await start({ fork: () => arrived.promise });
    await beside.turn('First.');
    await expect.poll(() => beside.requests().length).toBe(1);
    beside.forks.promptBegins(beside.engine.agent);
    expect((await beside.engine.run('Second.')).result.status).toBe('done');
    expect(beside.forks.running).toEqual(['memory']);
    arrived.resolve({ text: 'LATE' });
    await beside.forks.idle();
    expect(beside.taken).toEqual(['LATE']);

    const ended = await start({ fork: hang, work: { endsWithPrompt: true } });
    await ended.turn('First.');
    await expect.poll(() => ended.requests().length).toBe(1);
    ended.forks.promptBegins(ended.engine.agent);
    expect((await ended.engine.run('Second.')).result.status).toBe('done');
    await ended.forks.idle();
    expect([ended.taken, ended.outcomes]).toMatchObject([[], [{ result: { status: 'cancelled' } }]]);
  });

  test('where only one request may be under way, the prompt takes its place', async () => {
    const retry = { maxRetries: 0, withinMs: 1_000, baseMs: 1, capMs: 1 };
    const { engine, forks, turn, requests, outcomes } = await start({
      fork: hang,
      runtime: {
        rate: createRateWindow({
          ...{ clock: systemClock, policy: retry, concurrentRequests: 1 },
          provider: anthropicProvider({ baseUrl: new URL('http://127.0.0.1:1'), apiKey: 'test', env: {} }),
        }),
      },
    });
    await turn('First.');
    await expect.poll(() => requests().length).toBe(1);
    forks.promptBegins(engine.agent);
    expect((await engine.run('Second.')).result.status).toBe('done');
    expect(outcomes).toMatchObject([{ result: { status: 'cancelled' } }]);
  });

  test.each<[string, Setting & { occupy?: boolean }]>([
    ['the budget is nearly spent', { spending: new Spending({ tokens: 13_000 }, 0) }],
    ['all permits are in use', { occupy: true }],
    ['it has had its share of the cost', { options: { costShare: 0.001 } }],
    ['nothing is due', { work: { due: () => null } }],
  ])('does not begin when %s', async (_, { occupy, ...setting }) => {
    const { family, forks, turn, requests, outcomes } = await start(setting);
    while (occupy === true && family.capacity.tryTake());
    await turn('First.');
    await forks.idle();
    expect([requests(), outcomes]).toEqual([[], []]);
  });

  test('does not begin where a long answer that is in no cache yet would take more than the share', async () => {
    let length = 8_000;
    const answer = (): Answer => ({ text: 'word '.repeat(length) });
    const { engine, forks, turn, requests } = await start({
      emulator: { respond: ({ task }) => (task.startsWith(TASK) ? { text: 'FOUND' } : answer()) },
      options: { costShare: 0.15 },
    });
    await turn('First.');
    await forks.idle();
    expect(requests()).toHaveLength(0);
    length = 1;
    // The next request has written it.
    for (let prompt = 0; prompt < 3 && requests().length === 0; prompt += 1) {
      await turn('Next.');
      await forks.idle();
    }
    expect(requests()).toHaveLength(1);
    const { sources, total } = ledgerOf(await eventsIn(engine));
    const own = sources.get('memory')?.costUsd ?? 0;
    expect(own).toBeLessThan(((total.costUsd ?? 0) - own) * 0.15);
  });

  test('does not begin on a long prefix that the cache has lost', async () => {
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const { engine, forks, requests } = await start({ runtime: { clock } });
    expect((await engine.run('First.')).result.status).toBe('done');
    now += 6 * 60_000;
    forks.turnEnded({ agent: engine.agent, prompts: 1 });
    await forks.idle();
    expect(requests()).toEqual([]);
  });

  test('holds no permit: as many agents as may run still begin at once', async () => {
    const { family, forks, turn, requests } = await start({ fork: hang });
    await turn('First.');
    await expect.poll(() => requests().length).toBe(1);
    let free = 0;
    while (family.capacity.tryTake()) free += 1;
    expect(free).toBe(family.capacity.limit);
    expect(family.running).toEqual([]);
    expect(forks.running).toEqual(['memory']);
  });

  test('ends with the session, and what comes later is not taken', async () => {
    const { engine, forks, taken, turn, requests, outcomes } = await start({ fork: hang });
    await turn('First.');
    await expect.poll(() => requests().length).toBe(1);
    await forks.close(engine.agent);
    expect([taken, outcomes]).toMatchObject([[], [{ result: { status: 'cancelled', cause: 'stopped' } }]]);
    forks.turnEnded({ agent: engine.agent, prompts: 2 });
    await forks.idle();
    expect(requests()).toHaveLength(1);
  });
});
