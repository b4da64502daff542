import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { type ScriptedStep, scriptedModel } from '../../testing/scripted-model.ts';
import { openSession, type Session } from './session.ts';

async function open(...steps: ScriptedStep[]): Promise<Session> {
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  const session = await openSession({ cwd: temporaryRepository(), env, provider: scriptedModel(...steps) });
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

describe('RES-1: every result says which model it came from', () => {
  test("a type has its own, a fork its parent's", async () => {
    const session = await open({ text: 'one' }, { text: 'two' });
    const explorer = await session.spawn({ prompt: 'Find.', description: 'find', subagent_type: 'Explore' });
    expect(await explorer.result).toMatchObject({ model: 'claude-haiku-4-5' });
    expect(await (await session.fork('Go.')).result).toMatchObject({ model: session.model });
  });
});
