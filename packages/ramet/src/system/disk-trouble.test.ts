import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { diskTroubleAt } from './disk-trouble.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-trouble-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('why a file cannot be written', () => {
  test('is nothing where there is room', () => {
    expect(diskTroubleAt(join(root, 'file'))).toBeNull();
  });

  test('is that its directory is gone', () => {
    expect(diskTroubleAt(join(root, 'no', 'file'))).toBe('gone');
  });

  test('is a file system without room', () => {
    // /proc and /sys have no blocks at all.
    expect(diskTroubleAt('/proc/self/file')).not.toBeNull();
  });

  test('is a lack of permission', () => {
    chmodSync(root, 0o755);
    const program = `import(${JSON.stringify(join(import.meta.dirname, 'disk-trouble.ts'))}).then(({ diskTroubleAt }) => {
      if (process.getuid() === 0) process.setuid(65534);
      console.log(diskTroubleAt('/usr/file'));
    })`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    expect(stdout.trim()).toMatch(/^(no permission|read-only)$/);
  });
});
