import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { eventsOf } from '../../../test/fixtures/family.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import type { JournalEvent } from '../../schema/events.ts';
import { type ScriptedStep, scriptedModel } from '../../testing/scripted-model.ts';
import type { SessionOptions } from '../index.ts';
import { openSession, type Session } from './session.ts';

const recorded: JournalEvent[] = [];
const onRecord: NonNullable<SessionOptions['onRecord']> = (_, event) => recorded.push(event);

async function open(...steps: ScriptedStep[]): Promise<Session> {
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  const cwd = temporaryRepository();
  recorded.length = 0;
  const session = await openSession({ cwd, env, onRecord, provider: scriptedModel(...steps) });
  onTestFinished(() => session[Symbol.asyncDispose]());
  return session;
}

const again = { calls: [{ name: 'Glob', input: { pattern: '*' } }], usage: { input_tokens: 900 } };

describe('RES-10: a program limits what one child may take', () => {
  test('tokens: at the limit it stops, and its siblings continue', async () => {
    const session = await open(again, again, { text: 'fine' });
    const limited = await session.spawn({
      prompt: 'Look around.',
      description: 'look',
      subagent_type: 'general-purpose',
      budget: { tokens: 1_000 },
    });
    expect(await limited.result).toMatchObject({ status: 'failed', cause: 'budget', turns: 2 });
    const sibling = await session.spawn({ prompt: 'And you?', description: 'ask', subagent_type: 'Explore' });
    expect(await sibling.result).toMatchObject({ status: 'done', text: 'fine' });
  });

  test('turns: it gets one closing turn', async () => {
    const session = await open(again, again);
    const handle = await session.spawn({ prompt: 'Look.', description: 'look', maxTurns: 1 });
    expect(await handle.result).toMatchObject({ status: 'failed', cause: 'max_turns', turns: 2 });
  });
});

describe('EXEC-2: a program says where one child runs', () => {
  test('in a process of its own, beside one in this process', async () => {
    const look = { calls: [{ name: 'Bash', input: { command: 'echo $PPID' } }] };
    const session = await open(look, { text: 'apart' }, look, { text: 'here' });
    const order = { prompt: 'p', description: 'd', subagent_type: 'general-purpose' };
    const apart = await session.spawn({ ...order, executor: 'process' });
    expect(await apart.result).toMatchObject({ status: 'done', text: 'apart' });
    const here = await session.spawn({ ...order, executor: 'in-process' });
    expect(await here.result).toMatchObject({ status: 'done', text: 'here' });
    const started = eventsOf(recorded, 'agent.started').flatMap(({ origin }) =>
      origin ? [origin.executor] : [],
    );
    expect(started).toEqual(['process', undefined]);
  });

  test.for(['processes', 1, 'remote'])('%s is no executor', async (executor) => {
    const session = await open();
    const order = { prompt: 'p', description: 'd', executor: executor as never };
    await expect(session.spawn(order)).rejects.toThrow(/session.spawn: .*executor.*in-process/);
  });
});

describe('LIB-1: a message that is none', () => {
  test('is refused in one line', async () => {
    const session = await open();
    expect(() => session.steer(5 as never)).toThrow(/^session.steer: the message is 5; give a text/);
    await expect(session.tell('x', ' ')).rejects.toThrow(/^session.tell: the message/);
    await expect(session.tell(null as never, 'x')).rejects.toThrow(/^session.tell: the name or id/);
  });
});

describe('RES-1: every result says which model it came from', () => {
  test("a type has its own, a fork its parent's", async () => {
    const session = await open({ text: 'one' }, { text: 'two' });
    const explorer = await session.spawn({ prompt: 'Find.', description: 'find', subagent_type: 'Explore' });
    expect(await explorer.result).toMatchObject({ model: 'claude-haiku-4-5' });
    expect(await (await session.fork('Go.')).result).toMatchObject({ model: session.model });
  });
});

describe('LIB-1: the value of a fork, and of a child, has the type of its schema', () => {
  const Count = z.object({ files: z.number().transform(String), sum: z.number().refine((sum) => sum > 2) });

  test('it is what the schema makes of the answer', async () => {
    const session = await open({ text: '{"files":3,"sum":4}' }, { text: '{"sum":1}' });
    const fork = await session.fork('Count.', { schema: Count });
    const result = await fork.result;
    expectTypeOf(result.value).toEqualTypeOf<{ files: string; sum: number } | undefined>();
    expect(result).toMatchObject({ status: 'done', value: { files: '3', sum: 4 } });
    expect([fork.type, fork.inBackground, fork.steer('late')()]).toEqual(['fork', false, false]);
    const schema = { type: 'object', required: ['sum'] };
    const child = await session.spawn({ prompt: 'p', description: 'd', subagent_type: 'Explore', schema });
    expectTypeOf((await child.result).value).toEqualTypeOf<unknown>();
    expect(await child.result).toMatchObject({ value: { sum: 1 } });
  });

  test('it is absent where the schema refuses more than JSON Schema can say, and the result says why', async () => {
    const session = await open({ text: '{"files":3,"sum":1}' });
    const { value, valueProblem, text } = await (await session.fork('Count.', { schema: Count })).result;
    expect({ value, text }).toEqual({ value: undefined, text: '{"files":3,"sum":1}' });
    expect(valueProblem).toMatch(/^sum: /);
  });
});
