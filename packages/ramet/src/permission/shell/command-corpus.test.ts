/**
 * TYPE-2, RES-3: the figures behind the promise. Both lists are judged by the same policy: the default mode and the
 * rules of an ordinary project, so that a dangerous command may hide behind an allowed beginning.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { bashTool } from '../../tools/shell/bash.ts';
import { decide } from '../decide.ts';
import { type PermissionPolicy, parseRules } from '../policy.ts';

const ALLOWED = [
  'Bash(npm test:*)',
  'Bash(npm run lint:*)',
  'Bash(npm run build:*)',
  'Bash(npx vitest *)',
  'Bash(git add:*)',
  'Bash(git commit:*)',
  'Bash(make test)',
  'Edit(build/**)',
];
function corpus(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll('⏎', '\n'));
}

type Judged = 'asks' | 'wall' | 'host' | 'none';

async function judgeAll(commands: readonly string[], wall: boolean): Promise<Map<string, Judged>> {
  const cwd = join(temporaryDirectory(), 'work');
  for (const name of ['src', 'vendor/evil']) mkdirSync(join(cwd, name), { recursive: true });
  // A repository that was committed: its configuration is the project's.
  for (const name of ['HEAD', 'config']) writeFileSync(join(cwd, 'vendor/evil', name), '');
  const { rules } = parseRules({ allow: ALLOWED }, { place: 'the test', base: cwd, home: '/home/user' });
  const policy: PermissionPolicy = { mode: 'default', rules, wall };
  const judged = new Map<string, Judged>();
  for (const command of commands) {
    const decision = await decide(policy, bashTool, { input: { command }, cwd });
    judged.set(command, decision.kind === 'allow' ? decision.confinement : 'asks');
  }
  return judged;
}

const those = (judged: ReadonlyMap<string, Judged>, ...kinds: readonly Judged[]): string[] =>
  [...judged].flatMap(([command, kind]) => (kinds.includes(kind) ? [command] : []));

test('TYPE-2: no dangerous command of the corpora runs outside a sandbox without a question', async () => {
  const dangerous = [...corpus('dangerous-commands.txt'), ...corpus('more-dangerous-commands.txt')];
  const alone = await judgeAll(dangerous, false);
  const behindWall = await judgeAll(dangerous, true);
  const held = those(behindWall, 'wall').length;
  console.log(`dangerous commands: ${dangerous.length}, ${held} of them left to the wall`);
  expect(those(alone, 'wall', 'host', 'none')).toEqual([]);
  expect(those(behindWall, 'host', 'none')).toEqual([]);
  expect(dangerous.length).toBeGreaterThanOrEqual(900);
});

test.for([
  [true, 0.08],
  [false, 0.15],
] as const)(
  'RES-3: with the wall (%s) at most a share of %d of reading commands asks',
  async ([wall, most]) => {
    const reading = corpus('reading-commands.txt');
    const judged = await judgeAll(reading, wall);
    const asking = those(judged, 'asks');
    const share = asking.length / reading.length;
    console.log(`reading commands that ask, wall ${wall}: ${asking.length} of ${reading.length}`);
    expect(share <= most ? [] : asking).toEqual([]);
    expect(reading.length).toBeGreaterThanOrEqual(300);
  },
);

test('RES-3: everyday commands and what rules allow ask in at most 15% without the wall, and 3% with it', async () => {
  const harmless = corpus('harmless-commands.txt');
  for (const [wall, most] of [
    [true, 0.03],
    [false, 0.15],
  ] as const) {
    const asking = those(await judgeAll(harmless, wall), 'asks');
    expect(asking.length / harmless.length <= most ? [] : asking).toEqual([]);
  }
});
