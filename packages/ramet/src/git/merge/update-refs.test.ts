import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dyingGit } from '../../../test/fixtures/dying-git.ts';
import { type MergePlace, mergePlace } from '../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { thisProcess } from '../../system/processes/process-identity.ts';
import { removeOwnerlessLock } from '../left-locks.ts';
import { takeRepairs } from '../special-files.ts';
import { updateRefs } from './update-refs.ts';

/** As if a process had noted it and was killed in the middle of its git. */
function leave(place: MergePlace, files: readonly string[]): string[] {
  const { commonDirectory } = place.repository;
  // Of our number, and of another time: it is gone.
  const { pid, started } = thisProcess();
  const dead = started?.replace(/-\d+-/, '-1-') ?? null;
  mkdirSync(join(commonDirectory, 'ramet'), { recursive: true });
  const note = join(commonDirectory, 'ramet', 'locks-dead-1.json');
  writeFileSync(note, JSON.stringify({ pid, started: dead, files }));
  return files.map((file) => lock(place, file));
}

function lock({ repository }: MergePlace, file: string): string {
  const path = join(repository.commonDirectory, `${file}.lock`);
  writeFileSync(path, '');
  return path;
}

function move(place: MergePlace): Promise<boolean> {
  const from = place.git('rev-parse', 'main');
  const to = place.git('commit-tree', 'main^{tree}', '-p', 'main', '-m', 'work');
  place.git('update-ref', 'refs/heads/work', to);
  return updateRefs([`update refs/heads/main ${to} ${from}\n`], { reason: 'test' }, place.repository);
}

describe('WORK-5: refs that a git was changing when it was killed', () => {
  test('are unlocked by the next process, and by nobody while their git may live', async () => {
    const place = mergePlace({ 'README.md': 'x\n' });
    const locks = leave(place, ['refs/heads/main', 'packed-refs']);
    expect(await move(place)).toBe(false);
    expect(place.git('rev-parse', 'main')).toBe(place.git('rev-parse', 'work'));
    expect(locks.filter((path) => existsSync(path))).toEqual([]);
    expect(readdirSync(join(place.repository.commonDirectory, 'ramet'))).toEqual([]);
  });

  test("a person's lock stays: it is waited for while it is new, and told of when it is old", async () => {
    const place = mergePlace({ 'README.md': 'x\n' });
    const path = lock(place, 'refs/heads/main');
    expect(await move(place)).toBe(true);
    const then = new Date(Date.now() - 60_000);
    utimesSync(path, then, then);
    leave(place, ['packed-refs']);
    await expect(move(place)).rejects.toThrow(
      /main\.lock is in the way: a git that was killed has left it; .* remove it with rm/,
    );
    expect(existsSync(path)).toBe(true);
  });

  test('a lock on all packed refs whose git has ended is set aside, and told; while a git of then lives, it stays', async () => {
    const place = mergePlace({ 'README.md': 'x\n' });
    place.git('branch', 'old');
    const path = lock(place, 'packed-refs');
    const then = new Date(Date.now() - 60_000);
    utimesSync(path, then, then);
    // Waits for its input.
    const living = spawn('git', ['hash-object', '--stdin'], { cwd: place.repository.cwd, stdio: 'pipe' });
    await once(living, 'spawn');
    expect(await removeOwnerlessLock(path, 200)).toBe(false);
    living.stdin.end();
    await once(living, 'close');
    const tip = place.git('rev-parse', 'old');
    const drop = [`delete refs/heads/old ${tip}\n`];
    expect(await updateRefs(drop, { reason: 'test' }, place.repository)).toBe(false);
    expect(place.git('branch', '--list', 'old')).toBe('');
    expect(existsSync(path)).toBe(false);
    expect(takeRepairs({ admin: 'none' }).join()).toContain(
      `${path} was left by a git that has ended, and is in `,
    );
  });

  test('a git that alone is killed is started again', async () => {
    const place = mergePlace({ 'README.md': 'x\n' });
    const env = { ...place.repository.env, ...dyingGit(temporaryDirectory(), 'update-ref') };
    expect(await move({ ...place, repository: { ...place.repository, env } })).toBe(false);
    expect(place.git('rev-parse', 'main')).toBe(place.git('rev-parse', 'work'));
  });
});

describe('WORK-5: a ref of ours that leads to a branch', () => {
  test('moves itself, and that branch stays', async () => {
    const place = mergePlace({ 'README.md': 'x\n' });
    const main = place.git('rev-parse', 'main');
    const to = place.git('commit-tree', 'main^{tree}', '-p', 'main', '-m', 'work');
    place.git('symbolic-ref', 'refs/ramet/operator/s', 'refs/heads/main');
    const move = `update refs/ramet/operator/s ${to} ${main}\n`;
    expect(await updateRefs([move], { reason: 'test' }, place.repository)).toBe(false);
    expect(place.git('rev-parse', 'main', 'refs/ramet/operator/s').split('\n')).toEqual([main, to]);
  });
});
