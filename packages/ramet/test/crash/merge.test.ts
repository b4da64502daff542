/** Real processes merge, die at every step, meet each other and a person who commits all the while. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MERGE_STEPS } from '../../src/git/merge/merge-request.ts';
import { processDirectory } from '../../src/system/processes/process-register.ts';
import { eventually } from '../fixtures/command.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { sampleOf } from '../fixtures/kill-sample.ts';
import { checkoutBytes, type MergePlace, mergePlace } from '../fixtures/merge-repository.ts';
import { compiledOnce } from '../fixtures/temporary.ts';
import type { MergeRunnerOrder } from './merge-runner.ts';

const RUNNER = crashProgram('merge-runner');
const PERSON = join(import.meta.dirname, 'committing-person.ts');

interface Running {
  child: ChildProcess;
  ended: Promise<{ code: number | null; output: string }>;
}

function start(place: MergePlace, program: string, ...args: string[]): Running {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...place.repository.env, ...compiledOnce() },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  child.stderr.on('data', (text) => {
    output += String(text);
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
}

const merging = (place: MergePlace, order: MergeRunnerOrder): Running =>
  start(place, RUNNER, place.directory, place.project, JSON.stringify(order));

const NAMES = ['one', 'two', 'three'];

function threeBranches(isCheckedOut = false): MergePlace {
  const place = mergePlace({ a: '1\n' }, isCheckedOut);
  for (const name of NAMES) place.branch(name, { [name]: '1' });
  return place;
}

/** Everything is in `main` exactly once, nothing of ours is left, and git finds no fault. */
function expectMergedOnce(place: MergePlace, names: readonly string[]): void {
  const subjects = place.git('log', '--format=%s', 'main').split('\n');
  expect(subjects.filter((subject) => subject.startsWith('work on')).sort()).toEqual(
    names.map((name) => `work on ${name}`).sort(),
  );
  expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  expect(place.git('fsck', '--no-dangling')).toBe('');
}

describe('WORK-5: a merge that is killed', { timeout: 60_000 }, () => {
  const moments = MERGE_STEPS.flatMap((step) =>
    step === 'integrated' ? [`${step}:1`, `${step}:3`] : [`${step}:1`],
  );

  test.each(moments)('after %s continues where it was, and merges nothing twice', async (moment) => {
    const place = threeBranches();
    const before = checkoutBytes(place.directory);
    const killed = await merging(place, { check: 'test -e a', death: moment, branches: NAMES }).ended;
    expect(killed.code).toBeNull();
    // This process is the next one: it holds nothing of the one that was killed.
    await place.queue({ strategy: 'squash', check: { command: 'test -e a', timeoutMs: 60_000 } });
    const states = place.entries.list().map(({ branch, state }) => `${branch}: ${state}`);
    expect(states).toEqual(NAMES.map((name) => `${name}: landed`));
    expect(checkoutBytes(place.directory)).toEqual(before);
    expectMergedOnce(place, NAMES);
  });

  test.each(['recorded:1', 'moved:1', 'noted:1'])(
    'after %s leaves a checkout that was to move whole, before or after',
    async (moment) => {
      const place = threeBranches(true);
      const killed = await merging(place, { update: true, death: moment, branches: NAMES }).ended;
      expect(killed.code).toBeNull();
      expect(place.git('status', '--porcelain')).toBe('');
      await place.queue({ strategy: 'squash', updateCheckout: true });
      expect(place.git('status', '--porcelain')).toBe('');
      expect(place.git('ls-files')).toBe('a\none\nthree\ntwo');
      expectMergedOnce(place, NAMES);
    },
  );

  test('while its check runs is resumed only when that check has been ended', async () => {
    const place = threeBranches();
    const pid = join(place.project, 'pid');
    const check = `if test -e ${pid}; then ! grep -qs '^State:.[RSD]' /proc/$(cat ${pid})/status; else echo $$ > ${pid}.new; mv ${pid}.new ${pid}; sleep 600; fi`;
    const first = merging(place, { check, branches: NAMES });
    // The check may be quicker than the note that it runs.
    await eventually(() => existsSync(pid) && readdirSync(processDirectory(place.project)).length > 0);
    first.child.kill('SIGKILL');
    await first.ended;
    const { output } = await merging(place, { check }).ended;
    expect(output).toBe('one: landed\ntwo: landed\nthree: landed\n');
  });

  test('at any moment at all leaves a repository that the next run completes', async () => {
    const place = threeBranches();
    for (const delay of sampleOf([60, 110, 160, 210, 260, 310, 360], [60, 160, 260, 360])) {
      const run = merging(place, { check: 'sleep 0.05', branches: NAMES });
      setTimeout(() => run.child.kill('SIGKILL'), delay);
      await run.ended;
    }
    await place.queue({ strategy: 'squash', branches: NAMES });
    expect(place.entries.list().every(({ state }) => state === 'landed' || state === 'nothing')).toBe(true);
    expectMergedOnce(place, NAMES);
  });
});

describe('WORK-5: two queues and a person at once', { timeout: 120_000 }, () => {
  const six = Array.from({ length: 6 }, (_, index) => `b${index}`);

  async function withPerson(place: MergePlace, way: string, work: () => Promise<void>): Promise<number> {
    const person = start(place, PERSON, place.directory, way);
    const main = place.git('rev-parse', 'main');
    await eventually(() => place.git('rev-parse', 'main') !== main);
    await work();
    person.child.stdin?.write('stop\n');
    const { output } = await person.ended;
    const commits = /^commits (\d+)$/m.exec(output)?.[1];
    expect(commits, output).toBeDefined();
    return Number(commits);
  }

  test('all branches and all commits of the person are in the target', async () => {
    const place = mergePlace({ a: '1\n' });
    for (const name of six) place.branch(name, { [name]: '1' });
    const before = checkoutBytes(place.directory);
    const commits = await withPerson(place, 'plumbing', async () => {
      const halves = [six.slice(0, 3), six.slice(3)];
      const ends = await Promise.all(halves.map((names) => merging(place, { branches: names }).ended));
      expect(
        ends.map(({ code }) => code),
        ends.map(({ output }) => output).join('\n'),
      ).toEqual([0, 0]);
    });
    expectMergedOnce(place, six);
    expect(place.git('log', '--format=%s', 'main').match(/^person/gm)).toHaveLength(commits);
    expect(checkoutBytes(place.directory)).toEqual(before);
  });

  test('a person who commits in a checkout of the target notices nothing', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    for (const name of six) place.branch(name, { [name]: '1' });
    const commits = await withPerson(place, 'checkout', async () => {
      for (const name of six.slice(0, 2)) {
        const { code, output } = await merging(place, { branches: [name] }).ended;
        expect(code, output).toBe(0);
      }
    });
    const reflog = readFileSync(join(place.directory, '.git/logs/HEAD'), 'utf8').split('\n');
    expect(reflog.filter((line) => line.includes('ramet'))).toEqual([]);
    expect(place.git('log', '--format=%s', 'main').match(/^person/gm)).toHaveLength(commits);
    expect(place.git('status', '--porcelain')).toBe('');
    await place.queue({ updateCheckout: true });
    expect(place.git('status', '--porcelain')).toBe('');
    expectMergedOnce(place, six.slice(0, 2));
  });
});
