import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { openMergeEntries } from './merge-entries.ts';
import type { MergeStep } from './merge-request.ts';

const check = (command: string, timeoutMs = 60_000) => ({ check: { command, timeoutMs } });

/** Does something once, at the first such step of a run. */
function once(wanted: MergeStep, act: () => void) {
  let isDone = false;
  return {
    onStep(step: MergeStep) {
      if (step !== wanted || isDone) return;
      isDone = true;
      act();
    },
  };
}

function expectSound(place: MergePlace): void {
  expect(place.git('fsck', '--no-dangling')).toBe('');
  expect(place.git('status', '--porcelain')).toBe('');
}

describe('WORK-5: trouble while a merge is under way', () => {
  test.each(['entered', 'integrated', 'recorded'] as const)(
    'a branch that is deleted after "%s" lands as it was entered',
    async (step) => {
      const place = mergePlace({ a: '1\n' });
      const tip = place.branch('one', { b: '1' });
      place.branch('two', { c: '1' });
      const ports = once(step, () => place.git('branch', '-D', '-q', 'one'));
      const report = await place.queue({ branches: ['one', 'two'] }, ports);
      expect(place.states(report)).toEqual(['one: landed', 'two: landed']);
      place.git('merge-base', '--is-ancestor', tip, 'main');
      expectSound(place);
    },
  );

  test.each(['entered', 'integrated', 'recorded'] as const)(
    'a branch that is force-pushed after "%s" lands as it was, and the new work lands at the next run',
    async (step) => {
      const place = mergePlace({ a: '1\n' });
      place.branch('one', { b: 'old' });
      place.branch('new', { c: 'new' });
      const ports = once(step, () => place.git('branch', '-f', 'one', 'new'));
      const first = await place.queue({ branches: ['one'] }, ports);
      expect(place.states(first)).toEqual(['one: landed']);
      const second = await place.queue({ branches: ['one'] });
      expect(second.entries.map(({ state }) => state)).toEqual([expect.stringMatching(/landed|empty/)]);
      expect(place.git('show', 'main:c')).toBe('new');
      expectSound(place);
    },
  );

  test.each([
    ['no object', `${'1'.repeat(40)}\n`],
    ['rubbish', 'not a ref\n'],
    ['nothing', ''],
  ])(
    'a ref that holds %s is told by its name, stays, and keeps nobody else from landing',
    async (_, text) => {
      const place = mergePlace({ a: '1\n' });
      place.branch('one', { b: '1' });
      const broken = join(place.directory, '.git/refs/heads/broken');
      writeFileSync(broken, text);
      const main = place.git('rev-parse', 'main');
      const outcome = await place.queue({ branches: ['broken', 'one'] }).then(
        (report) => report.entries.map(({ branch, state, reason }) => `${branch}: ${state} ${reason ?? ''}`),
        (error: Error) => [error.message],
      );
      expect(outcome[0]).toContain('broken');
      expect(outcome[0]).not.toContain('landed');
      if (outcome.length === 1) expect(place.git('rev-parse', 'main')).toBe(main);
      expect(readFileSync(broken, 'utf8')).toBe(text);
      rmSync(broken);
      const later = await place.queue({ branches: ['one'] });
      expect(place.git('show', 'main:b')).toBe('1');
      expect(later.entries.every(({ branch, state }) => branch !== 'one' || state !== 'failed')).toBe(true);
      expectSound(place);
    },
  );

  test('a damaged branch is told as damaged, with what mends it, also where it is the target', async () => {
    const place = mergePlace({ a: '1\n' });
    const tip = place.branch('one', { b: '1' });
    place.branch('two', { c: '1' });
    const file = join(place.directory, '.git/refs/heads/one');
    writeFileSync(file, 'rubbish\n');
    const refused = place.queue({ branches: ['two'], target: 'one' });
    await expect(refused).rejects.toThrow(
      /^refs\/heads\/one is damaged: its log names \w{12} last, so run: /,
    );
    const told = await place.queue({ branches: ['one'] }).then(
      () => new Error('it was merged'),
      (error: Error) => error,
    );
    expect(readFileSync(file, 'utf8')).toBe('rubbish\n');
    runSync('sh', ['-c', told.message.split('so run: ')[1] ?? 'false'], { cwd: place.directory });
    expect(place.git('rev-parse', 'one')).toBe(tip);
    rmSync(join(place.directory, '.git/logs/refs/heads/one'));
    writeFileSync(file, 'rubbish\n');
    await expect(place.queue({ branches: ['one'] })).rejects.toThrow(
      "refs/heads/one is damaged: git fsck --lost-found shows commits that are lost, then run: rm '",
    );
  });

  test('work that was resolved against a result that a person has overtaken stays its maker’s', async () => {
    const place = mergePlace({ a: '1\n' }, true);
    place.branch('one', { a: 'one\n' });
    place.branch('two', { a: 'two\n' });
    for (const name of ['one', 'two']) {
      place.git('switch', '-q', name);
      place.git(
        'commit',
        '-q',
        '--amend',
        '-m',
        `work ${name}\n\nRamet-Agent: s.${name}\nRamet-Task: ${name}`,
      );
      place.git('switch', '-q', 'main');
    }
    const first = await place.queue({ branches: ['one', 'two'] });
    expect(place.states(first)).toEqual(['one: integrated', 'two: conflicted']);
    place.git('switch', '-q', 'two');
    expect(() => place.git('merge', '-q', 'refs/ramet/integration/main')).toThrow();
    writeFileSync(join(place.directory, 'a'), 'both\n');
    place.git('commit', '-q', '-a', '--no-edit');
    place.git('switch', '-q', 'main');
    writeFileSync(join(place.directory, 'mine'), 'mine\n');
    place.git('add', '-A');
    place.git('commit', '-qm', 'a person commits');
    const last = await place.queue({ branches: ['two'], updateCheckout: true });
    expect(place.states(last)).toEqual(['one: landed', 'two: landed']);
    expect(place.git('log', '-1', '--format=%B', 'main')).toMatch(/^two\n.*\nRamet-Agent: s\.two\n/s);
    expectSound(place);
  });

  test('a repository without commits has nothing to merge into, in one line', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    place.git('switch', '-q', '--orphan', 'void');
    for (const name of ['main', 'desk', 'one']) place.git('branch', '-D', '-q', name);
    await expect(place.queue({ branches: ['one'] })).rejects.toThrow(/^[^\n]*no branch "main"[^\n]*$/);
    expect(place.entries.list()).toEqual([]);
  });

  test('two queues at once land each branch once, and nothing of either is lost', async () => {
    const place = mergePlace({ a: '1\n' });
    for (const name of ['b1', 'b2', 'b3', 'b4']) place.branch(name, { [name]: '1' });
    using second = openMergeEntries(place.project);
    await Promise.all([
      place.queue({ branches: ['b1', 'b2'], ...check('true') }),
      place.queue({ branches: ['b3', 'b4'], ...check('true') }, { entries: second }),
    ]);
    await place.queue({});
    expect(place.git('ls-tree', '--name-only', 'main')).toBe('a\nb1\nb2\nb3\nb4');
    const states = place.entries.list().map(({ branch, state }) => `${branch}: ${state}`);
    expect(states.toSorted()).toEqual(['b1: landed', 'b2: landed', 'b3: landed', 'b4: landed']);
    expect(place.git('log', '--no-merges', '--format=%s', 'main').match(/work on/g)).toHaveLength(4);
    expectSound(place);
  });

  test('a check that asks for what is not there fails in its own time and says where its words are', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    // Port 9 of this machine, where nobody listens: as good as no network.
    const command = `test ! -e b || { echo fetching; exec 3<>/dev/tcp/127.0.0.1/9; }`;
    const report = await place.queue({ branches: ['one'], ...check(`bash -c '${command}'`) });
    const { reason = '' } = report.entries[0] ?? {};
    expect(reason).toMatch(/^the check failed \(exit code 1\); its output: \S+\.log; it ran in \S+$/);
    const output = /its output: (\S+);/.exec(reason ?? '')?.[1] ?? '';
    expect(readFileSync(output, 'utf8')).toMatch(/^fetching\n.*refused/s);
    expect(place.git('rev-parse', 'main')).toBe(report.before);
    expectSound(place);
  });

  test('a full disk ends it in one line, and the next run lands everything', async ({ skip }) => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: 'x'.repeat(100) });
    const main = place.git('rev-parse', 'main');
    // Git writes no file: what a full disk does to it, without one.
    const full = join(temporaryDirectory(), 'bin');
    mkdirSync(full);
    const git = process.env.PATH?.split(':')
      .map((folder) => join(folder, 'git'))
      .find((path) => existsSync(path));
    if (git === undefined) return skip('git is not on the PATH');
    const script = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec '${git}' "$@"\n`;
    writeFileSync(join(full, 'git'), script, { mode: 0o755 });
    const env = { ...place.repository.env, PATH: `${full}:${place.repository.env.PATH ?? ''}` };
    const repository = { ...place.repository, env };
    const told = await place.queue({ branches: ['one'] }, { repository }).then(
      ({ entries }) => entries.map(({ state, reason }) => `${state}: ${reason}`).join('\n'),
      (error: Error) => error.message,
    );
    expect(told).toMatch(/File too large|unable to write|cannot/i);
    expect(told).not.toMatch(/^landed/);
    expect(place.git('rev-parse', 'main')).toBe(main);
    const after = await place.queue({ branches: ['one'] });
    expect(place.states(after)).toContain('one: landed');
    expectSound(place);
  });

  test('a disk that is full during a check is named, nobody is blamed, and the next run lands everything', async () => {
    const place = mergePlace({ a: '1\n' });
    place.branch('one', { b: '1' });
    const main = place.git('rev-parse', 'main');
    const request = { branches: ['one'], ...check('exit 1') };
    const told =
      /^the disk is full: the check has no room in \S+; nothing has landed\. Free some space[^\n]+$/;
    await expect(place.queue(request, { diskRoom: () => 0 })).rejects.toThrow(told);
    // Git gives back what it has written before it ends, so that there is room again.
    const bin = join(temporaryDirectory(), 'bin');
    const script = `case "$*" in *read-tree*) echo 'fatal: cannot write: No space left on device' >&2; exit 128;; esac`;
    writeFiles(bin, { git: `#!/bin/sh\n${script}\nPATH=\${PATH#*:} exec git "$@"\n` });
    chmodSync(join(bin, 'git'), 0o755);
    const env = { ...place.repository.env, PATH: `${bin}:${place.repository.env.PATH}` };
    await expect(place.queue(request, { repository: { ...place.repository, env } })).rejects.toThrow(told);
    expect(place.git('rev-parse', 'main')).toBe(main);
    // A program may say it of another disk: the branch is told with what it said.
    const says = check('echo "write: No space left on device"; test -e a -a ! -e b');
    const report = await place.queue({ branches: ['one'], ...says });
    expect(report.entries.at(-1)?.reason).toContain('make sure that there is free space on the disk');
    const after = await place.queue({ branches: ['one'], ...check('true') }, { diskRoom: () => 0 });
    expect(place.states(after)).toContain('one: landed');
    expectSound(place);
  });

  test('is over when its target is deleted in the middle, and leaves nothing that waits', async () => {
    const place = mergePlace({ a: '1\n' });
    place.git('branch', 'tgt', 'main');
    place.branch('one', { b: '1' });
    const check = { command: 'true', timeoutMs: 60_000 };
    const onStep = (step: string): void => {
      if (step === 'recorded') place.git('update-ref', '-d', 'refs/heads/tgt');
    };
    await expect(place.queue({ target: 'tgt', branches: ['one'], check }, { onStep })).rejects.toThrow(
      'there is no branch "tgt"',
    );
    expect(place.entries.list('refs/heads/tgt').map(({ state }) => state)).toEqual(['failed']);
    expect(place.git('for-each-ref', 'refs/ramet')).toBe('');
  });
});
