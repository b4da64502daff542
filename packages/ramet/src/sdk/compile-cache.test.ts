import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CompiledCode, tendCompileCache } from './compile-cache.ts';
import { VERSION } from './version.ts';

const NOW = 1_800_000_000_000;
const NAME = `${VERSION}-${process.versions.node}`;

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ramet-compile-cache-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** The code that the launcher started, and what was written of it. */
function codeOf(kept: CompiledCode['kept']): CompiledCode & { written: string[] } {
  const written: string[] = [];
  return { kept, written, keep: (ran) => void written.push(ran) };
}

const NONE = { code: undefined, ran: 'session' } as const;

describe('the compile cache of an installed command', () => {
  test('is made for this user alone by a run that has none, and not filled by it', () => {
    tendCompileCache(home, NOW, NONE);
    expect(statSync(join(home, 'cache', NAME)).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, 'cache', NAME))).toEqual([]);
  });

  test('is written early and at the end by a run that found it empty', () => {
    const code = codeOf('nothing');
    tendCompileCache(home, NOW, { code, ran: 'session' });
    tendCompileCache(home, NOW, { code, ran: 'agents' });
    expect(code.written).toEqual(['session', 'agents']);
    expect(existsSync(join(home, 'cache'))).toBe(false);
  });

  test.each([
    ['session', 'session', []],
    ['session', 'agents', ['agents']],
    ['agents', 'session', []],
    ['agents', 'agents', []],
  ] as const)('with what a %s has run, a run with %s writes %j', (kept, ran, written) => {
    const code = codeOf(kept);
    tendCompileCache(home, NOW, { code, ran });
    expect(code.written).toEqual(written);
  });

  test('does no harm if it cannot be written', () => {
    const keep = (): void => {
      throw new Error('the disk is full');
    };
    const code = { kept: 'nothing', keep } as const;
    expect(() => tendCompileCache(home, NOW, { code, ran: 'session' })).not.toThrow();
  });

  test('replaces those of other versions that are a month old', () => {
    for (const [name, days] of [
      ['0.0.1-24.0.0', 31],
      ['0.0.2-24.0.0', 29],
    ] as const) {
      mkdirSync(join(home, 'cache', name), { recursive: true });
      const time = (NOW - days * 24 * 3_600_000) / 1_000;
      utimesSync(join(home, 'cache', name), time, time);
    }
    tendCompileCache(home, NOW, NONE);
    expect(readdirSync(join(home, 'cache')).sort()).toEqual(['0.0.2-24.0.0', NAME].sort());
  });

  test('does no harm in a home where it cannot be made', () => {
    writeFileSync(join(home, 'cache'), 'a file in the way');
    expect(() => tendCompileCache(home, NOW, NONE)).not.toThrow();
  });
});
