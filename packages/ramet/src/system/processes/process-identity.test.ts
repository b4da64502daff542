import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { isProcessAlive, thisProcess } from './process-identity.ts';

describe('the identity of a process', () => {
  test('is alive for this process', () => {
    expect(isProcessAlive(thisProcess())).toBe(true);
    expect(isProcessAlive({ pid: process.pid, started: null })).toBe(true);
  });

  test('is not that of another process that got the same pid', () => {
    expect(isProcessAlive({ pid: process.pid, started: '00000000-1' })).toBe(false);
  });

  test('is dead once the process is killed', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const identity = { pid: child.pid ?? 0, started: null };
    expect(isProcessAlive(identity)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isProcessAlive(identity)).toBe(false);
  });
});
