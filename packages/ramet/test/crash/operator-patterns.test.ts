/** In each pattern of parallel work, a process that runs tasks is killed at its events, and another one continues. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { workerAnswer } from '../../../../campaigns/operator/worker.ts';
import type { Answer } from '../../src/emulator/answer.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { sampleOf } from '../fixtures/kill-sample.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { compiledOnce } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';
import { checkoutBytes, git } from '../fixtures/worktrees.ts';
import type { OperatorRunnerOrder } from './operator-runner.ts';

const RUNNER = crashProgram('operator-runner');

const TASKS = `tasks:
  - { id: one, title: Write one.txt, files: [one.txt] }
  - { id: two, title: Write two.txt, files: [two.txt] }
  - { id: three, title: Write three.txt, files: [three.txt], depends_on: [one] }
`;

/** The target is checked out nowhere, so that it moves. */
async function prepare(user: User, isolation: string): Promise<void> {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  writeFileSync(join(user.repository, 'tasks.yaml'), TASKS);
  await user.emulate({ respond: RESPONSES[isolation] ?? writer });
}

interface Asked {
  request: { messages: unknown };
  turn: number;
}

function nameIn({ request }: Asked): string {
  return /Task \S+: Write (\w+\.txt)/.exec(JSON.stringify(request.messages))?.[1] ?? 'unknown.txt';
}

function writer(asked: Asked): Answer {
  const name = nameIn(asked);
  if (asked.turn > 0) return { text: `Wrote ${name}.` };
  return { tool_use: [{ name: 'Write', input: { file_path: name, content: `${name}\n` } }] };
}

function proposer(asked: Asked): Answer {
  const name = nameIn(asked);
  if (asked.turn === 0) return { tool_use: [{ name: 'Read', input: { file_path: 'README.md' } }] };
  const lines = ['--- /dev/null', `+++ b/${name}`, '@@ -0,0 +1 @@', `+${name}`];
  return { text: ['```diff', ...lines, '```'].join('\n') };
}

/** A member of a team repeats what failed, and what it does not know the end of. */
const RESPONSES: Readonly<Record<string, NonNullable<Parameters<User['emulate']>[0]>['respond']>> = {
  propose: proposer,
  team: workerAnswer,
};

async function run(user: User, order: OperatorRunnerOrder): Promise<[number | null, string]> {
  const env = { ...user.env, ...IDENTITY, ...compiledOnce() };
  const child = spawn(process.execPath, [RUNNER, user.repository, JSON.stringify(order)], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const [code] = await once(child, 'close');
  return [code, output];
}

const CHECK = 'test ! -e wrong.txt';

/** Every task is in the target exactly once, and git finds no fault. */
function expectLandedOnce(user: User): void {
  const names = git(user.repository, 'ls-tree', '--name-only', 'main').split('\n');
  expect(names).toEqual(['README.md', 'one.txt', 'three.txt', 'two.txt']);
  const subjects = git(user.repository, 'log', '--no-merges', '--format=%s', 'main').split('\n');
  expect(subjects.filter((subject) => subject.startsWith('Write')).sort()).toEqual([
    ...['Write one.txt', 'Write three.txt', 'Write two.txt'],
  ]);
  expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
}

/** An undisturbed run records about a hundred and twenty events, with those of its agents; the first ones come before the run is on record. */
const MOMENTS = (['partition', 'none', 'propose', 'clone'] as const).flatMap((isolation) =>
  Array.from({ length: 60 }, (_, index) => `${isolation} ${2 * index + 10}`),
);
/** A team records more. Its tasks have one try each: what a member has completed is not done again. */
const TEAM_MOMENTS = Array.from({ length: 100 }, (_, index) => `team ${2 * index + 20}`);

describe.concurrent('OP-8, OP-9: a run that is killed', { timeout: 120_000 }, () => {
  test.for(sampleOf([...MOMENTS, ...TEAM_MOMENTS], ['partition 40', 'propose 50', 'clone 60', 'team 100']))(
    'in the pattern and after the number of events %s continues, and lands each task once',
    async (moment, { user }) => {
      const [isolation = '', death] = moment.split(' ');
      await prepare(user, isolation);
      const {
        '.git/refs/heads/main': _,
        '.git/logs/refs/heads/main': __,
        ...before
      } = checkoutBytes(user.repository);
      const retries = isolation === 'team' ? 0 : 1;
      const order = { file: 'tasks.yaml', check: CHECK, death: Number(death), everything: true, retries };
      // The names come from the list above.
      const [code, said] = await run(user, { ...order, isolation: isolation as 'partition' });
      if (code !== 0) {
        expect(code, said).toBeNull();
        const [resumed, told] = await run(user, { check: CHECK, retries });
        expect(told).toMatch(/one done.*two done.*three done/);
        expect(resumed).toBe(0);
      }
      expectLandedOnce(user);
      expect(checkoutBytes(user.repository)).toMatchObject({ ...before, 'tasks.yaml': expect.any(String) });
    },
  );
});
