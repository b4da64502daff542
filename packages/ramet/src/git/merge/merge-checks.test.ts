import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkoutBytes, type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { findProcess } from '../../system/processes/process-identity.ts';

const check = (command: string, timeoutMs = 60_000) => ({ check: { command, timeoutMs } });

/** Eight branches, of which those named add a file that the check does not like. */
function eight(place: MergePlace, bad: readonly number[]): string[] {
  return Array.from({ length: 8 }, (_, index) => {
    const name = `b${index + 1}`;
    place.branch(name, { [bad.includes(index + 1) ? `bad-${name}` : `good-${name}`]: '1' });
    return name;
  });
}

const counting = (place: MergePlace) => `echo >> ${join(place.project, 'runs')}; ! ls bad-* 2>/dev/null`;
const runs = (place: MergePlace) => readFileSync(join(place.project, 'runs'), 'utf8').length;

describe('WORK-5: the check on what was merged', () => {
  test('runs once for all when it passes, outside the repository', async () => {
    const place = mergePlace({ a: '1\n' });
    const before = checkoutBytes(place.directory);
    const names = eight(place, []);
    place.git('switch', '-q', 'desk');
    const untouched = checkoutBytes(place.directory);
    const report = await place.queue({
      branches: names,
      ...check(`pwd; git status --short; ${counting(place)}`),
    });
    expect(place.states(report)).toEqual(names.map((name) => `${name}: landed`));
    expect(runs(place)).toBe(1);
    expect(Object.keys(before)).toEqual(Object.keys(untouched));
    expect(checkoutBytes(place.directory)).toEqual(untouched);
    const [log = ''] = readdirSync(join(place.project, 'merge'), {
      recursive: true,
      encoding: 'utf8',
    }).filter((name) => name.endsWith('.log'));
    expect(readFileSync(join(place.project, 'merge', log), 'utf8')).toMatch(
      new RegExp(`^${place.project}/merge/\\S+\\n$`),
    );
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });

  test('finds the culprits by halves, lands the good ones, and keeps the output', async () => {
    const place = mergePlace({ a: '1\n' });
    const names = eight(place, [3, 7]);
    const report = await place.queue({ branches: names, ...check(counting(place)) });
    expect(place.states(report)).toEqual(
      names.map((name) => `${name}: ${['b3', 'b7'].includes(name) ? 'failed' : 'landed'}`),
    );
    expect(place.git('ls-tree', '--name-only', 'main')).not.toContain('bad');
    const [, , third] = report.entries;
    const [, output = ''] =
      /^the check failed \(exit code 1\); its output: (.+); it ran in \S+$/.exec(third?.reason ?? '') ?? [];
    expect(readFileSync(output, 'utf8')).toBe('bad-b3\n');
    expect(runs(place)).toBeLessThanOrEqual(10);
  });

  test('runs once on each tree, also when the target moves and everything is computed again', async () => {
    const place = mergePlace({ a: '1\n' });
    for (const name of ['one', 'two', 'bad-three']) place.branch(name, { [name]: '1' });
    const log = join(place.project, 'runs');
    let isMoved = false;
    const missed: string[] = [];
    const report = await place.queue(
      {
        branches: ['one', 'two', 'bad-three'],
        ...check(`git rev-parse HEAD^{tree} >> ${log}; ! ls bad-* 2>/dev/null`),
      },
      {
        onMissed: (next, most) => void missed.push(`${next} of ${most}`),
        onStep: (step) => {
          if (step !== 'recorded' || isMoved) return;
          isMoved = true;
          const tree = place.git('rev-parse', 'main^{tree}');
          const commit = place.git('commit-tree', tree, '-p', 'main', '-m', 'by a person');
          place.git('update-ref', 'refs/heads/main', commit);
        },
      },
    );
    expect(place.states(report)).toEqual(['one: landed', 'two: landed', 'bad-three: failed']);
    expect(missed).toEqual(['2 of 20']);
    const trees = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(trees).toContain(place.git('rev-parse', 'main^{tree}'));
    expect(trees.toSorted()).toEqual([...new Set(trees)].toSorted());
  });

  test('runs where agents have their trees, and says where and that it begins', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('bad', { bad: '1' });
    const checkTrees = join(place.project, '.hidden');
    const begun: string[] = [];
    const report = await place.queue(
      { branches: ['bad'], ...check('pwd; ! test -e bad') },
      { checkTrees, onCheck: ({ output, directory }) => void begun.push(output, directory) },
    );
    const reason = report.entries[0]?.reason ?? '';
    const [, output = '', where = ''] =
      /its output: (\S+); it ran in (\S+); some programs refuse/.exec(reason) ?? [];
    expect(where.startsWith(`${checkTrees}/ramet-`)).toBe(true);
    expect(readFileSync(output, 'utf8')).toBe(`${where}\n`);
    expect(begun.slice(0, 2)).toEqual([output, where]);
  });

  test('does not report as its own what a user committed to the target meanwhile', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { a: '2\n' });
    const mine = place.branch('mine', { a: '3\n' });
    const move = `git -C ${place.directory} update-ref refs/heads/main ${mine}`;
    const { before, after } = await place.queue({ branches: ['one'], ...check(move) });
    expect([before, after]).toEqual([after, mine]);
  });

  test('blames nobody when it fails on the target itself', async () => {
    const place = mergePlace({ 'bad-start': '1\n' });
    const main = place.git('rev-parse', 'main');
    const names = eight(place, []);
    const report = await place.queue({ branches: names, ...check(counting(place)) });
    expect(place.states(report)).toEqual(names.map((name) => `${name}: waiting`));
    expect(report.entries[0]?.reason).toMatch(/^the check fails on main itself \(exit code 1\)/);
    expect(place.git('rev-parse', 'main')).toBe(main);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });

  test('what it changes does not land, and is gone at the next check', async () => {
    const place = mergePlace({ a: '1\n', '.gitignore': 'cache\n' });
    place.branch('one', { b: '1' });
    place.branch('two', { c: '1' });
    const messy =
      'test ! -e rubbish && test "$(cat a)" = 1 && echo x > a && echo x > rubbish && git add -A && git commit -qm mess; echo >> cache; test "$(cat cache | wc -l)" = "$EXPECTED"';
    const first = await place.queue({ branches: ['one'], ...check(messy.replace('$EXPECTED', '1')) });
    expect(place.states(first)).toEqual(['one: landed']);
    const second = await place.queue({ branches: ['two'], ...check(messy.replace('$EXPECTED', '2')) });
    expect(place.states(second)).toEqual(['two: landed']);
    expect(place.git('ls-tree', '--name-only', 'main')).toBe('.gitignore\na\nb\nc');
    expect(place.git('show', 'main:a')).toBe('1');
  });

  test('is ended with everything it started when its time is up', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const command = `test ! -e b || { sleep 600 & echo $! > ${join(place.project, 'pid')}; wait; }`;
    const report = await place.queue({ branches: ['one'], ...check(command, 1_000) });
    expect(report.entries[0]?.reason).toMatch(/^the check failed \(not done after 1 s\)/);
    const pid = readFileSync(join(place.project, 'pid'), 'utf8').trim();
    const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'latin1') : ' Z ';
    expect(state).toMatch(/ [ZX] /);
  });

  test('is ended when it prints without end, and its output is bounded', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const report = await place.queue({ branches: ['one'], ...check('test ! -e b || yes') });
    expect(report.entries[0]?.reason).toMatch(/^the check failed \(stopped: it printed over 64 MB\)/);
    const [, output = ''] = /its output: (\S+);/.exec(report.entries[0]?.reason ?? '') ?? [];
    expect(statSync(output).size).toBe(64_000_000);
  });

  test.each([
    ['a program', 'no-such-runner test', 'no-such-runner: not found'],
    ['a module', 'echo "Error: Cannot find module \'mocha\'"; exit 1', "Cannot find module 'mocha'"],
  ])('says what to do where %s is missing in its worktree', async (_, command, told) => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const { entries } = await place.queue({ branches: ['one'], ...check(command) });
    expect(entries[0]?.reason).toContain(told);
    expect(entries[0]?.reason).toContain('let its command install what it needs');
  });

  test.each([
    ['a program is not found', 'no-such-runner test', true],
    ['the shell ends with 127', 'exit 127', true],
    ['a module is missing', 'echo "Error: Cannot find module \'mocha\'"; exit 1', true],
    ['a test fails', 'false', false],
    ['its time is up', 'sleep 600', false],
  ])('names what its worktree lacks only where that can be the reason: %s', async (_, command, told) => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const ports = { prepareCheck: () => Promise.resolve(['the worktree lacks node_modules: run `npm ci`']) };
    const only = check(`test ! -e b || { ${command}; }`, command === 'sleep 600' ? 500 : 60_000);
    const { entries } = await place.queue({ branches: ['one'], ...only }, ports);
    expect(entries[0]?.reason?.includes('the worktree lacks node_modules')).toBe(told);
  });

  test('ends everything that it started, also in sessions of their own', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const pids = join(place.project, 'pids');
    const daemon = `setsid sh -c 'echo $$ >> ${pids}; trap "" TERM; sleep 301' &`;
    const command = `${daemon} while [ ! -s ${pids} ]; do :; done; trap "" TERM; sleep 301`;
    const { entries } = await place.queue({ branches: ['one'], ...check(command, 500) });
    expect(entries[0]?.reason).toContain('not done after');
    const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    expect(started.length).toBeGreaterThan(0);
    expect(started.filter((pid) => findProcess(pid)?.ended === false)).toEqual([]);
  });

  test('makes its worktree again when it was left half made or was removed', async () => {
    const place = mergePlace({ a: '1\n' });
    for (const name of ['one', 'two', 'three']) place.branch(name, { [name]: '1' });
    await place.queue({ branches: ['one'], ...check('true') });
    const worktree =
      place.git('worktree', 'list', '--porcelain').match(/^worktree (.*\/check-.*)$/m)?.[1] ?? '';
    rmSync(join(worktree, '.git'));
    expect(place.states(await place.queue({ branches: ['two'], ...check('test -e two') }))).toEqual([
      'two: landed',
    ]);
    rmSync(worktree, { recursive: true });
    expect(place.states(await place.queue({ branches: ['three'], ...check('test -e three') }))).toEqual([
      'three: landed',
    ]);
    expect(place.git('worktree', 'list').split('\n')).toHaveLength(2);
  });
});
