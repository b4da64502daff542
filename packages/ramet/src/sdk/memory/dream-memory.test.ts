/** Dreams with agents: by hand and between the turns of a session. Both look and answer; both try to write, and cannot. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { ask, type MemoryWorld, newWorld } from '../../../test/fixtures/memory-world.ts';
import type { Answer } from '../../emulator/answer.ts';
import { DEFAULT_DREAM_TERMS, DreamRecord } from '../../memory/dream/dream-record.ts';
import { DREAM } from '../../memory/dream/run-dream.ts';
import { indexPath, scopeFolder, storeOf } from '../../memory/files/memory-places.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { cost, latestInterrupted, sessionList, status } from '../calls/status.ts';
import { openSession } from '../session/session.ts';
import { dreamMemory } from './dream-memory.ts';
import { undoMemory } from './memory-calls.ts';

const OLD = 'The build writes its output to the folder out of the project.';
const NEW = 'The build writes its output to the folder dist of the project.';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ONLY_DREAMS = { extractMemories: false, sessionMemory: false };

/** It tries to write first, and answers then. */
async function dreamingWorld(): Promise<MemoryWorld & { index: string; tried: string[] }> {
  const tried: string[] = [];
  let index = '';
  let task = '';
  const world = await newWorld((asked): Answer | undefined => {
    // A fork's own task is no longer in its last message once it has called tools.
    if (asked.includes(DREAM)) task = asked;
    else if (tried.length === 0 || !asked.includes('tool_result')) return undefined;
    const id = (text: string): string => new RegExp(`(L\\d+) \\[[^\\]]*\\] ${text}`).exec(task)?.[1] ?? 'L0';
    if (tried.length === 0) {
      tried.push(index);
      return {
        tool_use: [
          { name: 'Write', input: { file_path: index, content: '- stolen\n' } },
          { name: 'Write', input: { file_path: 'stolen.txt', content: 'x' } },
          { name: 'Bash', input: { command: `rm -rf ${index}; touch stolen.sh`, description: 'x' } },
          { name: 'Agent', input: { prompt: 'Write it.', description: 'x' } },
        ],
      };
    }
    return { text: `DROP ${id(OLD)} contradicted by ${id(NEW)}\nDROP ${id(NEW)} it is old` };
  });
  index = indexPath(scopeFolder(world.at, 'project'));
  using store = new MemoryStore(storeOf(world.at, 'project'), () => clock.at);
  const clock = { at: Date.UTC(2026, 0, 1) };
  const source = { kind: 'extraction', session: null, agent: null, turn: null } as const;
  await store.change(source, () => new Map([['MEMORY.md', `## build\n- ${OLD}\n`]]));
  clock.at += 9 * DAY;
  await store.change(source, () => new Map([['MEMORY.md', `## build\n- ${OLD}\n- ${NEW}\n`]]));
  return { ...world, index, tried };
}

const BEFORE = `## build\n- ${OLD}\n- ${NEW}\n`;
const AFTER = `## build\n- ${NEW} (2026-01-10)\n`;

function expectNothingStolen({ options, emulator }: MemoryWorld): void {
  for (const name of ['stolen.txt', 'stolen.sh'])
    expect(existsSync(join(options.cwd ?? '', name))).toBe(false);
  const types = emulator.requests.filter(({ body }) => body.includes('Write it.') && !body.includes(DREAM));
  expect(types).toEqual([]);
}

describe('BG-7, EXEC-4: a dream by hand', () => {
  test('runs when it is time or at once, looks with agents that cannot write, and is undone to the byte', async () => {
    const world = await dreamingWorld();
    const { cwd = '', env = {} } = world.options;
    const call = { cwd, env };
    expect((await dreamMemory({}, call)).dreamt).toBeNull();
    expect(world.emulator.requests).toHaveLength(0);
    const { dreamt } = await dreamMemory({ now: true }, call);
    expect(readFileSync(world.index, 'utf8')).toBe(AFTER);
    expect(dreamt?.removed).toEqual([{ file: 'MEMORY.md', line: `- ${OLD}`, why: `contradicted: - ${NEW}` }]);
    expect(dreamt?.refused).toHaveLength(1);
    expectNothingStolen(world);
    await undoMemory(dreamt?.change ?? '', call);
    expect(readFileSync(world.index, 'utf8')).toBe(BEFORE);
    using record = new DreamRecord(storeOf(world.at, 'project'));
    using _lock = record.lock();
    await expect(dreamMemory({ now: true }, call)).rejects.toThrow('another process tidies up this memory');
  });

  test('does not count if the model has answered nothing', async () => {
    const world = await newWorld((asked) =>
      asked.includes(DREAM) ? { text: '', stop_reason: 'refusal' } : undefined,
    );
    world.write(indexPath(scopeFolder(world.at, 'project')), BEFORE);
    const { cwd = '', env = {} } = world.options;
    using record = new DreamRecord(storeOf(world.at, 'project'));
    for (const session of ['a', 'b', 'c', 'd', 'e'])
      record.look(Date.now() - 2 * DAY, DEFAULT_DREAM_TERMS, session);
    const { dreamt } = await dreamMemory({}, { cwd, env });
    expect(dreamt).toMatchObject({ unanswered: 1, removed: [] });
    expect(record.look(Date.now(), DEFAULT_DREAM_TERMS, null)).toMatchObject({ sessions: 5, isDue: true });
  });

  test('is nothing that is resumed: the latest session is the one before it', async () => {
    const world = await dreamingWorld();
    const { id } = await ask(world.options, 'What do you know?');
    const { cwd = '', env = {} } = world.options;
    await dreamMemory({ now: true }, { cwd, env });
    const [dream] = sessionList({ cwd, env });
    expect(dream?.session).not.toBe(id);
    await using again = await openSession({ ...world.options, resume: 'latest' });
    expect(again.id).toBe(id);
    expect(cost(undefined, { cwd, env }).session.session).toBe(id);
    expect(() => latestInterrupted({ cwd, env })).toThrow('nothing to resume');
    // Nothing of it was interrupted.
    const all = status({ cwd, env }).find(({ session }) => session.session === dream?.session);
    expect(all?.agents.map(({ agent }) => agent.status)).toEqual(['done', 'done']);
  });
});

describe('BG-7, EXEC-4: a dream between turns', () => {
  test('begins when it is due, writes nothing but memory, and happens once', async () => {
    const world = await dreamingWorld();
    const at = storeOf(world.at, 'project');
    {
      using record = new DreamRecord(at);
      for (const session of ['a', 'b', 'c', 'd'])
        record.look(Date.now() - 2 * DAY, DEFAULT_DREAM_TERMS, session);
    }
    const heard: unknown[] = [];
    await using session = await openSession({
      ...world.options,
      background: true,
      settings: { ...world.options.settings, background: { costShare: 1 } },
      hooks: { MemoryWritten: [{ hooks: [(input) => void heard.push(input.source)] }] },
    });
    for (const prompt of ['First.', 'Second.', 'Third.']) {
      await drain(session.run(prompt));
      if (prompt === 'First.') await expect.poll(() => readFileSync(world.index, 'utf8')).toBe(AFTER);
    }
    expect(readFileSync(world.index, 'utf8')).toBe(AFTER);
    expectNothingStolen(world);
    expect(world.emulator.requests.filter(({ body }) => body.includes(DREAM)).length).toBeLessThan(4);
    await expect.poll(() => heard).toEqual(['dream']);
    using record = new DreamRecord(at);
    expect(record.look(Date.now(), DEFAULT_DREAM_TERMS, null)).toMatchObject({ sessions: 0, isDue: false });
    using store = new MemoryStore(at);
    expect(store.changes().at(-1)).toMatchObject({ kind: 'dream', session: session.id });
    expect(record.lock()).not.toBeNull();
  });

  test('begins in a session that is open for long: others have counted meanwhile, or the lock was held', async () => {
    const world = await dreamingWorld();
    const at = storeOf(world.at, 'project');
    const clock = simulatedClock(Date.now());
    await using session = await openSession({
      ...{ ...world.options, clock, background: true },
      settings: { ...world.options.settings, background: { costShare: 1, ...ONLY_DREAMS } },
    });
    const turn = async (hours: number): Promise<void> => {
      await clock.advance(hours * HOUR);
      await drain(session.run('Next.'));
      await session.background?.idle();
    };
    const dreams = (): number => world.emulator.requests.filter(({ body }) => body.includes(DREAM)).length;
    await turn(0);
    {
      using record = new DreamRecord(at);
      for (const other of ['a', 'b', 'c', 'd']) record.look(clock.now(), DEFAULT_DREAM_TERMS, other);
      await turn(23);
      expect(dreams()).toBe(0);
      using _held = record.lock();
      await turn(2);
      expect(dreams()).toBe(0);
    }
    await turn(2);
    expect(readFileSync(world.index, 'utf8')).toBe(AFTER);
    const asked = dreams();
    expect(asked).toBeGreaterThan(0);
    await turn(30);
    expect(dreams()).toBe(asked);
  });

  test.for([
    ['is off', { enabled: false }, BEFORE],
    ['begins after as many hours and sessions', { enabled: true }, AFTER],
  ] as const)('%s where settings say so', async ([, { enabled }, text]) => {
    const world = await dreamingWorld();
    await using session = await openSession({
      ...{ ...world.options, background: true },
      settings: {
        ...world.options.settings,
        memory: { dream: { enabled, hours: 0, sessions: 1 } },
        background: { costShare: 1, ...ONLY_DREAMS },
      },
    });
    await drain(session.run('First.'));
    await session.background?.idle();
    expect(readFileSync(world.index, 'utf8')).toBe(text);
  });
});
