import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { counterpart, fenceRefusal, isAboutOwnFiles, type WriteFence } from './write-fence.ts';

/** All of it lies in a directory for temporary files, as in tests of everything else. */
function fence(): WriteFence & { temporaryFile: string } {
  const base = temporaryDirectory();
  const [root, from, scratch] = ['worktree', 'main', 'scratch'].map((name) => join(base, name));
  if (root === undefined || from === undefined || scratch === undefined) throw new Error('no names');
  for (const directory of [root, from, scratch]) mkdirSync(directory);
  const temporaryFile = join(base, 'notes.txt');
  return { root, from, scratch, temporary: [base], guarded: [from], temporaryFile };
}

describe('WORK-7: a write outside the worktree', () => {
  test('is refused with the path that is meant', () => {
    const own = fence();
    expect(fenceRefusal(own, join(own.from, 'src/a.ts'))).toBe(
      `${own.from}/src/a.ts is outside your worktree ${own.root}, and you write only there. Write ${own.root}/src/a.ts instead.`,
    );
  });

  test('is refused through `..` and through a link', () => {
    const own = fence();
    symlinkSync(own.from, join(own.root, 'out'));
    expect(fenceRefusal(own, `${own.root}/../main/a.ts`)).toContain('outside your worktree');
    expect(fenceRefusal(own, join(own.root, 'out/a.ts'))).toContain(`Write ${own.root}/a.ts instead`);
  });

  test('is let through to the scratch directory, and from commands to temporary files', () => {
    const own = fence();
    expect(fenceRefusal(own, join(own.root, 'new/file.ts'))).toBeNull();
    expect(fenceRefusal(own, join(own.scratch, 'notes.md'))).toBeNull();
    expect(fenceRefusal(own, own.temporaryFile)).toContain('outside your worktree');
    expect(fenceRefusal(own, own.temporaryFile, { byCommand: true })).toBeNull();
    expect(fenceRefusal(own, '/dev/null', { byCommand: true })).toBeNull();
  });

  test('is refused where others work, also below a directory for temporary files', () => {
    const own = fence();
    expect(fenceRefusal(own, join(own.from, 'a.ts'), { byCommand: true })).toContain('outside');
  });

  test('is refused to the file that says which repository the worktree is of', () => {
    const own = fence();
    expect(fenceRefusal(own, join(own.root, '.git'), { byCommand: true })).not.toBeNull();
  });

  test('names no twin of the git directory, which the worktree does not have', () => {
    const own = fence();
    expect(fenceRefusal(own, join(own.from, '.git', 'config'))).toMatch(
      /The git directory is shared with others: leave it as it is\.$/,
    );
  });
});

describe('the counterpart of a path', () => {
  test('is the same place below the other root, and none for what is elsewhere', () => {
    expect(counterpart('/main/src/a.ts', '/main', '/tree')).toBe('/tree/src/a.ts');
    expect(counterpart('/mainly/a.ts', '/main', '/tree')).toBeNull();
    expect(counterpart('/main/.trees/x/a.ts', '/main', '/main/.trees/x')).toBeNull();
    expect(counterpart('/main/.trees/x/a.ts', '/main/.trees/x', '/main')).toBe('/main/a.ts');
  });
});

describe('OP-9: a write in a worktree that others work in too', () => {
  test('is let through to the files of the task, the directories it names, and what begins as a pattern does', () => {
    const own = { ...fence(), only: ['src/a.ts', 'docs/', 'test/a*.ts'] };
    for (const path of ['src/a.ts', 'docs/x/y.md', 'test/a-b.ts'])
      expect(fenceRefusal(own, join(own.root, path))).toBeNull();
    expect(fenceRefusal(own, join(own.scratch, 'notes.md'))).toBeNull();
  });

  test('is refused to everything else, and the refusal is told from that of a place outside', () => {
    const own = { ...fence(), only: ['src/a.ts'] };
    for (const path of ['src/a.ts.bak', 'src/b.ts', 'src', '.']) {
      const refusal = fenceRefusal(own, join(own.root, path), { byCommand: true }) ?? '';
      expect(refusal).toContain('is not one of the files of your task');
      expect(isAboutOwnFiles(refusal)).toBe(true);
    }
    expect(isAboutOwnFiles(fenceRefusal(own, join(own.from, 'src/a.ts')) ?? '')).toBe(false);
    expect(fenceRefusal({ ...own, only: [] }, join(own.root, 'src/a.ts'))).toContain('you only read here');
  });
});
