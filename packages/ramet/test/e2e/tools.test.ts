import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { isRunning } from '../fixtures/command.ts';
import { test, toolResults } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

describe.concurrent('RES-6: the six tools', () => {
  test('write, change, read, search, list and run for real', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Write', input: { file_path: 'src/a.txt', content: 'one\ntwo\n' } }] },
      {
        tool_use: [
          { name: 'Edit', input: { file_path: 'src/a.txt', old_string: 'two', new_string: 'three' } },
        ],
      },
      {
        tool_use: [
          { name: 'Read', input: { file_path: 'src/a.txt' } },
          { name: 'Grep', input: { pattern: 'thr.e', output_mode: 'content' } },
          { name: 'Glob', input: { pattern: '**/*.txt' } },
        ],
      },
      { tool_use: [{ name: 'Bash', input: { command: 'pwd; wc -l < src/a.txt; echo made > b.txt' } }] },
      { text: 'Done.' },
    );
    const end = await user.ramet(['-p', 'Work.', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
    expect(readFileSync(join(user.repository, 'src/a.txt'), 'utf8')).toBe('one\nthree\n');
    expect(readFileSync(join(user.repository, 'b.txt'), 'utf8')).toBe('made\n');
    const results = toolResults(emulator);
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(results.map(({ text }) => text)).toEqual([
      'Created src/a.txt (2 lines).',
      expect.stringMatching(/^Edited src\/a\.txt\.[\s\S]*2\tthree/),
      expect.stringMatching(/1\tone\n\s*2\tthree$/),
      expect.stringMatching(/src\/a\.txt:2:three/),
      expect.stringMatching(/src\/a\.txt/),
      `${user.repository}\n2\n`.trimEnd(),
    ]);
  });

  test('start in the directory the command was called in, not at the root', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'pwd' } }] },
      { text: 'ok' },
    );
    const inner = join(user.repository, 'inner');
    mkdirSync(inner);
    await user.ramet(['-p', 'Where?', ...BYPASS], { cwd: inner });
    expect(toolResults(emulator).at(-1)?.text).toBe(inner);
  });

  test('keep their order where one of them changes something', async ({ user }) => {
    const emulator = await user.model(
      {
        tool_use: [
          { name: 'Bash', input: { command: 'sleep 0.2; echo first > order.txt' } },
          { name: 'Read', input: { file_path: 'order.txt' } },
          { name: 'Bash', input: { command: 'echo second >> order.txt' } },
          { name: 'Read', input: { file_path: 'order.txt' } },
        ],
      },
      { text: 'ok' },
    );
    await user.here(['-p', 'x', ...BYPASS]);
    const [, afterOne, , afterTwo] = toolResults(emulator).map(({ text }) => text);
    expect(afterOne).toMatch(/1\tfirst$/);
    expect(afterTwo).toMatch(/1\tfirst\n\s*2\tsecond$/);
  });

  test('stop what the agent left running when it ends', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'sleep 300 & echo $!' } }] },
      {
        tool_use: [{ name: 'Bash', input: { command: 'echo $$; exec sleep 300', run_in_background: true } }],
      },
      { text: 'ok' },
    );
    const end = await user.here(['-p', 'x', '--max-turns', '2', ...BYPASS]);
    // Failed, so that a process that runs out of things to wait for does not pass for a success.
    expect(end.code).toBe(1);
    const [left, background] = toolResults(emulator).map(({ text }) => text);
    const processes = [Number(/^\d+/.exec(left ?? '')?.[0]), Number(/pid (\d+)/.exec(background ?? '')?.[1])];
    for (const pid of processes) {
      expect(pid).toBeGreaterThan(1);
      expect(isRunning(pid)).toBe(false);
    }
    expect(readdirSync(user.project).filter((name) => name.endsWith('-wal'))).toEqual([]);
  });
});

describe.concurrent('RES-3: --permission-mode', () => {
  const attempts = [
    { name: 'Write', input: { file_path: 'new.txt', content: 'x' } },
    { name: 'Edit', input: { file_path: 'edited.txt', old_string: '', new_string: 'x' } },
    { name: 'Bash', input: { command: 'touch by-bash.txt' } },
    { name: 'Read', input: { file_path: 'README.md' } },
    { name: 'Glob', input: { pattern: '*' } },
    { name: 'Grep', input: { pattern: 'Test' } },
  ];

  test.for([
    [[], 'nobody can be asked in this run'],
    [['--permission-mode', 'dontAsk'], 'only reading is allowed'],
    [['--permission-mode', 'plan'], 'in plan mode nothing may be changed or run'],
  ] as const)(
    '%j lets the agent read and denies the rest with the reason',
    async ([flags, reason], { user }) => {
      const emulator = await user.model({ tool_use: attempts }, { text: 'Could not.' });
      const end = await user.here(['-p', 'x', ...flags]);
      expect(end).toEqual({
        code: 0,
        stdout: 'Could not.\n',
        stderr: expect.stringMatching(/^(ramet: denied: (Write|Edit|Bash) .* allows it\.\)\n){3}$/),
      });
      const results = toolResults(emulator);
      expect(results.map(({ isError }) => isError)).toEqual([true, true, true, false, false, false]);
      for (const { text } of results.slice(0, 3)) expect(text).toContain(reason);
      expect(existsSync(join(user.repository, 'new.txt'))).toBe(false);
      expect(existsSync(join(user.repository, 'by-bash.txt'))).toBe(false);
      expect(existsSync(join(user.repository, 'edited.txt'))).toBe(false);
    },
  );

  test('bypassPermissions allows everything', async ({ user }) => {
    const [write, , bash] = attempts;
    const emulator = await user.model(
      { tool_use: [write, bash].filter((one) => one !== undefined) },
      { text: 'ok' },
    );
    await user.here(['-p', 'x', ...BYPASS]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, false]);
    expect(existsSync(join(user.repository, 'by-bash.txt'))).toBe(true);
  });
});
