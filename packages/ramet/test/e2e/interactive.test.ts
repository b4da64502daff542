import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { plainText, startOnTerminal } from '../fixtures/terminal.ts';
import { requestsTaken, test, toolResults } from '../fixtures/user.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';
const PASTE = (text: string): string => `\u001b[200~${text}\u001b[201~`;

describe.concurrent('UI-1: ramet on a terminal', () => {
  test('streams an answer, shows the figures, and can be resumed', async ({ user }) => {
    const emulator = await user.model({ text: 'Hello there.' }, { text: 'Hello again.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    expect(existsSync(user.rametHome)).toBe(false);
    terminal.type('say hello\r');
    await terminal.shows(/> say hello\n\nHello there\.\n>.*\n.* · \$0\.\d+ · .* tokens · 1 turn/);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    const [session = ''] = user.sessions();
    expect(terminal.screen).toMatch(
      new RegExp(`session ${session}; resume with: ramet --resume ${session}$`),
    );

    await using second = startOnTerminal(user, ['--resume', session]);
    await second.shows('1 turn');
    second.type(`${UP}\r`);
    await second.shows('Hello again.');
    second.type('/quit\r');
    expect(await second.ended).toBe(0);
    expect(emulator.requests.at(-1)?.request?.messages).toHaveLength(3);
  });

  test('RES-3: asks before a file is changed, shows the diff, and goes by the answer', async ({ user }) => {
    writeFileSync(join(user.repository, 'notes.txt'), 'one\ntwo\n');
    const write = (content: string) => ({
      tool_use: [{ name: 'Write', input: { file_path: 'new.txt', content } }],
    });
    const emulator = await user.model(write('yes\n'), write('no\n'), { text: 'All done.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('write\r');
    await terminal.shows(/Write asks for permission\n.*new\.txt\n\s+1 \+ yes\n(.*\n)+\? y once/);
    expect(existsSync(join(user.repository, 'new.txt'))).toBe(false);
    terminal.type('y');
    await terminal.shows(/allowed once\n• Write new\.txt(.*\n)+.*- yes\n.*\+ no\n(.*\n)+\? y once/);
    expect(readFileSync(join(user.repository, 'new.txt'), 'utf8')).toBe('yes\n');
    terminal.type('n');
    await terminal.shows('All done.');
    expect(readFileSync(join(user.repository, 'new.txt'), 'utf8')).toBe('yes\n');
    expect(toolResults(emulator)[1]).toEqual({
      text: expect.stringContaining('the user said no'),
      isError: true,
    });
  });

  test('RES-5: Ctrl-C stops the turn and the conversation goes on; twice leaves with 130', async ({
    user,
  }) => {
    let calls = 0;
    const emulator = await user.emulate({
      respond: () => ({ text: 'Answer.' }),
      fault: () => (calls++ === 0 ? { kind: 'stall', at: 'text' } : undefined),
    });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('first\r');
    await requestsTaken(emulator, 1);
    terminal.type('typed ahead\r');
    terminal.type(CTRL_C);
    await terminal.shows('stopped; what was done is kept');
    await terminal.shows(/> typed ahead\nCtrl-C again to leave/);
    terminal.type('\r');
    await terminal.shows(/Answer\.\n>/);
    terminal.type(CTRL_C);
    await terminal.shows('Ctrl-C again to leave');
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    expect(emulator.requests).toHaveLength(2);
  });

  test('Ctrl-C ends a command that runs, and what was done before stays', async ({ user }) => {
    const calls = [
      { name: 'Write', input: { file_path: 'kept.txt', content: 'kept' } },
      { name: 'Bash', input: { command: 'touch started.txt; sleep 60' } },
    ];
    const emulator = await user.model({ tool_use: calls }, { text: 'Noted.' });
    await using terminal = startOnTerminal(user, ['--permission-mode', 'bypassPermissions']);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('• Write kept.txt');
    await eventually(() => existsSync(join(user.repository, 'started.txt')));
    terminal.type(CTRL_C);
    await terminal.shows('stopped');
    terminal.type('and now?\r');
    await terminal.shows('Noted.');
    expect(toolResults(emulator)[1]?.text).toContain('Interrupted');
    expect(existsSync(join(user.repository, 'kept.txt'))).toBe(true);
  });

  test('a paste of 5 MB is shown by its size and sent whole, once', async ({ user }) => {
    const emulator = await user.model({ text: 'Long.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    const lines = Array.from({ length: 50_000 }, (_, line) => `${line} ${'x'.repeat(94)}`).join('\n');
    terminal.type(`look: ${PASTE(lines)}`);
    await terminal.shows(/> look: \[pasted 5\.0 MB, 50,000 lines\]/);
    terminal.type('\r');
    await terminal.shows('Long.');
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.requests[0]?.body.includes(JSON.stringify(`look: ${lines}`))).toBe(true);
  });

  test('several lines are one prompt', async ({ user }) => {
    const emulator = await user.model({ text: 'Seen.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type(`one\\\rtwo\u001b\r${PASTE('three\r\nfour')}\r`);
    await terminal.shows('Seen.');
    expect(emulator.requests[0]?.body).toContain('"one\\ntwo\\nthree\\nfour"');
  });

  test('commands change the model and the permission mode, and say what is wrong', async ({ user }) => {
    const emulator = await user.model({ text: '1. Look.\n2. One.' }, { text: 'Two.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('/permissions plan\rfirst\r');
    await terminal.shows(/One\.\n>.*\nhere is the plan: go\?\n❯ go.*\n(.*\n)+plan · /);
    terminal.type('/model op\t\rsecond\r');
    await terminal.shows(/Two\.\n>/);
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual([
      expect.stringContaining('sonnet'),
      expect.stringContaining('opus'),
    ]);
    terminal.type('/model nonsense-x\r');
    await terminal.shows('the model is now nonsense-x; Ramet does not know it: check the name');
    terminal.type('/cost\r');
    await terminal.shows(/requests +2 \(0 tried again\)/);
    terminal.type('/frobnicate\r/permissions yolo\r/resume nothing\r');
    await terminal.shows('there is no command /frobnicate: /help lists them');
    await terminal.shows('there is no permission mode "yolo"');
    // What was to follow was meant for that mode: it comes back, and is sent with Enter.
    await terminal.shows(/^> \/resume nothing$/m);
    terminal.type('\r');
    await terminal.shows('there is no session "nothing"');
    expect(emulator.requests).toHaveLength(2);
  });

  test('a failure is one line, and the next prompt works', async ({ user }) => {
    let calls = 0;
    await user.emulate({
      respond: () => ({ text: 'Better.' }),
      fault: () => (calls++ === 0 ? { kind: 'status', status: 400 } : undefined),
    });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('one\r');
    await terminal.shows(/^failed: .+$/m);
    terminal.type('two\r');
    await terminal.shows('Better.');
  });
});

describe.concurrent('UI-1: terminals of every kind', () => {
  test('40 columns by 10 rows are enough, and another size is followed', async ({ user }) => {
    await user.model({ text: `${'word '.repeat(40)}end.` });
    await using terminal = startOnTerminal(user, [], { columns: 40, rows: 10 });
    await terminal.shows(/^>/m);
    terminal.type('a prompt that is longer than forty columns are wide\r');
    await terminal.shows(/end\.\n>/);
    terminal.type(`${'many\\\r'.repeat(30)}`);
    await terminal.shows(/( {2}many\n){5}/);
    const before = terminal.bytes.length;
    terminal.resize(30, 8);
    await eventually(() => terminal.bytes.length > before);
    terminal.type(CTRL_C);
    await terminal.shows('Ctrl-C again to leave');
    // The last row of a frame and the first of the next are one line here.
    const rows = plainText(terminal.bytes.slice(before)).split('\n');
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(60);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
  });

  test('an answer is rendered, calls show the end of their output, and the todo list stays', async ({
    user,
  }) => {
    const todos = [
      { content: 'Look', status: 'completed' },
      { content: 'Fix', status: 'in_progress', activeForm: 'Fixing' },
    ];
    await user.model(
      {
        thinking: 'Hm.',
        tool_use: [
          { name: 'TodoWrite', input: { todos } },
          { name: 'Bash', input: { command: 'seq 100 120' } },
        ],
      },
      { text: '# Done\n\n- **one** of two\n\n```ts\nconst a = 1;\n```\n' },
    );
    await using terminal = startOnTerminal(user, ['--permission-mode', 'bypassPermissions']);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(
      /∴ thought for .*\n• Bash seq 100 120.*\n +\(18 more lines: Ctrl-O\)\n +118\n +119\n +120\n/,
    );
    await terminal.shows(/\nDone\n\n• one of two\n\n╭─ ts\nconst a = 1;\n╰─\n☑ Look\n◐ Fixing\n>/);
    expect(terminal.bytes).toContain('\u001b[35mconst\u001b[39m a');
    terminal.type('\u000f');
    await terminal.shows(/Bash seq 100 120\n {2}100\n {2}101\n/);
    terminal.type('\u000f');
    await terminal.shows(/thought for .*\n {2}Hm\./);
    const before = terminal.screen;
    terminal.type('\u000cx');
    await terminal.shows(/^> x/m);
    expect(terminal.screen).toBe(before.replace(/^>$/m, '> x'));
  });

  test('NO_COLOR leaves out colours', async ({ user }) => {
    await user.model({ text: 'Plain.' });
    await using terminal = startOnTerminal(user, [], { env: { NO_COLOR: '1' } });
    await terminal.shows(/^>/m);
    terminal.type('x\r');
    await terminal.shows('Plain.');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with Escape
    expect(terminal.bytes).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  test('TERM=dumb gets no escape sequence at all', async ({ user }) => {
    await user.model({ text: 'Plain.' });
    await using terminal = startOnTerminal(user, [], { env: { TERM: 'dumb' } });
    await terminal.shows('TERM is dumb: each line that you type is a prompt');
    terminal.type('hello\n');
    await terminal.shows('Plain.');
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(terminal.bytes).not.toContain('\u001b');
  });

  test('SEC-1: nothing that a model or a command writes reaches the terminal as a control', async ({
    user,
  }) => {
    const hostile = 'safe\u001b]0;owned\u0007\u001b[31mred\u001b[8;1;1t\u0007end';
    await user.model(
      { tool_use: [{ name: 'Bash', input: { command: `printf '${hostile}' >&2; exit 1` } }] },
      { text: hostile },
    );
    // Without the title and the bell of Ramet itself, every such control would come from what was written.
    const env = { RAMET_NOTIFY: 'off' };
    await using terminal = startOnTerminal(user, ['--permission-mode', 'bypassPermissions'], { env });
    await terminal.shows(/^>/m);
    terminal.type('x\r');
    // What a sequence leaves behind when it came in pieces is harmless text.
    await terminal.shows(/^safe.*red.*end\n>/m);
    for (const control of ['\u001b]', '\u0007', '\u001b[8;1;1t'])
      expect(terminal.bytes).not.toContain(control);
  });

  test('LOG-1: a terminal that closes in the middle of a turn leaves a whole journal', async ({
    user,
    expect,
  }) => {
    const emulator = await user.emulate({
      respond: () => ({ text: 'Hello.' }),
      fault: () => ({ kind: 'stall', at: 'text' }),
    });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await requestsTaken(emulator, 1);
    terminal.hangUp();
    await terminal.ended;
    const ended = async (): Promise<unknown> => JSON.parse((await user.ramet(['ps', '--json'])).stdout)[0];
    await expect.poll(ended, { timeout: 20_000 }).toMatchObject({ status: 'interrupted', cause: 'SIGHUP' });
    await user.model({ text: 'Where was I?' });
    expect(await user.ramet(['-p', '--continue'])).toMatchObject({ code: 0, stdout: 'Where was I?\n' });
  });
});

describe.concurrent('UI-1: ramet in a pipe', () => {
  test('carries out line after line in one session and prints plain text', async ({ user }) => {
    const emulator = await user.model({ text: 'One.' }, { text: 'Two.' });
    const end = await user.ramet([], { stdin: 'first\\\nline\n\n/permissions\nsecond' });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(/^One\.\nthe permission mode is default; .*\nTwo\.\n$/);
    expect(emulator.requests[0]?.body).toContain('"first\\nline"');
    expect(emulator.requests[1]?.request?.messages).toHaveLength(3);
    expect(user.sessions()).toHaveLength(1);
  });

  test('stops at the first line that fails', async ({ user }) => {
    const emulator = await user.emulate({ fault: () => ({ kind: 'status', status: 400 }) });
    const end = await user.ramet([], { stdin: 'one\ntwo\n' });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(emulator.requests).toHaveLength(1);
  });

  test('SIGINT ends it with 130', async ({ user }) => {
    const emulator = await user.emulate({
      respond: () => ({ text: 'x' }),
      fault: () => ({ kind: 'stall', at: 'text' }),
    });
    const running = user.start([], { stdin: null });
    running.type('go\n');
    await requestsTaken(emulator, 1);
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });
});
