import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { openReader } from '../journal/sessions.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { cost, transcript } from './index.ts';
import { findPlace } from './place.ts';
import { openSession, type Session } from './session/session.ts';

const where = (): { cwd: string; env: NodeJS.ProcessEnv } => ({
  cwd: temporaryRepository(),
  env: { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH },
});

function eventsOf(place: { cwd: string; env: NodeJS.ProcessEnv }, session: string): unknown[] {
  const reader = openReader({ project: findPlace(place).project, session });
  try {
    return [...reader.events()];
  } finally {
    reader.close();
  }
}

async function asked(place: object, text: string): Promise<string> {
  await using session = await openSession({ ...place, provider: scriptedModel({ text }) });
  await session.ask('First prompt.');
  return session.id;
}

describe('UI-4: a session that begins with the conversation of another', () => {
  test('has the same prefix, its own id and bill, and leaves the other one as it was', async () => {
    const place = where();
    const calls = [{ name: 'Glob', input: { pattern: '*' } }];
    const first = scriptedModel({ calls }, { text: 'First answer.' });
    let old: Session['id'];
    {
      await using session = await openSession({ ...place, provider: first });
      await session.ask('First prompt.');
      old = session.id;
    }
    const before = eventsOf(place, old);
    const bill = await cost(old, place);
    const provider = scriptedModel({ text: 'Second answer.' }, { text: 'Third answer.' });
    const options = { ...place, provider, resume: 'latest', forkSession: true, sessionId: 'a1b2c3d4' };
    {
      await using fork = await openSession(options);
      expect(fork.id).toBe('a1b2c3d4');
      await fork.ask('Second prompt.');
    }
    expect(eventsOf(place, old)).toEqual(before);
    expect(await cost(old, place)).toEqual(bill);
    const { system, tools, messages } = first.requests[1] ?? {};
    const sent = provider.requests[0];
    expect({ system: sent?.system, tools: sent?.tools }).toEqual({ system, tools });
    const bare = (given: unknown): unknown =>
      JSON.parse(JSON.stringify(given, (key, value) => (key === 'cache_control' ? undefined : value)));
    expect(bare(sent?.messages.slice(0, messages?.length))).toEqual(bare(messages));
    expect(JSON.stringify(sent?.messages)).toContain('First answer.');
    const billed = JSON.parse(JSON.stringify(await cost('a1b2c3d4', place)));
    expect(JSON.stringify(billed)).not.toContain(`${old}.`);
    expect(JSON.stringify(await transcript('a1b2c3d4', place))).toContain('First answer.');
    // It is a session as any other.
    await using again = await openSession({ ...place, provider, resume: 'a1b2c3d4' });
    await again.ask('Third prompt.');
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain('Second answer.');
  });

  test('has an id of its own, which nobody else has', async () => {
    const place = where();
    {
      await using session = await openSession({ ...place, provider: scriptedModel(), sessionId: 'zzzz0000' });
      expect(session.id).toBe('zzzz0000');
    }
    const again = openSession({ ...place, provider: scriptedModel(), sessionId: 'zzzz0000' });
    await expect(again).rejects.toThrow('there is a session zzzz0000 already: choose another id');
    for (const wrong of [
      '',
      'abc',
      'ABCDEFGH',
      'illo0000',
      '../../ab',
      '6f9619ff-8b86-d011-b42d-00c04fc964ff',
    ])
      await expect(openSession({ ...place, provider: scriptedModel(), sessionId: wrong })).rejects.toThrow(
        /the option sessionId is .*; give eight of the digits and small letters/,
      );
  });

  test('is refused where there is nothing to begin with', async () => {
    const place = where();
    const provider = scriptedModel();
    await expect(openSession({ ...place, provider, forkSession: true })).rejects.toThrow(
      'name it with resume',
    );
    const old = await asked(place, 'Answer.');
    await expect(openSession({ ...place, provider, resume: old, sessionId: 'zzzz0000' })).rejects.toThrow(
      'one that is resumed keeps its id',
    );
    await expect(
      openSession({ ...place, provider, resume: old, forkSession: true, sessionId: old }),
    ).rejects.toThrow(`there is a session ${old} already`);
    const bad = scriptedModel({ calls: [{ name: 'Bash', input: { command: 'sleep 60' } }] });
    await using session = await openSession({ ...place, provider: bad, permissionMode: 'bypassPermissions' });
    for await (const event of session.run('Wait.')) if (event.type === 'tool_started') break;
    await expect(openSession({ ...place, provider, resume: session.id, forkSession: true })).rejects.toThrow(
      'is in the midst of a turn: let it end',
    );
  });
});
