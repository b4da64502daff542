import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/fixtures/command.ts';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import {
  environmentOf,
  isStarting,
  mountNamespaceOf,
  openFiles,
  processIds,
  workingDirectoryOf,
} from './process-table.ts';

test('tells of this process where it is, and which files it has open', () => {
  const file = join(temporaryDirectory(), 'open');
  const descriptor = openSync(file, 'w');
  onTestFinished(() => closeSync(descriptor));
  expect(processIds()).toContain(process.pid);
  expect(workingDirectoryOf(process.pid)).toBe(process.cwd());
  expect(environmentOf(process.pid)).toContain(`PATH=${process.env.PATH}`);
  expect(openFiles(process.pid)).toContainEqual({ descriptor, target: file });
  expect(mountNamespaceOf('self')).toBe(mountNamespaceOf(process.pid));
});

test('tells nothing of a process that does not exist', () => {
  const nobody = 2 ** 30;
  expect(processIds()).not.toContain(nobody);
  expect([openFiles(nobody), environmentOf(nobody), workingDirectoryOf(nobody)]).toEqual([null, null, null]);
});

test('knows a process that is becoming another program from one without variables', async () => {
  const hasMark = (pid: number): boolean => environmentOf(pid)?.includes('MARK=1') === true;
  const start = (command: string): number => {
    const script = `${command} sleep 300 > /dev/null 2>&1 & echo $!`;
    const pid = Number(runSync('bash', ['-c', script], { env: { PATH: process.env.PATH, MARK: '1' } }));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    return pid;
  };
  for (let round = 0; round < 20; round += 1) {
    const pid = start('');
    for (let look = 0; look < 20; look += 1)
      expect(hasMark(pid) || isStarting(pid) || hasMark(pid)).toBe(true);
  }
  const cleared = start('exec env -i');
  await eventually(() => readFileSync(`/proc/${cleared}/cmdline`, 'latin1').startsWith('sleep'));
  expect([environmentOf(cleared), isStarting(cleared)]).toEqual([[''], false]);
});
