import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { indexPath, openIndex } from '../../journal/session-index.ts';
import { WorktreeRegistry } from './registry.ts';

test('worktrees are listed in a home that cannot be written', () => {
  const project = temporaryDirectory();
  openIndex(project).close();
  chmodSync(indexPath(project), 0o444);
  chmodSync(project, 0o555);
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'registry.ts'))}).then(({ WorktreeRegistry }) => {
    if (process.getuid() === 0) process.setuid(65534);
    console.log(JSON.stringify(new WorktreeRegistry(${JSON.stringify(project)}).list()));
  }).catch((error) => console.log(error.message))`;
  const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  chmodSync(project, 0o700);
  expect(stdout).toBe('[]\n');
});

test('an index that is a directory is told as that', () => {
  const project = temporaryDirectory();
  mkdirSync(indexPath(project));
  using registry = new WorktreeRegistry(project);
  const line = `cannot use the session index ${indexPath(project)}: it is a directory; move it away (sessions stay)`;
  expect(() => registry.list()).toThrow(line);
  expect(() => registry.find('x')).toThrow(line);
});
