import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fencedBlocks } from '../../src/model/recipe/fenced-blocks.ts';
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

  test('holds a list of tasks that runs in parallel, isolated and merged, without a key', async ({
    user,
  }) => {
    const at = PAGE.indexOf('## A list of tasks');
    const [tasks, commands] = fencedBlocks(PAGE.slice(at));
    user.env.ANTHROPIC_API_KEY = undefined;
    writeFileSync(join(user.root, 'home/.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
    const [carryOut, preview, merge, ...more] = (commands?.content.trim() ?? '').split('\n').map(wordsOf);
    expect([carryOut?.slice(-2), more]).toEqual([['<', 'tasks.md'], []]);
    const end = await user.ramet(carryOut?.slice(0, -2) ?? [], { stdin: tasks?.content ?? '' });
    expect(end).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Done: 1 step carried out\.\n/) });
    expect(readdirSync(user.repository).toSorted()).toEqual(['.git', 'README.md']);
    expect(await user.here(preview ?? [])).toMatchObject({ code: 0 });
    const merged = await user.here(merge ?? []);
    expect(merged).toMatchObject({ code: 0, stdout: expect.stringContaining('ramet/ending') });
    const read = (file: string): string => readFileSync(join(user.repository, file), 'utf8');
    expect([read('CONTENTS'), read('README.md')]).toEqual([
      'README.md\n',
      '# Test\nAUTHORS and CONTENTS are generated.\n',
    ]);
    expect(read('AUTHORS').trim()).not.toBe('');
  });

  test('an isolated agent that cannot prove its work fails the recipe, and the others keep theirs', async ({
    user,
  }) => {
    user.env.ANTHROPIC_API_KEY = undefined;
    const agents = [
      '- { name: idle, isolation: worktree, expect: { files: [made.txt] }, prompt: "~~~sh\\ntrue\\n~~~" }',
      '- { name: busy, isolation: worktree, expect: { files: [made.txt] }, prompt: "~~~sh\\ntouch made.txt\\n~~~" }',
    ];
    const stdin = ['```agents', ...agents, '```', ''].join('\n');
    const end = await user.ramet(['-p', '--permission-mode', 'bypassPermissions'], { stdin });
    expect(end.code).toBe(1);
    expect(end.stdout).toMatch(/^Failed: step 1 of 1 .* 1 of 2 agents failed: .*no_artifact/);
    expect((await user.here(['worktree', 'ls'])).stdout).toContain('ramet/busy');
    expect(existsSync(join(user.repository, 'made.txt'))).toBe(false);
  });
});

/** The arguments of a line for `ramet`, with quotes as the shell reads them. */
function wordsOf(line: string): string[] {
  return [...line.replace(/^ramet /, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
}
