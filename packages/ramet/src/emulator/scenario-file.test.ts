import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { bodyOf, post } from '../../test/fixtures/emulator-client.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { UserMistake } from '../schema/errors.ts';
import { loadScenario, parseScenario } from './scenario-file.ts';
import { startEmulator } from './server.ts';

const rule = '- respond: { text: x }';

describe('EMU-4: scenario files', () => {
  test('YAML and JSON are read alike', () => {
    const rules = [{ match: { turn: 0 }, respond: { text: 'x' } }];
    expect(parseScenario('rules:\n- match: { turn: 0 }\n  respond: { text: x }\n', 'f')).toEqual({ rules });
    expect(parseScenario(JSON.stringify({ rules }), 'f')).toEqual({ rules });
  });

  test.each<[string, string, string]>([
    ['broken YAML', 'rules:\n- match: {turn: 0', 'f:2: '],
    ['no rules', 'latency: { baseMs: 1 }', 'f:1: rules: '],
    ['an empty file', '', 'f:1: '],
    ['an empty list', 'rules: []', 'f:1: rules: '],
    ['an unknown field', `rules:\n${rule}\n  reply: x`, 'f:2: rules.0: '],
    ['an unknown field of match', `rules:\n${rule}\n${rule}\n  match: { modle: x }`, 'f:4: rules.1.match: '],
    ['a turn that is no number', `rules:\n${rule}\n  match:\n    turn: first`, 'f:4: rules.0.match.turn: '],
    ['a broken expression', `rules:\n${rule}\n  match: { last: "/(/" }`, 'f:3: rules.0.match.last: '],
    ['a fault of no kind', `rules:\n${rule}\n  fault: { kind: fire }`, 'f:3: rules.0.fault'],
    [
      'a status that is no error',
      `rules:\n${rule}\n  fault: { kind: status, status: 200 }`,
      'f:3: rules.0.fault.status: ',
    ],
    ['a negative latency', `rules:\n${rule}\nlatency: { baseMs: -1 }`, 'f:3: latency.baseMs: '],
    ['a rule without an answer', 'rules:\n- times: 2', 'f:2: rules.0: a rule needs respond'],
    [
      'two answers',
      `rules:\n${rule}\n  recipe: true`,
      'f:2: rules.0: a rule has respond or recipe, not both',
    ],
    ['a recipe that is switched off', 'rules:\n- recipe: false', 'f:2: rules.0.recipe: '],
    ['a breaking fault without an answer', 'rules:\n- fault: { kind: missing_stop }', 'needs respond'],
  ])('%s: the mistake is named with file, line and field', (_, text, message) => {
    expect(() => parseScenario(text, 'f')).toThrow(UserMistake);
    expect(() => parseScenario(text, 'f')).toThrow(message);
  });

  test('a missing file and a folder are mistakes too', async ({ directory }) => {
    await expect(loadScenario(join(directory, 'none.yaml'))).rejects.toThrow('no such file');
    await expect(loadScenario(directory)).rejects.toThrow(UserMistake);
    await writeFile(join(directory, 's.yaml'), `rules:\n${rule}`);
    expect((await loadScenario(join(directory, 's.yaml'))).rules).toHaveLength(1);
  });

  test('the example of the documentation does what it says', async ({ directory }) => {
    const page = await readFile(join(import.meta.dirname, '../../../../docs/emulator.md'), 'utf8');
    const file = join(directory, 'example.yaml');
    await writeFile(file, /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '');
    const scenario = await loadScenario(file);
    expect(scenario.latency).toMatchObject({ baseMs: 300 });
    await using emulator = await startEmulator({ scenario: { rules: scenario.rules } });
    const question = { role: 'user', content: 'What is in notes.txt?' };
    expect((await post(emulator, { messages: [question] })).status).toBe(529);
    const { content } = await bodyOf(await post(emulator, { messages: [question] }));
    expect(content).toMatchObject([
      { type: 'thinking' },
      { name: 'Read', input: { file_path: 'notes.txt' } },
    ]);
    const [, call] = content as { id: string }[]; // the shape was just checked
    const after = (result: string) => [
      question,
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id, content: result }] },
    ];
    expect(await bodyOf(await post(emulator, { messages: after('buy milk') }))).toMatchObject({
      content: [{ text: 'It says: buy milk' }],
    });
    expect(await bodyOf(await post(emulator, { messages: after('File not found') }))).toMatchObject({
      content: [{ text: 'There is no such file.' }],
    });
  });
});
