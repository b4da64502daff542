import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { findSession } from '../../journal/session-list.ts';
import { describeError } from '../../schema/errors.ts';
import { z } from '../../schema/zod.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { viewTranscript } from '../../views/transcript.ts';
import { renameSession } from '../calls/sessions.ts';
import { findPlace } from '../place.ts';
import { openSession } from './session.ts';

const write = (file_path: string, content: string) => ({ name: 'Write', input: { file_path, content } });
const bash = (command: string) => ({ name: 'Bash', input: { command } });

interface Where {
  cwd: string;
  env: NodeJS.ProcessEnv;
  permissionMode: 'bypassPermissions';
}

function where(): Where {
  const env = { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH };
  return { cwd: temporaryRepository(), env, permissionMode: 'bypassPermissions' };
}

const read = (place: Where, name: string): string => readFileSync(join(place.cwd, name), 'utf8');

describe('UI-3: going back in an open session', () => {
  test('undo restores files of the last prompt while the session is open, and takes that back', async () => {
    const place = where();
    const provider = scriptedModel({ calls: [write('a.txt', 'one')] }, { text: 'Done.' });
    await using session = await openSession({ ...place, provider });
    await expect(session.undo()).rejects.toThrow('nothing to undo');
    await drain(session.run('Write it.'));
    const undone = await session.undo();
    expect(undone).toMatchObject({ refused: null, failed: [] });
    expect(existsSync(join(place.cwd, 'a.txt'))).toBe(false);
    await expect(session.undo()).rejects.toThrow('is undone already; --redo takes the last undo back');
    await session.undo({ redo: true });
    expect(read(place, 'a.txt')).toBe('one');
  });

  test('the conversation goes back to before a prompt, and the model gets nothing of what followed', async () => {
    const place = where();
    const provider = scriptedModel(
      { text: 'First answer.' },
      { calls: [write('a.txt', 'two'), bash('echo hi > made')] },
      { text: 'Second answer.' },
      { text: 'Another one.' },
    );
    const { id } = await (async () => {
      await using session = await openSession({ ...place, provider });
      await drain(session.run('first'));
      await drain(session.run('second'));
      const outcome = await session.rewind({ prompt: 2, what: 'both' });
      expect(outcome).toMatchObject({ prompt: 'second', files: { refused: null } });
      expect(outcome.notes).toEqual(['1 command ran since then: what Bash changed stays']);
      expect(existsSync(join(place.cwd, 'a.txt'))).toBe(false);
      expect(read(place, 'made')).toBe('hi\n');
      expect(session.isInterrupted).toBe(false);
      await drain(session.run('instead'));
      return session;
    })();
    const sent = JSON.stringify(provider.requests.at(-1)?.messages);
    expect(sent).toContain('First answer.');
    expect(sent).toContain('instead');
    expect(sent).not.toMatch(/second|Second answer/);
    // Nothing is erased, and a resumed session has gone back too.
    const again = scriptedModel({ text: 'Yes.' });
    await using resumed = await openSession({ ...place, provider: again, resume: id });
    await drain(resumed.run('still?'));
    expect(JSON.stringify(again.requests[0]?.messages)).not.toContain('Second answer');
    await expect(resumed.rewind({ prompt: 9, what: 'both' })).rejects.toThrow(
      'there is no prompt 9: there are 1 to 3',
    );
    using view = viewTranscript(id, findPlace(place).project);
    const causes = Array.from(view.reader.events({ type: 'conversation.replaced' }), ({ event }) => event);
    expect(causes).toMatchObject([{ cause: 'rewind', prompts: 1 }]);
    const said = Array.from(view.reader.events({ type: 'message.appended' }), ({ event }) => event);
    expect(
      said.filter((event) => event.type === 'message.appended' && event.cause === 'prompt'),
    ).toHaveLength(4);
  });

  test('before the first prompt the conversation begins again, with what every first message has', async () => {
    const place = where();
    const provider = scriptedModel({ text: 'One.' }, { text: 'Two.' });
    await using session = await openSession({ ...place, provider });
    await drain(session.run('first'));
    expect(await session.rewind({ prompt: 1, what: 'conversation' })).toMatchObject({
      files: null,
      notes: [],
    });
    await drain(session.run('first, but better'));
    expect(provider.requests[1]?.messages).toHaveLength(1);
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain('<environment>');
  });

  const results = (provider: ReturnType<typeof scriptedModel>): string =>
    JSON.stringify(provider.requests.at(-1)?.messages.at(-1));

  test('what was read is taken back with the conversation, also after a resume', async () => {
    const place = where();
    writeFileSync(join(place.cwd, 'a.txt'), 'old');
    const read = { name: 'Read', input: { file_path: 'a.txt' } };
    const provider = scriptedModel(
      { calls: [read] },
      { text: 'Read.' },
      { calls: [write('a.txt', 'new')] },
      { text: 'Refused.' },
    );
    const { id } = await (async () => {
      await using session = await openSession({ ...place, provider });
      await drain(session.run('read'));
      await session.rewind({ prompt: 1, what: 'conversation' });
      await drain(session.run('write'));
      return session;
    })();
    expect(results(provider)).toContain('you have not read it');
    const again = scriptedModel({ calls: [write('a.txt', 'new')] }, { text: 'Refused.' });
    await using resumed = await openSession({ ...place, provider: again, resume: id });
    await drain(resumed.run('write'));
    expect(results(again)).toContain('you have not read it');
    expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('old');
  });

  test('a file that was taken back with the conversation is written again at once', async () => {
    const place = where();
    writeFileSync(join(place.cwd, 'b.txt'), 'old');
    const read = { name: 'Read', input: { file_path: 'b.txt' } };
    const writes = [write('a.txt', 'one'), write('b.txt', 'new')];
    const provider = scriptedModel(
      ...[{ calls: [read] }, { text: 'Read.' }, { calls: writes }, { text: 'Written.' }],
      ...[{ calls: writes }, { text: 'Written again.' }],
    );
    await using session = await openSession({ ...place, provider });
    await drain(session.run('read'));
    await drain(session.run('write'));
    await session.rewind({ prompt: 2, what: 'both' });
    await drain(session.run('write'));
    expect(results(provider)).not.toContain('is_error');
    expect([
      readFileSync(join(place.cwd, 'a.txt'), 'utf8'),
      readFileSync(join(place.cwd, 'b.txt'), 'utf8'),
    ]).toEqual(['one', 'new']);
  });

  test('after an undo the model learns that the user took the file back', async () => {
    const place = where();
    const provider = scriptedModel(
      ...[{ calls: [write('a.txt', 'one')] }, { text: 'Done.' }],
      ...[{ calls: [write('a.txt', 'two')] }, { text: 'I see.' }],
    );
    await using session = await openSession({ ...place, provider });
    await drain(session.run('write'));
    await session.undo();
    await drain(session.run('again'));
    expect(results(provider)).toMatch(/a\.txt was deleted by the user's undo \d+ s ago since you read it/);
  });

  test('files alone: the conversation stays; a file that changed since is left, and so is all else', async () => {
    const place = where();
    const provider = scriptedModel({ calls: [write('a.txt', 'one')] }, { text: 'Done.' });
    await using session = await openSession({ ...place, provider });
    await drain(session.run('write'));
    writeFileSync(join(place.cwd, 'a.txt'), 'mine');
    const refused = await session.rewind({ prompt: 1, what: 'both' }).catch(describeError);
    expect(refused).toMatch(
      /^nothing was taken back: a\.txt \(turn 1\): changed since turn 1 wrote it, at (?:yesterday )?\d\d:\d\d outside Ramet; undo that yourself first, or go back in/,
    );
    expect(refused).not.toContain('--');
    // Programs get the time too, in UTC.
    const { blocked } = await session.undo();
    expect(blocked[0]?.obstacle?.reason).toContain(`at ${blocked[0]?.obstacle?.changedAt} outside Ramet`);
    expect(blocked[0]?.obstacle?.changedAt).toMatch(/^\d{4}-.*Z$/);
    expect(read(place, 'a.txt')).toBe('mine');
    writeFileSync(join(place.cwd, 'a.txt'), 'one');
    expect(await session.rewind({ prompt: 1, what: 'files' })).toMatchObject({ files: { refused: null } });
    expect(existsSync(join(place.cwd, 'a.txt'))).toBe(false);
    await expect(session.rewind({ prompt: 1, what: 'files' })).rejects.toThrow('nothing to undo');
    expect(await session.rewind({ prompt: 1, what: 'both' })).toMatchObject({ files: null });
  });

  test('a session without a title gets its first prompt, once, and never for one that it was given', async () => {
    const place = where();
    const { project } = findPlace(place);
    const titleOf = (id: string) => findSession(project, id).title;
    const provider = scriptedModel(
      { text: 'One.' },
      { text: 'Two.' },
      { text: '{"a":1}' },
      { text: 'Four.' },
    );
    await using session = await openSession({ ...place, provider });
    await drain(session.run('  first\n words '));
    expect(titleOf(session.id)).toBe('first words');
    await session.rewind({ prompt: 1, what: 'conversation' });
    await drain(session.run('second'));
    expect(titleOf(session.id)).toBe('first words');
    await using typed = await openSession({ ...place, provider });
    await typed.ask([{ type: 'text', text: 'which?' }], { schema: z.object({ a: z.number() }) });
    expect(titleOf(typed.id)).toBe('which?');
    await using named = await openSession({ ...place, provider });
    renameSession(named.id, 'Mine', place);
    await drain(named.run('other'));
    expect(titleOf(named.id)).toBe('Mine');
  });

  test('it is refused while agents are at work', async () => {
    const place = where();
    const provider = scriptedModel(
      { text: 'Ready.' },
      { calls: [bash('until test -e go; do sleep 0.05; done')] },
      { text: 'Done.' },
    );
    await using session = await openSession({ ...place, provider });
    await drain(session.run('Go.'));
    const child = await session.spawn({ prompt: 'wait', description: 'waits', run_in_background: true });
    await expect(session.rewind({ prompt: 1, what: 'both' })).rejects.toThrow('1 agent is at work');
    await expect(session.undo()).rejects.toThrow('1 agent is at work');
    writeFileSync(join(place.cwd, 'go'), '');
    await child.result;
  });
});
