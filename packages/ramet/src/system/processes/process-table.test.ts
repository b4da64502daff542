import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import {
  environmentOf,
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
