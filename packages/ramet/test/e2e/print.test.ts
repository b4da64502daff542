import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults } from '../fixtures/user.ts';

describe.concurrent('UI-1: ramet -p', () => {
  test('prints the answer to a prompt given as an argument', async ({ user }) => {
    const emulator = await user.model({ text: 'Hello back.' });
    const end = await user.ramet(['-p', 'Say hello.']);
    expect(end).toEqual({ code: 0, stdout: 'Hello back.\n', stderr: '' });
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('Say hello.');
  });

  test('takes several words as one prompt', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    await user.here(['-p', 'Say', 'hello.']);
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('Say hello.');
  });

  test('takes what comes after -- as the prompt, dashes and all', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.here(['-p', '--', '--version of what?']);
    expect(end.code).toBe(0);
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('--version of what?');
  });

  test('reads the prompt from standard input when there is no argument', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.ramet(['-p'], { stdin: 'Line one.\nGrüße: line two.\n' });
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('Line one.\nGrüße: line two.');
  });

  test('UI-4: adds what is piped to the prompt', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.ramet(['-p', 'Review this.'], { stdin: 'diff --git a b\n+ added\n' });
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('Review this.\n\ndiff --git a b\n+ added');
  });

  test('UI-4: takes prompts as lines of JSON into one session, with a result for each', async ({ user }) => {
    const emulator = await user.emulate({ respond: ({ last }) => ({ text: `You said ${last.slice(-3)}.` }) });
    writeFiles(user.root, {
      'home/.claude/settings.json': JSON.stringify({
        hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      }),
      'home/.claude.json': JSON.stringify({ mcpServers: { tools: { command: 'node' }, bad: {} } }),
    });
    const line = (content: unknown): string =>
      JSON.stringify({ type: 'user', message: { role: 'user', content } });
    const stdin = [line('one'), '{oops', line([{ type: 'text', text: 'two' }]), ''].join('\n');
    const flags = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];
    const end = await user.ramet(flags, { stdin });
    const lines = linesOf(end.stdout).map((text) => JSON.parse(text));
    expect(lines[0]).toMatchObject({
      subtype: 'init',
      mcp_servers: [
        { name: 'bad', status: 'failed' },
        { name: 'tools', status: 'pending' },
      ],
    });
    expect(lines[1]).toMatchObject({
      subtype: 'hook_response',
      hook_event: 'SessionStart',
      hooks: [{ command: 'true', source: '~/.claude/settings.json', outcome: 'ok' }],
    });
    const kept = lines.filter(({ type, subtype }) => type === 'result' || subtype === 'input_error');
    expect(kept).toMatchObject([
      { type: 'result', result: 'You said one.', num_turns: 1 },
      { line: 2, error: expect.stringContaining('it is no JSON') },
      { type: 'result', result: 'You said two.', num_turns: 1 },
    ]);
    expect(new Set(lines.map(({ session_id }) => session_id)).size).toBe(1);
    expect(lines.filter(({ subtype }) => subtype === 'init')).toHaveLength(1);
    expect(end.stderr).toContain('line 2 of standard input: it is no JSON');
    expect(end.code).toBe(2);
    expect(emulator.requests).toHaveLength(2);
    for (const wrong of [
      ['-p', '--input-format', 'stream-json'],
      ['--input-format', 'stream-json'],
    ])
      expect(await user.ramet(wrong, { stdin })).toMatchObject({ code: 2, stdout: '' });
  });

  test('goes on without a standard input that is open and silent, and says so', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const end = await user.start(['-p', 'Go on.'], { stdin: null }).ended;
    expect(end).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining('continuing without it (close it with')]);
    expect(promptOf(emulator.requests[0]?.request?.messages)).toBe('Go on.');
  });

  test('prints the text of the last turn only, and none of the tools', async ({ user }) => {
    const emulator = await user.model(
      { text: 'I look first.', tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] },
      { text: 'It is a test.' },
    );
    const end = await user.here(['-p', 'What is this?']);
    expect(end).toEqual({ code: 0, stdout: 'It is a test.\n', stderr: '' });
    expect(toolResults(emulator)).toEqual([{ text: '     1\t# Test', isError: false }]);
  });

  test('continues an answer that was cut at the output limit', async ({ user }) => {
    await user.model({ text: 'The first half, ', stop_reason: 'max_tokens' }, { text: 'the second.' });
    const end = await user.here(['-p', 'Talk.']);
    expect(end).toMatchObject({ code: 0, stdout: 'The first half, the second.\n' });
  });

  test('says that the model refused, with exit code 1', async ({ user }) => {
    await user.model({ content: [], stop_reason: 'refusal' });
    const end = await user.here(['-p', 'Do harm.']);
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toMatch(
      /^ramet: failed: refusal: the model refused to answer \(session \w{8}; .*\)\n$/,
    );
  });
});

describe.concurrent('UI-1: the command itself', () => {
  test('prints its version', async ({ user }) => {
    const end = await user.here(['--version']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('prints help that names the commands and the options of -p', async ({ user }) => {
    const end = await user.here(['--help']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    for (const word of ['ps', 'show', 'logs', 'cost', 'emulate', '--output-format', '--permission-mode']) {
      expect(end.stdout).toContain(word);
    }
  });

  test.for(['ps', 'show', 'logs', 'cost', 'emulate'])('prints help for %s', async (command, { user }) => {
    const end = await user.here([command, '--help']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(linesOf(end.stdout)[0]).toMatch(new RegExp(`^Usage: ramet ${command} `));
  });
});

function promptOf(messages: readonly { content: unknown }[] | undefined): unknown {
  const content = messages?.[0]?.content;
  const last: unknown = Array.isArray(content) ? content.at(-1) : undefined;
  return typeof last === 'object' && last !== null && 'text' in last ? last.text : undefined;
}
