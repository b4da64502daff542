import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { parseScenario } from '../../src/emulator/scenario-file.ts';
import { fencedBlocks } from '../../src/model/recipe/fenced-blocks.ts';
import { eventually, linesOf } from '../fixtures/command.ts';
import { test } from '../fixtures/user.ts';

const SCENARIO = `
rules:
  - match: { turn: 0, last: notes.txt }
    respond:
      tool_use:
        - name: Read
          input: { file_path: notes.txt }
  - match: { lastToolResult: buy milk }
    respond: { text: 'It says: buy milk.' }
`;

describe.concurrent('EMU-4: ramet emulate', () => {
  test('serves a scenario to ramet -p, logs what was sent, and ends when it is interrupted', async ({
    user,
  }) => {
    const scenario = join(user.root, 'scenario.yaml');
    const log = join(user.root, 'requests.jsonl');
    writeFileSync(scenario, SCENARIO);
    writeFileSync(join(user.repository, 'notes.txt'), 'buy milk\n');
    const server = user.start(['emulate', '--scenario', scenario, '--log', log]);
    const url = await eventually(() => /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout)?.[0]);
    const end = await user.ramet(['-p', 'What is in notes.txt?'], { env: { ANTHROPIC_BASE_URL: url } });
    expect(end).toEqual({ code: 0, stdout: 'It says: buy milk.\n', stderr: '' });
    server.kill('SIGINT');
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
    const logged = linesOf(readFileSync(log, 'utf8')).map((line) => JSON.parse(line));
    expect(logged).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(logged[1].body).toContain('buy milk');
  });

  test('the scenario for forks in docs/emulator.md answers a parent and its forks', async ({ user }) => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/emulator.md'), 'utf8');
    const scenario = fencedBlocks(page).find(({ content }) => content.includes('fork: true'));
    const emulator = await user.emulate({ scenario: parseScenario(scenario?.content ?? '', 'page') });
    for (const name of ['a', 'b']) writeFileSync(join(user.repository, `${name}.txt`), `this is ${name}\n`);
    expect(await user.ramet(['-p', 'Look at both.'])).toEqual({
      code: 0,
      stdout: 'Both are read.\n',
      stderr: '',
    });
    const last = JSON.stringify(emulator.requests.at(-1)?.request?.messages.at(-1));
    expect(last).toContain('this is a');
    expect(last).toContain('this is b');
    expect(emulator.requests.map(({ rule }) => rule).toSorted()).toEqual([1, 2, 3, 4, 4, 5]);
  });

  test('names the rules to a request that none of them answers', async ({ user }) => {
    const scenario = join(user.root, 'scenario.yaml');
    writeFileSync(scenario, SCENARIO);
    const server = user.start(['emulate', '--scenario', scenario]);
    const url = await eventually(() => /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout)?.[0]);
    const end = await user.ramet(['-p', 'Something else.'], { env: { ANTHROPIC_BASE_URL: url } });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(/answered 400 .*no rule answers this request; rules: 1 .*turn 0/),
    ]);
  });
});
