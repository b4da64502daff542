import { copyFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { sessionPath } from '../../src/journal/session-file.ts';
import { linesOf } from '../fixtures/command.ts';
import { requestsTaken, test } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };

describe.concurrent('LOG-1: resuming a session', () => {
  test.for([
    ['--continue', () => ['--continue']],
    ['--resume without a session', () => ['--resume']],
    ['--resume with its id', (id: string) => ['--resume', id]],
    ['--resume with the beginning of it', (id: string) => ['--resume', id.slice(0, 5)]],
  ] as const)('%s carries the conversation byte for byte', async ([, flags], { user }) => {
    const thinking = 'Let me look. "Quotes", \\ and \u{1F600}.';
    const emulator = await user.model(
      { thinking, text: 'I look.', tool_use: [READ, READ] },
      { text: 'It is a test.' },
      { text: 'As I said.' },
    );
    await user.ramet(['-p', 'What is this?']);
    const [session = ''] = user.sessions();
    const end = await user.here(['-p', 'Are you sure?', ...flags(session)]);
    expect(end).toEqual({ code: 0, stdout: 'As I said.\n', stderr: '' });
    expect(user.sessions()).toEqual([session]);
    const [, before = '', after = ''] = emulator.requests.map(({ body }) => promptOf(body));
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length)).toBe(
      ',{"role":"assistant","content":[{"type":"text","text":"It is a test."}]}' +
        ',{"role":"user","content":[{"type":"text","text":"Are you sure?"}]}',
    );
  });

  test('keeps the model of the session, unless another one is named', async ({ user }) => {
    const emulator = await user.model({ text: 'one' }, { text: 'two' }, { text: 'three' });
    await user.here(['-p', 'x', '--model', 'opus']);
    await user.here(['-p', 'x', '--continue']);
    await user.here(['-p', 'x', '--continue', '--model', 'haiku']);
    const models = emulator.requests.map(({ request }) => request?.model);
    expect(models).toEqual(['claude-opus-5', 'claude-opus-5', 'claude-haiku-4-5']);
  });

  test('counts and bills only the new run in its result, and all of them in the ledger', async ({ user }) => {
    await user.model({ tool_use: [READ] }, { text: 'one' }, { text: 'two' });
    const format = ['--output-format', 'json'];
    const first = JSON.parse((await user.here(['-p', 'x', ...format])).stdout);
    const second = JSON.parse((await user.here(['-p', 'y', '--continue', ...format])).stdout);
    expect([first.num_turns, second.num_turns]).toEqual([2, 1]);
    const bill = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(bill.total.responses).toBe(3);
    expect(bill.total.total_cost_usd).toBeCloseTo(first.total_cost_usd + second.total_cost_usd, 12);
  });

  test('takes the latest session for --continue, by when it was last used', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    const run = async (...flags: string[]): Promise<string> =>
      JSON.parse((await user.here(['-p', 'x', '--output-format', 'json', ...flags])).stdout).session_id;
    const older = await run();
    const newer = await run();
    expect(await run('--continue')).toBe(newer);
    await run('--resume', older);
    expect(await run('--continue')).toBe(older);
  });
});

describe.concurrent('UI-1: a session that cannot be resumed', () => {
  test('is told from one that does not exist', async ({ user }) => {
    await user.model({ text: 'never' });
    for (const flags of [['--continue'], ['--resume', 'abcd']]) {
      const end = await user.here(['-p', 'x', ...flags]);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([expect.stringMatching(/^ramet: there is no session /)]);
    }
  });

  test('is told from those there are when the id is unknown', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.here(['-p', 'x']);
    const [session = ''] = user.sessions();
    for (const id of ['uuuu', '../index', '']) {
      const end = await user.here(['-p', 'x', '--resume', id]);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([expect.stringContaining(`the latest are ${session}`)]);
    }
  });

  test('is asked for more letters when the beginning fits several', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.here(['-p', 'x']);
    const [session = ''] = user.sessions();
    const twin = session.slice(0, 7) + (session.endsWith('a') ? 'b' : 'a');
    copyFileSync(sessionPath(user.project, session), sessionPath(user.project, twin));
    const end = await user.here(['-p', 'x', '--resume', session.slice(0, 4)]);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(end.stderr)).toHaveLength(1);
    for (const id of [session, twin]) expect(end.stderr).toContain(id);
  });

  test('is refused while another process writes it, and stays whole', async ({ user }) => {
    const gate = Promise.withResolvers<void>();
    const emulator = await user.emulate({
      respond: async ({ turn }) => {
        await gate.promise;
        return { text: `answer ${turn}` };
      },
    });
    const running = user.start(['-p', 'Take your time.']);
    await requestsTaken(emulator, 1);
    const [session = ''] = user.sessions();
    const end = await user.here(['-p', 'Me too.', '--resume', session]);
    expect(end).toEqual({
      code: 2,
      stdout: '',
      stderr: `ramet: session ${session} is being written by process ${running.pid}: wait for it, or end it with ramet stop ${session}, then try again\n`,
    });
    gate.resolve();
    expect(await running.ended).toEqual({ code: 0, stdout: 'answer 0\n', stderr: '' });
    const later = await user.here(['-p', 'Now?', '--resume', session]);
    expect(later).toEqual({ code: 0, stdout: 'answer 1\n', stderr: '' });
  });

  test('asks for a prompt when its last turn is complete', async ({ user }) => {
    await user.model({ text: 'ok' });
    await user.here(['-p', 'x']);
    const end = await user.here(['-p', '--continue']);
    expect(end).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^ramet: the last turn of this session is complete: give a prompt with: ramet -p --resume \w{8} "PROMPT"\n$/,
      ),
    });
  });
});

/** Everything of a body up to the end of its messages, without the marks. */
function promptOf(body: string): string {
  return body
    .slice(0, body.lastIndexOf('],"max_tokens"'))
    .replaceAll(',"cache_control":{"type":"ephemeral"}', '');
}
