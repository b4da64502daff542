import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { createFileAccess } from '../files/create-file-access.ts';
import type { FileAccess } from '../files/file-access.ts';
import { createFileLedger } from '../files/file-ledger.ts';
import { holdDirectory } from './replace-file.ts';

const SWAPPER = join(import.meta.dirname, '../../test/fixtures/link-swapper.ts');
const WRITES = 150;

function accessIn(checkout: string): FileAccess {
  const fence = (path: string): string | null => (path.startsWith(`${checkout}/`) ? null : 'outside');
  return createFileAccess({
    agent: 's.1',
    cwd: checkout,
    ledger: createFileLedger(),
    fence,
    onChange: () => {},
  });
}

describe('SEC-1: a directory that a process swaps for a link', () => {
  test('no Write or Edit lands where the link leads', async ({ directory }) => {
    const [checkout, outside] = [join(directory, 'checkout'), join(directory, 'outside')];
    mkdirSync(join(checkout, 'sub'), { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(checkout, 'sub/known.txt'), '0\n');
    writeFileSync(join(outside, 'known.txt'), '0\n');
    const files = accessIn(checkout);
    await files.read('sub/known.txt');
    const swapper = spawn(process.execPath, [SWAPPER, join(checkout, 'sub'), outside], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(swapper, 'exit');
    await once(swapper.stdout, 'data');
    try {
      for (let index = 0; index < WRITES; index++) {
        // A directory that is gone at that moment is an error of the system, and as good as a refusal.
        await files.write(`sub/new-${index}/file.txt`, 'x').catch(() => {});
        await files.write(`sub/new-${index}.txt`, 'x').catch(() => {});
        await files.update('sub/known.txt', (text) => ({ ok: true, text: `${text}x\n` })).catch(() => {});
      }
    } finally {
      swapper.kill('SIGKILL');
      await ended;
    }
    expect(readdirSync(outside)).toEqual(['known.txt']);
    expect(readFileSync(join(outside, 'known.txt'), 'utf8')).toBe('0\n');
  });

  test('is not held when a link leads to it, or to one above', ({ directory }) => {
    mkdirSync(join(directory, 'real/below'), { recursive: true });
    symlinkSync(join(directory, 'real'), join(directory, 'link'));
    expect(holdDirectory(join(directory, 'link'), { make: false })).toBeNull();
    expect(holdDirectory(join(directory, 'link/below'), { make: true })).toBeNull();
    expect(holdDirectory(join(directory, 'link/new/deep'), { make: true })).toBeNull();
    expect(existsSync(join(directory, 'real/new'))).toBe(false);
  });

  test('is made with all that is missing above it', ({ directory }) => {
    using held = holdDirectory(join(directory, 'a/b/c'), { make: true });
    writeFileSync(held?.at('file') ?? '', 'x');
    expect(readFileSync(join(directory, 'a/b/c/file'), 'utf8')).toBe('x');
  });
});
