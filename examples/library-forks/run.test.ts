import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

describe('FORK-2: forks in a program', () => {
  test('three forks of one session answer, and read its conversation from the cache', () => {
    const run = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts')], { encoding: 'utf8' });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect(run.stdout.match(/^fork \d: .+ done, \d{4} tokens from the cache$/gm)).toHaveLength(3);
  });
});
