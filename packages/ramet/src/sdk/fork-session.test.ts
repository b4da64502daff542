import { describe, expect, test } from 'vitest';
import { call, type FamilySession, lastTexts, startFamily } from '../../test/fixtures/family.ts';
import { temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { openReader } from '../journal/sessions.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { sessionList } from './calls/status.ts';
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
    for (const refused of [{ team: 'crew' }, { coordinator: true }])
      await expect(
        openSession({ ...place, ...refused, provider, resume: old, forkSession: true }),
      ).rejects.toThrow(/this session began without a/);
    // None of them has left anything.
    expect(sessionList(place).map(({ session }) => session)).toEqual([old]);
    await using session = await openSession({ ...place, provider: bad, permissionMode: 'bypassPermissions' });
    for await (const event of session.run('Wait.')) if (event.type === 'tool_started') break;
    await expect(openSession({ ...place, provider, resume: session.id, forkSession: true })).rejects.toThrow(
      'is in the midst of a turn: let it end',
    );
  });
});

describe('UI-4, RES-7: what a session knows that began with the conversation of another', () => {
  const SUMMARY = 'This conversation is about to be replaced';
  const long = 'A long line of text, again and again.\n'.repeat(800);
  const todos = [
    { content: 'write the lexer', status: 'completed' as const, activeForm: 'writing' },
    { content: 'write the parser', status: 'pending' as const, activeForm: 'writing' },
  ];
  const cast = {
    'Task one': [
      call('TodoWrite', { todos }),
      call('Read', { file_path: 'long.txt' }),
      call('Read', { file_path: 'long.txt' }),
      { text: 'One.' },
    ],
    'Task two': [{ text: long }],
    [SUMMARY]: () => ({ text: 'SUMMARY without details' }),
    Continue: () => ({ text: 'Continued.' }),
  };
  const forked = (family: FamilySession): Promise<FamilySession> =>
    family.reopen(undefined, { forkSession: true });
  const sentLast = ({ emulator }: FamilySession): string => emulator.requests.at(-1)?.body ?? '';

  test.each([
    ['compacted at once', async (family: FamilySession) => family],
    ['forked once more', forked],
    ['resumed', (family: FamilySession) => family.reopen()],
  ])('%s, it keeps instructions, prompts, todos and files of before', async (_, then) => {
    const files = { 'AGENTS.md': 'Tests are run with make.\n', 'long.txt': long };
    const family = await startFamily({ cast, files });
    await family.run('Task one. Never touch the file KEEP.');
    await family.run('Task two. Only use tabs.');
    const again = await then(await forked(family));
    expect(await again.session.compact()).toMatchObject({ compacted: true });
    await again.run('Continue.');
    const sent = sentLast(again);
    for (const text of ['Tests are run with make.', '<environment>', 'Never touch the file KEEP.'])
      expect(sent).toContain(text);
    expect(sent).toContain('Only use tabs.');
    expect(sent).toContain('[pending] write the parser');
    expect(sent).toMatch(/<files-read>\\nlong\.txt\\n/);
  });

  test('one that was compacted before keeps the prompts that are in its summary only', async () => {
    const family = await startFamily({ cast, files: { 'long.txt': long } });
    await family.run('Task one. Never touch the file KEEP.');
    await family.run('Task two. Only use tabs.');
    expect(await family.session.compact()).toMatchObject({ compacted: true });
    const again = await forked(family);
    await again.run('Task two. Say it once more.');
    expect(await again.session.compact()).toMatchObject({ compacted: true });
    await again.run('Continue.');
    expect(sentLast(again)).toContain('- Task one. Never touch the file KEEP.');
    expect(sentLast(again)).toContain('- Task two. Only use tabs.');
  });

  test('it goes back to its own prompts, and keeps those of before', async () => {
    const family = await startFamily({ cast, files: { 'long.txt': long } });
    await family.run('Task one. Never touch the file KEEP.');
    const again = await forked(family);
    await again.run('Task two. Only use tabs.');
    await again.run('Task two. Only use blanks.');
    await again.session.rewind({ prompt: 2, what: 'conversation' });
    await again.run('Task two. Use what you like.');
    const resumed = await again.reopen();
    expect(await resumed.session.compact()).toMatchObject({ compacted: true });
    await resumed.run('Continue.');
    for (const kept of ['Never touch the file KEEP.', 'Only use tabs.', 'Use what you like.'])
      expect(sentLast(resumed)).toContain(kept);
    expect(sentLast(resumed)).not.toContain('Only use blanks.');
    await expect(resumed.session.rewind({ prompt: 4, what: 'conversation' })).rejects.toThrow(
      'there are 1 to 3',
    );
  });

  test('its size is what the provider has measured, and its first request reads all of that from the cache', async () => {
    const family = await startFamily({ cast, files: { 'long.txt': long } });
    await family.run('Task one.');
    const { tokens } = family.session.context();
    const again = await forked(family);
    expect(again.session.context().tokens).toBe(tokens);
    await again.run('Continue.');
    const read = (index: number): number =>
      again.emulator.requests.at(index)?.usage?.cache_read_input_tokens ?? 0;
    const before = again.emulator.requests.at(-2)?.usage;
    expect(read(-1)).toBe(read(-2) + (before?.cache_creation_input_tokens ?? 0));
  });

  test('an id of a call that the conversation has already is not taken a second time', async () => {
    const family = await startFamily({ cast, files: { 'long.txt': long } });
    await family.run('Task one.');
    const id = /"type":"tool_use","id":"([^"]+)"/.exec(sentLast(family))?.[1];
    const again = await family.reopen(
      {
        ...cast,
        Continue: [{ tool_use: [{ name: 'Read', input: { file_path: 'long.txt' }, id }] }],
      },
      { forkSession: true },
    );
    const { result } = await again.run('Continue.');
    expect(result.status).toBe('failed');
    expect(result.message).toContain('a second time');
  });

  test('it learns once that the team of the other one is not its own', async () => {
    const family = await startFamily({ cast, files: { 'long.txt': long }, team: 'crew' });
    await family.run('Continue.');
    // Without the option of the first one, which `reopen` gives again.
    const options: object = { forkSession: true, team: undefined };
    const again = await family.reopen(undefined, options);
    expect(again.session.team).toBeUndefined();
    await again.run('Continue.');
    expect(lastTexts(again.emulator.requests.at(-1)).join()).toContain('you lead none');
    await again.run('Continue.');
    expect(lastTexts(again.emulator.requests.at(-1)).join()).not.toContain('you lead none');
  });

  test('it learns that it is no longer in the worktree of the other one', async () => {
    const family = await startFamily({
      cast: { ...cast, 'Go in': [call('EnterWorktree', {}), { text: 'I am in.' }] },
      files: { 'long.txt': long },
    });
    await family.run('Go in.');
    const again = await forked(family);
    await again.run('Continue.');
    const told = lastTexts(again.emulator.requests.at(-1)).join('\n');
    expect(told).toMatch(/Your directory has changed: .*no longer in the worktree .*work/);
    expect(told).toContain(`You are in ${again.cwd}`);
    expect(sentLast(again)).toContain('Continue.');
    // It learns of it once.
    expect((await again.reopen()).session.isInterrupted).toBe(false);
  });
});
