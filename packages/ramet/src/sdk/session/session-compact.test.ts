import { describe, expect, onTestFinished, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import type { SessionOptions } from '../options.ts';
import { openSession, type Session } from './session.ts';

const read = { text: 'I look.', calls: [{ name: 'Read', input: { file_path: 'long.txt' } }] };

async function open(options: SessionOptions): Promise<Session> {
  const cwd = temporaryRepository();
  writeFiles(cwd, { 'long.txt': 'A long line of text, again and again.\n'.repeat(800) });
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  const session = await openSession({ cwd, env, ...options });
  onTestFinished(() => session[Symbol.asyncDispose]());
  return session;
}

describe('RES-7: compacting a session on request', () => {
  test('shortens the conversation, and the next prompt continues from there', async () => {
    const provider = scriptedModel(read, read, read, { text: 'Seen.' }, { text: 'SUMMARY' }, (request) => {
      expect(JSON.stringify(request.messages)).toContain('SUMMARY');
      expect(JSON.stringify(request.messages.at(-1))).toContain('Go on.');
      return { text: 'Gone on.' };
    });
    const session = await open({ provider });
    await drain(session.run('Look.'));
    const told: string[] = [];
    const subscribed: string[] = [];
    session.subscribe(({ agentId, type }) => {
      if (agentId === session.agent.id) subscribed.push(type);
    });
    const outcome = await session.compact({ onEvent: ({ type }) => told.push(type) });
    expect(outcome).toMatchObject({ compacted: true, summary: 'SUMMARY', usage: { output_tokens: 5 } });
    expect(told).toEqual(['conversation_replaced']);
    expect((await drain(session.run('Go on.'))).result).toMatchObject({ status: 'done', text: 'Gone on.' });
    // Between prompts everything, while a prompt is carried out only what its reader does not get.
    expect(subscribed).toEqual(['conversation_replaced']);
    provider.assertDone();
  });

  test('says why when it does not work out, and the conversation stays', async () => {
    const provider = scriptedModel(read, read, read, { text: 'Seen.' }, { text: '' }, (request) => {
      expect(request.messages).toHaveLength(9);
      return { text: 'Gone on.' };
    });
    const session = await open({ provider });
    await drain(session.run('Look.'));
    expect(await session.compact()).toMatchObject({ compacted: false, reason: 'the summary is empty' });
    expect((await drain(session.run('Go on.'))).result.status).toBe('done');
  });

  test('is refused while a prompt is being carried out', async () => {
    const session = await open({ provider: scriptedModel({ text: 'ok' }) });
    const events = session.run('Go.');
    await events.next();
    await expect(session.compact()).rejects.toThrow('still running its last prompt');
    await drain(events);
  });

  test('rejects when it is aborted', async () => {
    const provider = scriptedModel(read, read, read, { text: 'Seen.' }, 'hang');
    const session = await open({ provider });
    await drain(session.run('Look.'));
    const controller = new AbortController();
    const compacting = session.compact({ signal: controller.signal });
    setTimeout(() => controller.abort(), 10);
    await expect(compacting).rejects.toMatchObject({ code: 'cancelled' });
  });

  test.each([0, -1, 1.5, Number.NaN])('a threshold of %d is refused', async (compactionThreshold) => {
    const opening = open({ provider: scriptedModel(), compactionThreshold });
    await expect(opening).rejects.toThrow(/compactionThreshold is .+: give a share/);
  });
});
