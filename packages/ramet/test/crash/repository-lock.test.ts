import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withRepositoryLock } from '../../src/git/repository-lock.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { temporaryDirectory } from '../fixtures/temporary.ts';

const HOLDER = crashProgram('lock-holder');

describe('WORK-4: the lock of a repository', () => {
  test('is held by one of eight processes at a time', async () => {
    const commonDirectory = temporaryDirectory();
    const file = join(commonDirectory, 'count');
    writeFileSync(file, '0');
    const processes = Array.from({ length: 8 }, () =>
      spawn(process.execPath, [HOLDER, commonDirectory, file, '25'], { stdio: 'inherit' }),
    );
    const ends = await Promise.all(processes.map((child) => once(child, 'exit')));
    expect(ends.map(([code]) => code)).toEqual(Array(8).fill(0));
    expect(readFileSync(file, 'utf8')).toBe('200');
  });

  test('is free again when its holder was killed', async () => {
    const commonDirectory = temporaryDirectory();
    const child = spawn(process.execPath, [HOLDER, commonDirectory, '', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const told = withRepositoryLock({ commonDirectory }, 'test', () => 'mine', { timeoutMs: 50 });
    await expect(told).rejects.toThrow(`process ${child.pid} has held`);
    const waiting = withRepositoryLock({ commonDirectory }, 'test', () => 'mine');
    child.kill('SIGKILL');
    expect(await waiting).toBe('mine');
  });
});
