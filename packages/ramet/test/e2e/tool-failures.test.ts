import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer, RequestView } from '../../src/emulator/index.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

describe.concurrent('RES-6: a call that cannot be carried out is answered, and the agent goes on', () => {
  test.for([
    ['an unknown tool', 'Teleport', { to: 'Mars' }, 'there is no tool "Teleport"; the tools are Read, Write'],
    ['a missing field', 'Read', {}, 'Wrong input for Read: file_path is missing.'],
    [
      'a field of the wrong type',
      'Read',
      { file_path: 7 },
      'Wrong input for Read: file_path: expected string',
    ],
    ['an unknown field', 'Bash', { command: 'true', shell: 'zsh' }, 'unknown field shell'],
    ['a missing file', 'Read', { file_path: 'REEDME.md' }, 'REEDME.md does not exist.'],
    ['a directory', 'Read', { file_path: '.' }, 'is a directory'],
    ['a command that fails', 'Bash', { command: 'echo oh; exit 3' }, 'oh'],
  ] as const)('%s', async ([, name, input, message], { user }) => {
    const emulator = await user.model({ tool_use: [{ name, input }] }, { text: 'I see.' });
    const end = await user.ramet(['-p', 'x', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'I see.\n', stderr: '' });
    expect(toolResults(emulator)).toEqual([{ text: expect.stringContaining(message), isError: true }]);
  });

  test('input that is no object is answered too, and sent back in a form that the API takes', async ({
    user,
  }) => {
    const invalid = { content: [{ type: 'tool_use', name: 'Read', input: 'README.md' }] };
    const answers: Answer[] = [invalid, { text: 'I see.' }];
    const emulator = await user.emulate({ respond: () => answers.shift() });
    const end = await user.here(['-p', 'x']);
    expect(end).toEqual({ code: 0, stdout: 'I see.\n', stderr: '' });
    expect(toolResults(emulator)).toEqual([
      { text: expect.stringContaining('invalid_input'), isError: true },
    ]);
  });
});

describe.concurrent('RES-6: more than a conversation should hold', () => {
  test('10 MB of output is cut, and the rest is in a file that can be read', async ({ user }) => {
    const emulator = await user.model(
      {
        tool_use: [
          { name: 'Bash', input: { command: "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end" } },
        ],
      },
      { text: 'ok' },
    );
    const end = await user.here(['-p', 'x', ...BYPASS]);
    expect(end).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    const [result] = toolResults(emulator);
    expect(result?.text.length).toBeLessThan(40_000);
    expect(result?.text).toMatch(/x\nend$/);
    const path = /all of it is in (\S+)/.exec(result?.text ?? '')?.[1] ?? '';
    expect(path.startsWith(user.rametHome)).toBe(true);
    expect(readFileSync(path)).toHaveLength(10_000_005);
  });

  test('a file of 10 MB is shown in part, with where to go on', async ({ user }) => {
    writeFileSync(join(user.repository, 'large.txt'), 'a line of text\n'.repeat(700_000));
    const emulator = await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: 'large.txt' } }] },
      { tool_use: [{ name: 'Read', input: { file_path: 'large.txt', offset: 699_999 } }] },
      { text: 'ok' },
    );
    await user.here(['-p', 'x']);
    const [first, last] = toolResults(emulator).map(({ text }) => text);
    expect(first?.length).toBeLessThan(110_000);
    expect(first).toMatch(/offset/);
    expect(last).toMatch(/699999\ta line of text\n\s*700000\ta line of text/);
  });

  test('a binary file is named, not shown, and not overwritten as text', async ({ user }) => {
    const bytes = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]);
    writeFileSync(join(user.repository, 'program'), bytes);
    const emulator = await user.model(
      { tool_use: [{ name: 'Read', input: { file_path: 'program' } }] },
      { tool_use: [{ name: 'Edit', input: { file_path: 'program', old_string: 'ELF', new_string: 'elf' } }] },
      { text: 'ok' },
    );
    await user.here(['-p', 'x', ...BYPASS]);
    const [read, edit] = toolResults(emulator);
    expect(read).toEqual({ text: expect.stringContaining('is a binary file of 8 bytes'), isError: true });
    expect(edit?.isError).toBe(true);
    expect(readFileSync(join(user.repository, 'program'))).toEqual(bytes);
  });
});

describe.concurrent('WORK-1: no change of another writer is lost', () => {
  const write = { name: 'Write', input: { file_path: 'a.txt', content: 'mine\n' } };
  const edit = { name: 'Edit', input: { file_path: 'a.txt', old_string: 'old', new_string: 'new' } };

  test.for([
    ['Write', write],
    ['Edit', edit],
  ] as const)('%s refuses a file that changed since it was read', async ([, change], { user }) => {
    const results = await readThen(
      user,
      () => writeFileSync(join(user.repository, 'a.txt'), 'old, by a person\n'),
      change,
    );
    expect(results[1]).toEqual({
      text: expect.stringContaining('was changed outside Ramet since you read it'),
      isError: true,
    });
    expect(readFileSync(join(user.repository, 'a.txt'), 'utf8')).toBe('old, by a person\n');
  });

  test('Edit refuses a file that was deleted since it was read', async ({ user }) => {
    const results = await readThen(user, () => rmSync(join(user.repository, 'a.txt')), edit);
    expect(results[1]).toEqual({ text: expect.stringContaining('a.txt'), isError: true });
    expect(results[1]?.text).toMatch(/deleted|does not exist/);
  });

  test('Write refuses a file that was never read', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Write', input: { file_path: 'README.md', content: 'gone' } }] },
      { text: 'ok' },
    );
    await user.here(['-p', 'x', ...BYPASS]);
    expect(toolResults(emulator)).toEqual([
      { text: expect.stringContaining('you have not read it'), isError: true },
    ]);
    expect(readFileSync(join(user.repository, 'README.md'), 'utf8')).toBe('# Test\n');
  });
});

/** The agent reads a.txt; then, before it acts on it, something happens. Returns what its calls were told. */
async function readThen(
  user: User,
  happens: () => void,
  call: { name: string; input: Record<string, unknown> },
) {
  writeFileSync(join(user.repository, 'a.txt'), 'old\n');
  const answers: Answer[] = [
    { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { tool_use: [call] },
    { text: 'ok' },
  ];
  const respond = ({ turn }: RequestView): Answer | undefined => {
    if (turn === 1) happens();
    return answers[turn];
  };
  const emulator = await user.emulate({ respond });
  await user.here(['-p', 'x', ...BYPASS]);
  return toolResults(emulator);
}
