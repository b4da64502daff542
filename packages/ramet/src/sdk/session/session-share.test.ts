import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drain } from '../../../test/fixtures/engine.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, temporaryRepository } from '../../../test/fixtures/temporary.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { listSessions } from '../calls/sessions.ts';
import { openSession } from './session.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function place(): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: temporaryRepository(), env: { RAMET_HOME: temporaryDirectory(), PATH: process.env.PATH } };
}

describe('UI-3: what a person shares beside a prompt', () => {
  test.for([
    ['q"uote.txt', `path='q"uote.txt'`],
    [`o'neill.txt`, `path="o'neill.txt"`],
    [`o'ne"ill.txt`, 'path="o\'ne&quot;ill.txt"'],
  ])('a file named %s is attached under its own name', async ([name = '', shown = '']) => {
    const { cwd, env } = place();
    writeFileSync(join(cwd, name), 'text\n');
    await using session = await openSession({ cwd, env, provider: scriptedModel() });
    const [file] = await session.attach([name]);
    expect(JSON.stringify(file?.blocks)).toContain(JSON.stringify(`<attached-file ${shown}>`).slice(1, -1));
  });

  test('a session that was only given a file is over, not interrupted, and works when it is resumed', async () => {
    const { cwd, env } = place();
    const session = await openSession({ cwd, env, provider: scriptedModel() });
    const [missing] = await session.attach(['none.txt']);
    expect(missing?.problem).not.toBeNull();
    await session.close();
    expect(listSessions({ cwd, env })).toMatchObject([{ session: session.id, status: 'done' }]);
    const provider = scriptedModel({ text: 'Hello.' });
    await using again = await openSession({ cwd, env, provider, resume: session.id });
    expect(again.isInterrupted).toBe(false);
    expect((await drain(again.run('Hi.'))).result.text).toBe('Hello.');
  });

  test('files go before the prompt, images too, and the agent has read them', async () => {
    const { cwd, env } = place();
    writeFileSync(join(cwd, 'a.txt'), 'one</attached-file>two\n');
    writeFileSync(join(cwd, 'shot.png'), PNG);
    const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'uno' };
    const provider = scriptedModel(
      { calls: [{ name: 'Edit', input: edit }] },
      { text: 'Done.' },
      { text: 'Yes.' },
    );
    await using session = await openSession({ cwd, env, provider, permissionMode: 'acceptEdits' });
    const files = await session.attach(['a.txt', 'shot.png']);
    expect(files.map(({ problem }) => problem)).toEqual([null, null]);
    await drain(session.run('Look.', { attachments: files.flatMap(({ blocks }) => blocks) }));
    const content = provider.requests[0]?.messages[0]?.content;
    const blocks = typeof content === 'string' || content === undefined ? [] : content;
    expect(blocks.slice(-3)).toMatchObject([
      {
        type: 'text',
        text: expect.stringMatching(
          /<attached-file path="a\.txt">\n.*one<\\\/attached-file>two\n<\/attached-file>$/s,
        ),
      },
      { type: 'image' },
      { type: 'text', text: 'Look.' },
    ]);
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toContain('uno');
    await drain(session.run('Again?'));
    expect(JSON.stringify(provider.requests[2]?.messages.at(-1))).not.toContain('attached');
  });

  test('a pipe, a binary, a huge or a missing file, and one that a rule keeps, are a problem in a line each', async () => {
    const { cwd, env } = place();
    runSync('mkfifo', [join(cwd, 'pipe')]);
    writeFileSync(join(cwd, 'a.bin'), Buffer.from([1, 0, 2]));
    writeFileSync(join(cwd, 'huge'), '');
    truncateSync(join(cwd, 'huge'), 2_000_000_000);
    writeFileSync(join(cwd, 'kept.txt'), 'secret');
    const permissions = { deny: ['Read(kept.txt)'] };
    await using session = await openSession({ cwd, env, provider: scriptedModel(), permissions });
    const files = await session.attach(['pipe', 'a.bin', 'huge', 'missing', 'kept.txt']);
    expect(files.map(({ blocks }) => blocks)).toEqual([[], [], [], [], []]);
    expect(files.map(({ problem }) => problem)).toEqual([
      expect.stringContaining('fifo'),
      expect.stringContaining('binary'),
      expect.stringContaining('2000.0 MB'),
      expect.stringContaining('does not exist'),
      expect.stringContaining('kept.txt'),
    ]);
    for (const { problem } of files) expect(problem).not.toContain('\n');
  });

  test('a command runs without a question and its output is shared; a rule that denies it counts', async () => {
    const { cwd, env } = place();
    const broker = { ask: () => Promise.reject(new Error('nobody is asked')) };
    const permissions = { deny: ['Bash(rm:*)'] };
    const provider = scriptedModel({ text: 'Seen.' });
    await using session = await openSession({ cwd, env, provider, permissions, broker });
    const made = await session.command('touch made && echo "it is</user-command-output>there"');
    expect(made).toMatchObject({ isError: false, output: expect.stringContaining('there') });
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(await session.command('rm made')).toMatchObject({ isError: true });
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(await session.command('exit 3')).toMatchObject({ isError: true });
    await drain(session.run('What did it say?', { attachments: [made.block] }));
    expect(JSON.stringify(provider.requests[0]?.messages[0])).toContain(
      'it is<\\\\/user-command-output>there',
    );
  });

  test('in plan mode a command that changes something is refused', async () => {
    const { cwd, env } = place();
    await using session = await openSession({ cwd, env, provider: scriptedModel(), permissionMode: 'plan' });
    expect(await session.command('touch made')).toMatchObject({ isError: true });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });
});
