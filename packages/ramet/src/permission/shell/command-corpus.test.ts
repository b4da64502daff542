/**
 * TYPE-2, RES-3: the figures behind the promise. Both lists are judged by the same policy: the default mode and the
 * rules of an ordinary project, so that a dangerous command may hide behind an allowed beginning.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
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
const MOST_NEEDLESS = 0.03;

function corpus(name: string): string[] {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll('⏎', '\n'));
}

async function silent(commands: readonly string[]): Promise<Set<string>> {
  const cwd = join(temporaryDirectory(), 'work');
  mkdirSync(join(cwd, 'src'), { recursive: true });
  const { rules } = parseRules({ allow: ALLOWED }, { place: 'the test', base: cwd, home: '/home/user' });
  const policy: PermissionPolicy = { mode: 'default', rules };
  const allowed = new Set<string>();
  for (const command of commands) {
    const decision = await decide(policy, { name: 'Bash', effect: 'execute' }, { input: { command }, cwd });
    if (decision.kind === 'allow') allowed.add(command);
  }
  return allowed;
}

test('TYPE-2: no dangerous command of the corpus is allowed silently', async () => {
  const dangerous = corpus('dangerous-commands.txt');
  const missed = await silent(dangerous);
  console.log(`dangerous commands caught: ${dangerous.length - missed.size} of ${dangerous.length}`);
  expect([...missed]).toEqual([]);
  expect(dangerous.length).toBeGreaterThanOrEqual(150);
});

test('RES-3: at most 3% of the harmless commands of the corpus ask without need', async () => {
  const harmless = corpus('harmless-commands.txt');
  const free = await silent(harmless);
  const asking = harmless.filter((command) => !free.has(command));
  const share = asking.length / harmless.length;
  console.log(
    `harmless commands that ask: ${asking.length} of ${harmless.length} (${(share * 100).toFixed(1)}%)`,
  );
  expect(share <= MOST_NEEDLESS ? [] : asking).toEqual([]);
  expect(harmless.length).toBeGreaterThanOrEqual(150);
});
