import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isSessionLocked, lockPath, takeSessionLock } from './session-file.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-lock-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('LOG-1: the lock of a session', () => {
  test('is held by one until it is released, also within one process', () => {
    const file = join(root, 'one.sqlite');
    expect(isSessionLocked(file)).toBeNull();
    const first = takeSessionLock(file);
    expect(first).toMatchObject({ isNew: true });
    expect(takeSessionLock(file)).toBeNull();
    expect(isSessionLocked(file)).toBe(true);
    first?.release();
    expect(isSessionLocked(file)).toBe(false);
    const second = takeSessionLock(file);
    expect(second).toMatchObject({ isNew: false });
    second?.release();
  });

  test('is one empty file that only its user can read', () => {
    const file = join(root, 'two.sqlite');
    const lock = takeSessionLock(file);
    expect(readdirSync(root).filter((name) => name.startsWith('two'))).toEqual(['two.lock']);
    lock?.release();
    expect(readdirSync(root).filter((name) => name.startsWith('two'))).toEqual(['two.lock']);
    expect(statSync(lockPath(file))).toMatchObject({ size: 0, mode: 0o100600 });
  });

  test('that is a directory is named as one', () => {
    const file = join(root, 'four.sqlite');
    mkdirSync(lockPath(file));
    expect(() => takeSessionLock(file)).toThrow(
      `cannot lock the session: ${lockPath(file)} is a directory; move it away, then try again`,
    );
  });

  test('is not lost by looking at it', () => {
    const file = join(root, 'three.sqlite');
    const lock = takeSessionLock(file);
    for (let look = 0; look < 5; look++) expect(isSessionLocked(file)).toBe(true);
    expect(takeSessionLock(file)).toBeNull();
    lock?.release();
  });
});
