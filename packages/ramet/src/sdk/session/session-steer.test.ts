import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { SessionOptions } from '../options.ts';
import { openSession } from './session.ts';
import type { SteeredMessage } from './session-type.ts';

const bash = (command: string) => ({ calls: [{ name: 'Bash', input: { command } }] });

function placeOptions(): SessionOptions {
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  return { cwd: temporaryRepository(), env };
}

describe('AGENT-7: saying something to the main agent while it works', () => {
  test('It reads the message after its current tool call, and the sender can tell', async () => {
    const provider = scriptedModel(bash('true'), { text: 'Done.' });
    await using session = await openSession({ ...placeOptions(), provider });
    let message: SteeredMessage | undefined;
    for await (const event of session.run('Go.')) {
      if (event.type !== 'tool_started') continue;
      message = session.steer('And be quick.');
      expect(message.isDelivered).toBe(false);
    }
    expect(message?.isDelivered).toBe(true);
    expect(message?.withdraw()).toBe(false);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain('And be quick.');
  });

  test('what was taken back is not heard, also not by a resumed session', async () => {
    const options = placeOptions();
    const provider = scriptedModel(bash('true'), { text: 'Done.' });
    {
      await using session = await openSession({ ...options, provider });
      for await (const event of session.run('Go.')) {
        if (event.type !== 'tool_started') continue;
        session.steer('Stay.');
        const message = session.steer('Do not say this.');
        expect(message.withdraw()).toBe(true);
        expect(message.isDelivered).toBe(false);
      }
      session.steer('Late.').withdraw();
    }
    const again = scriptedModel({ text: 'Yes.' });
    await using resumed = await openSession({ ...options, provider: again, resume: 'latest' });
    expect(resumed.hasNews).toBe(false);
    await drain(resumed.run('Still there?'));
    const all = JSON.stringify([...provider.requests, ...again.requests]);
    expect(all).toContain('Stay.');
    expect(all).not.toMatch(/Do not say this|Late\./);
  });
});

describe('AGENT-3: saying something to a child from outside', () => {
  test('one that has ended resumes with it in the background, and its report is news', async () => {
    const provider = scriptedModel({ text: 'Ready.' }, { text: 'First report.' }, { text: 'Second report.' });
    await using session = await openSession({ ...placeOptions(), provider });
    await drain(session.run('Go.'));
    const first = await session.spawn({ prompt: 'child', description: 'x', name: 'scout' });
    await first.result;
    expect(session.hasNews).toBe(false);
    const again = await session.tell('scout', 'Look again.');
    expect(again).toMatchObject({ id: first.id, inBackground: true });
    expect(await again.result).toMatchObject({ status: 'done', text: 'Second report.' });
    expect(JSON.stringify(provider.requests[2]?.messages.at(-1))).toMatch(/the user.*Look again\./);
    expect(session.hasNews).toBe(true);
  });

  test('one that never was is refused with those that were', async () => {
    const provider = scriptedModel({ text: 'Ready.' });
    await using session = await openSession({ ...placeOptions(), provider });
    await drain(session.run('Go.'));
    await expect(session.tell('nobody', 'Hello?')).rejects.toThrow('There is no agent "nobody"');
  });
});

test('RES-3: a watcher learns that an agent is blocked by a question, and that it continues', async () => {
  const provider = scriptedModel(bash('touch x'), { text: 'Done.' });
  const broker: SessionOptions['broker'] = { ask: async () => ({ kind: 'once' }) };
  await using session = await openSession({ ...placeOptions(), provider, broker });
  const { events } = await drain(session.run('Go.'));
  const changes = events.flatMap((event) =>
    event.type === 'status_changed' ? [[event.status, event.cause]] : [],
  );
  expect(changes).toEqual([
    ['blocked', 'permission'],
    ['running', null],
  ]);
});
