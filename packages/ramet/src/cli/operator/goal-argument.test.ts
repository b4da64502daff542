import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { isGoal } from './goal-argument.ts';

test('OP-1: a goal is prose; a name of a file is none, also a misspelt one', () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'README.md'), '');
  mkdirSync(join(cwd, 'my old tasks'));
  const goals = [
    'add OAuth/OIDC login to the API',
    'fix lint',
    'Describe the flags in README.md',
    'Fix the crash in src/parser.ts',
    'Write docs/new.md.',
  ];
  const files = [
    ...['tsaks.md', 'my tsaks.md', 'the new tasks.yaml', 'docs/my tasks', './my old task', '/tmp/a b c'],
    ...['~/a b c', 'my old tasks', 'README.md', 'refactor', ''],
  ];
  expect(goals.filter((text) => !isGoal(text, cwd))).toEqual([]);
  expect(files.filter((text) => isGoal(text, cwd))).toEqual([]);
});
