import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fencedBlocks } from '../../src/model/fenced-blocks.ts';
import { test } from '../fixtures/user.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/recipe.md'), 'utf8');

describe('RECIPE-1: docs/recipe.md', () => {
  test('holds a task and a command that work as they stand there', async ({ user }) => {
    const [task, command] = fencedBlocks(PAGE);
    expect(command?.content).toBe('ramet -p --permission-mode bypassPermissions < task.md\n');
    user.env.ANTHROPIC_API_KEY = undefined;
    const args = ['-p', '--permission-mode', 'bypassPermissions'];
    const end = await user.ramet(args, { stdin: task?.content ?? '' });
    expect(end.code).toBe(0);
    expect(end.stdout.split('\n')).toEqual([
      'Done: 3 steps carried out.',
      '',
      '1. write: CHANGELOG.md - ok',
      '   | Created CHANGELOG.md (3 lines).',
      `2. sh: grep -q 'begins' CHANGELOG.md - ok`,
      '3. sh: git ls-files --cached --others --exclude-standard - ok',
      '   | CHANGELOG.md',
      '   | README.md',
      '',
    ]);
    expect(readFileSync(join(user.repository, 'CHANGELOG.md'), 'utf8')).toBe(
      '# Changes\n\n- The change log begins.\n',
    );
  });
});
