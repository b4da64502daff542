/** What verification refuses, in a real repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { Tool } from '../../tools/tool.ts';
import { phaseRefusal } from './phase-rules.ts';

let root: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

beforeEach(() => {
  root = temporaryDirectory();
  git('init', '-q');
  mkdirSync(join(root, 'src'));
  for (const name of ['README.md', 'src/a.ts']) writeFileSync(join(root, name), 'a\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first');
  for (const name of ['app', 'src/new.ts']) writeFileSync(join(root, name), 'new\n');
});

// Only these are asked.
const bash = { name: 'Bash', effect: 'run', access: (command: unknown) => ({ command }) } as unknown as Tool;

function refusal(command: string, cwd = root): Promise<string | null> {
  const rules = {
    ...{ phase: 'verification' as const, scratchpad: join(root, '.pad') },
    rightsOf: () => 'proves' as const,
  };
  const agent = {
    spec: {},
    directory: { cwd },
    runtime: { childEnvironment: { PATH: process.env.PATH ?? '' } },
  } as unknown as Parameters<typeof phaseRefusal>[1];
  return phaseRefusal(rules, agent, bash, command);
}

test.for([
  ['curl -so README.md file:///etc/hostname', 'It would change README.md.'],
  ['cd src && wget -qO ../README.md http://h/x', 'It would change README.md.'],
  ['curl -o src/new.ts http://h/x', 'It would change src/new.ts.'],
  ['gcc -o README.md a.c', 'It would change README.md.'],
  ['cp /etc/README.md .', 'It would change README.md.'],
  [
    'git revert --no-edit HEAD',
    'Of git, commands that look may run, and add and commit: git revert may not.',
  ],
  ['git -C src checkout -b x', 'git checkout may not.'],
])('COORD-1: refused in verification: %s', async ([command = '', why = '']) => {
  expect(await refusal(command)).toContain(why);
});

test.for([
  'npm test > fresh.log 2>&1; curl -so fresh.html http://h/; git status; git diff; git log --oneline',
  'gcc -o app a.c && ./app',
  'rm src/a.ts',
  'cd /tmp && git checkout main',
])('COORD-1: runs in verification: %s', async (command) => {
  expect(await refusal(command)).toBeNull();
});

test('COORD-1: a file that git knows stays one of the repository when it was removed', async () => {
  rmSync(join(root, 'src'), { recursive: true });
  expect(await refusal('mkdir -p src; echo 8 > src/a.ts')).toContain('It would change src/a.ts.');
  git('add', '-A');
  expect(await refusal('mkdir -p src; echo 8 > src/a.ts')).toContain('It would change src/a.ts.');
  expect(await refusal("mkdir -p src; echo 8 > 'src/a*'")).toBeNull();
  expect(await refusal('echo 8 > src/new.ts')).toBeNull();
});

test("COORD-1: a repository of its own inside the checkout is nobody's work", async () => {
  mkdirSync(join(root, 'demo'));
  execFileSync('git', ['init', '-q'], { cwd: join(root, 'demo') });
  expect(await refusal('cd demo && git checkout -b x && git reset --hard')).toBeNull();
  expect(await refusal('git revert HEAD', join(root, 'src'))).toContain('git revert may not');
});
