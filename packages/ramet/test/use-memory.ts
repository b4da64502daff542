/** Runs before each test file: whether its temporary folders lie in memory depends on what it tests. */
import { afterAll, expect } from 'vitest';
import { memoryDirectoryFor } from './memory-directory.ts';

const directory = memoryDirectoryFor(expect.getState().testPath ?? '');
const before = process.env.TMPDIR;
if (directory !== undefined) {
  // Node and git look nowhere else; the worker continues with other files, so it is restored.
  process.env.TMPDIR = directory;
  afterAll(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
}
