/** Real processes run a task file and are killed at its events; others continue, side by side with people and each other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { sampleOf } from '../fixtures/kill-sample.ts';
import { IDENTITY } from '../fixtures/merge-repository.ts';
import { runSync } from '../fixtures/run-sync.ts';
import { compiledOnce } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';
import type { OperatorRunnerOrder } from './operator-runner.ts';

const RUNNER = crashProgram('operator-runner');

const TASKS = `- [ ] T001 Write one.txt
- [ ] T002 [P] Write two.txt
- [ ] T003 [P] Write three.txt (depends on T001)
`;

/** The target is checked out nowhere, so that it moves. */
async function prepare(user: User): Promise<void> {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
  git(user.repository, 'switch', '--quiet', '--create', 'desk');
  writeFileSync(join(user.repository, 'tasks.md'), TASKS);
  await user.emulate({ respond: worker });
}

function worker({ request, turn }: { request: { messages: unknown }; turn: number }): Answer {
  const name = /Task \S+: Write (\w+\.txt)/.exec(JSON.stringify(request.messages))?.[1] ?? 'unknown.txt';
  if (turn > 0) return { text: `Wrote ${name}.` };
  return { tool_use: [{ name: 'Write', input: { file_path: name, content: `${name}\n` } }] };
}

function run(
  user: User,
  order: OperatorRunnerOrder,
): { child: ChildProcess; ended: Promise<[number | null, string]> } {
  const env = { ...user.env, ...IDENTITY, ...compiledOnce() };
  const child = spawn(process.execPath, [RUNNER, user.repository, JSON.stringify(order)], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  return { child, ended: once(child, 'close').then(([code]) => [code, output]) };
}

/** Until a process has printed the word; its end without it is a failure. */
async function saying({ child, ended }: ReturnType<typeof run>, word: string): Promise<void> {
  const said = new Promise<void>((resolve) => {
    let text = '';
    child.stdout?.on('data', (more) => {
      text += String(more);
      if (text.includes(word)) resolve();
    });
  });
  await Promise.race([said, ended.then(([, output]) => expect.fail(`ended without ${word}: ${output}`))]);
}

const CHECK = 'test -e one.txt || test -e two.txt';

/** Every task is in the target exactly once, and git finds no fault. */
function expectLandedOnce(user: User): void {
  const names = git(user.repository, 'ls-tree', '--name-only', 'main').trim().split('\n');
  expect(names).toEqual(['README.md', 'one.txt', 'three.txt', 'two.txt']);
  const subjects = git(user.repository, 'log', '--no-merges', '--format=%s', 'main').trim().split('\n');
  expect(subjects.filter((subject) => subject.startsWith('Write')).sort()).toEqual([
    ...['Write one.txt', 'Write three.txt', 'Write two.txt'],
  ]);
  expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
}

/** As a push brings it. */
function commitBeside({ repository }: User, name: string): void {
  const blob = runSync('git', ['hash-object', '-w', '--stdin'], {
    cwd: repository,
    input: 'a person\n',
  });
  const tree = git(repository, 'ls-tree', 'main');
  const entries = `${tree}\n100644 blob ${String(blob).trim()}\t${name}\n`;
  const made = String(runSync('git', ['mktree'], { cwd: repository, input: entries })).trim();
  const commit = git(repository, 'commit-tree', made, '-p', 'main', '-m', `person: ${name}`);
  git(repository, 'update-ref', 'refs/heads/main', commit);
}

describe('OP-4: a run that is killed after its target has moved against it', { timeout: 120_000 }, () => {
  test('continues on the new base, and lands each task once', async ({ user }) => {
    await prepare(user);
    let hasMoved = false;
    await user.emulate({
      respond: (asked) => {
        if (!hasMoved) commitBeside(user, 'one.txt');
        hasMoved = true;
        const isAgain = JSON.stringify(asked.request.messages).includes(
          'An earlier attempt failed (conflict',
        );
        if (!isAgain || asked.turn > 0) return worker(asked);
        return { tool_use: [{ name: 'Write', input: { file_path: 'one-again.txt', content: 'x' } }] };
      },
    });
    const [code, said] = await run(user, { file: 'tasks.md', check: CHECK, diesRebased: true }).ended;
    expect(code, said).toBeNull();
    const [resumed, told] = await run(user, { check: CHECK }).ended;
    expect(told).toMatch(/T001 done.*T002 done.*T003 done/);
    expect(resumed).toBe(0);
    const names = git(user.repository, 'ls-tree', '--name-only', 'main').trim().split('\n');
    expect(names).toEqual(['README.md', 'one-again.txt', 'one.txt', 'three.txt', 'two.txt']);
    for (const name of ['two.txt', 'three.txt', 'one-again.txt']) {
      const made = git(user.repository, 'log', '--no-merges', '--format=%h', 'main', '--', name);
      expect(made.split('\n'), name).toHaveLength(1);
    }
    expect(git(user.repository, 'fsck', '--no-dangling')).toBe('');
  });
});

describe('OP-2: a run that is killed when its agent has ended', { timeout: 120_000 }, () => {
  test('lands what the agent left on a branch that it made itself', async ({ user }) => {
    await prepare(user);
    writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write one.txt\n');
    const command =
      'git switch -q -c ramet/own && echo one > one.txt && git add one.txt && git commit -qm "Write one.txt"';
    await user.emulate({
      respond: ({ turn }) =>
        turn > 0 ? { text: 'Done.' } : { tool_use: [{ name: 'Bash', input: { command } }] },
    });
    const order = { check: 'test -e README.md', allow: ['Bash'] };
    const [code, said] = await run(user, { ...order, file: 'tasks.md', diesAt: 'worktree.released' }).ended;
    expect(code, said).toBeNull();
    const [resumed, told] = await run(user, order).ended;
    expect([resumed, told]).toEqual([0, expect.stringContaining('T001 done')]);
    expect(git(user.repository, 'show', 'main:one.txt').trim()).toBe('one');
  });
});

describe('OP-4: a run that is killed while an agent resolves a conflict', { timeout: 120_000 }, () => {
  test('asks another one when it is resumed, and counts what the first has cost', async ({ user }) => {
    await prepare(user);
    const both = '- [ ] T001 [P] Write one.txt\n- [ ] T002 [P] Write one.txt\n';
    writeFileSync(join(user.repository, 'tasks.md'), both);
    const first: { child?: ChildProcess } = {};
    await user.emulate({
      respond: ({ request, turn }): Answer => {
        const said = JSON.stringify(request.messages);
        const id = /Task (T\d+): /.exec(said)?.[1];
        if (!said.includes('git could not decide')) {
          if (turn > 0) return { text: 'Done.', output_tokens: 10 };
          const input = { file_path: 'one.txt', content: `${id}\n` };
          return { tool_use: [{ name: 'Write', input }], output_tokens: 10 };
        }
        const path = `${/Working directory: (\S+?)\\n/.exec(said)?.[1] ?? ''}/one.txt`;
        if (turn === 0)
          return { tool_use: [{ name: 'Read', input: { file_path: path } }], output_tokens: 1_000 };
        // The first answer is paid for and on record.
        if (first.child?.exitCode === null && !first.child.killed) first.child.kill('SIGKILL');
        if (turn > 1) return { text: 'Both are kept.', output_tokens: 10 };
        const input = { file_path: path, content: 'T001\nT002\n' };
        return { tool_use: [{ name: 'Write', input }], output_tokens: 10 };
      },
    });
    const begun = run(user, { file: 'tasks.md', resolve: true });
    first.child = begun.child;
    const [code, said] = await begun.ended;
    expect(code, said).toBeNull();
    const [, told] = await run(user, { resolve: true }).ended;
    expect(told).toMatch(/T001 done.*T002 done/);
    expect(git(user.repository, 'show', 'main:one.txt')).toBe('T001\nT002');
    // Two agents for tasks with two answers each, one resolver with one answer, and one with three.
    expect(JSON.parse(told.trim().split('\n').at(-1) ?? '{}')).toMatchObject({ output: 2_060 });
  });
});

/** An undisturbed run of this list has about thirty events. */
const MOMENTS = Array.from({ length: 30 }, (_, index) => index + 1);

describe('OP-2: a run that is killed', { timeout: 120_000 }, () => {
  test.for(sampleOf(MOMENTS, [9, 20]))(
    'after %d events continues, and lands each task once',
    async (death, { user }) => {
      await prepare(user);
      const [code, said] = await run(user, { file: 'tasks.md', check: CHECK, death }).ended;
      if (code !== 0) {
        expect(code, said).toBeNull();
        const [resumed, told] = await run(user, { check: CHECK }).ended;
        expect(told).toMatch(/T001 done.*T002 done.*T003 done/);
        expect(resumed).toBe(0);
      }
      expectLandedOnce(user);
    },
  );
});

describe('OP-2: a file that several processes start at the same moment', { timeout: 120_000 }, () => {
  test('is run by one of them, also after one was killed before its run was on record', async ({
    user,
    onTestFinished,
  }) => {
    await prepare(user);
    writeFileSync(join(user.repository, 'tasks.md'), '- [ ] T001 Write one.txt\n');
    const refusedOrTwice = Promise.withResolvers<void>();
    let asked = 0;
    await user.emulate({
      async respond(request) {
        asked += 1;
        // The run is not over before the other process has looked.
        if (asked === 2) refusedOrTwice.resolve();
        await refusedOrTwice.promise;
        return worker(request);
      },
    });
    const killed = run(user, { file: 'tasks.md', held: true });
    onTestFinished(() => void killed.child.kill('SIGKILL'));
    await saying(killed, 'held');
    const begins = join(user.root, 'begins');
    const rivals = [1, 2].map(() => run(user, { file: 'tasks.md', begins }));
    await Promise.all(rivals.map((rival) => saying(rival, 'ready')));
    writeFileSync(begins, '');
    killed.child.kill('SIGKILL');
    await Promise.race(rivals.map(({ ended }) => ended));
    refusedOrTwice.resolve();
    const ends = await Promise.all(rivals.map(({ ended }) => ended));
    const [won = '', lost = ''] = ends
      .sort(([one], [other]) => Number(one) - Number(other))
      .map(([, said]) => said);
    expect(won).toContain('T001 done');
    expect(lost).toMatch(/tasks\.md runs already, in session \w+: see ramet operate status/);
    expect(ends.map(([code]) => code)).toEqual([0, 1]);
    expect(git(user.repository, 'log', '--no-merges', '--format=%s', 'main', '--', 'one.txt')).toBe(
      'Write one.txt',
    );
  });
});
