import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { readSettingsFile } from './settings-file.ts';
import { problemText } from './settings-notices.ts';

async function problemsOf(directory: string, content: string | Uint8Array): Promise<string[]> {
  const path = join(directory, 'settings.json');
  writeFileSync(path, content);
  const { problems, state, values } = await readSettingsFile('user', path);
  expect({ state, values }).toEqual({ state: 'bad', values: [] });
  return problems.map((problem) => problemText(problem).replace(path, 'FILE'));
}

describe('EXT-1: a bad settings file is described with file, line and key', () => {
  test.for<[string, string]>([
    ['', 'FILE:1: it is empty: write {} or remove it'],
    ['[]', 'FILE:1: settings are an object: expected object, received array'],
    ['null', 'FILE:1: settings are an object: expected object, received null'],
    ['{"model": 1}', 'FILE:1: model: expected string, received number'],
    ['{"model": null}', 'FILE:1: model: expected string, received null'],
    ['{"model": "  "}', 'FILE:1: model: it is empty'],
    ['{\n"maxTurns":\n"many"}', 'FILE:3: maxTurns: expected number, received string'],
    ['{"maxTurns": 0}', 'FILE:1: maxTurns: Too small: expected number to be >0'],
    ['{"maxTurns": 1.5}', 'FILE:1: maxTurns: expected int, received number'],
    ['{"maxTurns": 1e999}', 'FILE:1: maxTurns: expected number, received Infinity'],
    ['{"provider": "grok"}', 'FILE:1: provider: expected one of "anthropic"|"openai"|"recipe"'],
    [
      '{"permissions": {"defaultMode": "bubble"}}',
      'FILE:1: permissions.defaultMode: expected one of "default"|"acceptEdits"|"plan"|"dontAsk"|"bypassPermissions"',
    ],
    ['{"permissions": {\n"allow": "Bash"}}', 'FILE:2: permissions.allow: expected array, received string'],
    [
      '{"permissions": {"deny": ["Bash",\n7]}}',
      'FILE:2: permissions.deny.1: expected string, received number',
    ],
    ['{"budget": {"usd": -1}}', 'FILE:1: budget.usd: Too small: expected number to be >0'],
    [
      '{"prices": {"gpt-4.1": {"input": "3"}}}',
      'FILE:1: prices["gpt-4.1"].input: expected number, received string',
    ],
    ['{"prices": {" ": {}}}', 'FILE:1: prices[" "]: it is empty'],
    [
      '{"env": {"childVariables": ["A=B"]}}',
      'FILE:1: env.childVariables.0: it is not the name of a variable',
    ],
    [
      '{"compaction": {"threshold": 80}}',
      'FILE:1: compaction.threshold: Too big: expected number to be <=0.95',
    ],
    ['{"retries": true}', 'FILE:1: retries: expected number, received boolean'],
    ['{"model": "a",\n"model": "b"}', 'FILE:2: the key "model" stands twice (first on line 1): keep one'],
  ])('%j', async ([content, expected], { directory }) => {
    expect(await problemsOf(directory, content)).toEqual([expect.stringContaining(expected)]);
  });

  test('every problem is told, not only the first', async ({ directory }) => {
    const problems = await problemsOf(directory, '{"model": 1, "retries": "x", "unknown": 3}');
    expect(problems).toHaveLength(2);
  });

  test('UTF-16 and other bytes that are no text are refused', async ({ directory }) => {
    for (const content of [Buffer.from('\ufeff{}', 'utf16le'), Buffer.from([0x7b, 0xff, 0x7d])])
      expect(await problemsOf(directory, content)).toEqual([
        'FILE:1: it is not UTF-8 text: save it as UTF-8',
      ]);
  });

  test('a file of more than a megabyte is refused', async ({ directory }) => {
    const [problem] = await problemsOf(directory, `{}${' '.repeat(1 << 20)}`);
    expect(problem).toContain('too large for settings');
  });

  test('a directory, a fifo and a loop of links are refused without waiting', async ({ directory }) => {
    mkdirSync(join(directory, 'folder'));
    runSync('mkfifo', [join(directory, 'fifo')]);
    symlinkSync('loop', join(directory, 'loop'));
    const messages = ['folder', 'fifo', 'loop'].map(async (name) => {
      const { problems } = await readSettingsFile('user', join(directory, name));
      return problems.map(({ message }) => message);
    });
    expect(await Promise.all(messages)).toEqual([
      ['it is a directory: put a file in its place or remove it'],
      ['it is not a regular file: put one in its place or remove it'],
      ['it cannot be read: ELOOP'],
    ]);
  });
});

describe('a good settings file', () => {
  test('gives its values with their lines; a byte order mark is left out', async ({ directory }) => {
    const path = join(directory, 'settings.json');
    writeFileSync(path, '\ufeff{ // mine\n"model": "opus",\n"permissions": { "deny": ["WebFetch"], },\n}');
    const { state, values } = await readSettingsFile('user', path);
    expect(state).toBe('read');
    expect(values).toMatchObject([
      { path: ['model'], value: 'opus', source: path, line: 2, unused: null },
      { path: ['permissions', 'deny'], value: 'WebFetch', line: 3, isEntry: true },
    ]);
  });

  test('keeps unknown keys as values that are not in use', async ({ directory }) => {
    const path = join(directory, 'settings.json');
    writeFileSync(path, '{"hoks": {"a": [{"b": 1}]}, "permissions": {"alow": ["Bash"], "ask": ["Bash"]}}');
    const { state, values } = await readSettingsFile('user', path);
    expect(state).toBe('read');
    expect(values).toMatchObject([
      { path: ['permissions', 'ask'], unused: null },
      { path: ['permissions', 'alow'], value: ['Bash'], unused: 'unknown key' },
      { path: ['hoks'], value: { a: [{ b: 1 }] }, unused: 'unknown key' },
    ]);
  });

  test('that is not there is absent, also below a file', async ({ directory }) => {
    writeFileSync(join(directory, 'file'), '');
    for (const name of ['missing.json', 'file/settings.json'])
      expect((await readSettingsFile('user', join(directory, name))).state).toBe('absent');
  });
});
