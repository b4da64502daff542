import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { editedPaths } from './edited-files.ts';

test.for([
  ["sed -i 's/a/b/' src/a.ts", ['/p/s/a/b', '/p/src/a.ts']],
  ["sed -i.bak -e 's/1/2/' src/a.ts && npm test", ['/p/s/1/2', '/p/src/a.ts']],
  ["perl -pi -e 's/1/2/' src/a.ts", ['/p/s/1/2', '/p/src/a.ts']],
  ['echo x > src/a.ts', ['/p/src/a.ts']],
  ['npm test 2>&1 | tee out.log', ['/p/out.log']],
  ['cd src && cat > a.ts <<EOF\nx\nEOF', ['/p/src/a.ts']],
  ['cp /tmp/a.ts src/a.ts', ['/p/src/a.ts']],
  ['mv a b', ['/p/a', '/p/b']],
  ['dd if=a of=src/a.ts', ['/p/src/a.ts']],
  ['git checkout HEAD -- src/a.ts', ['/p/HEAD', '/p/src/a.ts']],
  ['sort -o a.txt b.txt', ['/p/a.txt']],
  ['sort --output=a.txt b.txt; sort b.txt', ['/p/a.txt']],
  ['ln -sf src/x.ts a.txt', ['/p/a.txt']],
  ['env X=1 sed -i d src/a.ts', ['/p/d', '/p/src/a.ts']],
  // What only reads or runs, and what nobody can know.
  ["sed -n '1,5p' src/a.ts", []],
  ['npm test; node build.js; make all; rm -rf build', []],
  ['git status && git diff src/a.ts && git stash list', []],
  ['sed -i d "$FILE"', ['/p/d']],
] as const)('RES-3: %s', async ([script, files]) => {
  expect((await editedPaths(script, '/p')).files).toEqual(files);
});

test.for([
  ['git checkout .', ['/p']],
  ['git checkout HEAD -- src', ['/p/HEAD', '/p/src']],
  ['git restore :/', ['/p']],
  ["git checkout -- '*.ts'", ['/p']],
  ['cd src && git restore .', ['/p/src']],
  ['git -C lib checkout -f', ['/p/lib']],
  ['git checkout --force main', ['/p', '/p/main']],
  ['git switch --discard-changes main', ['/p']],
  ['git reset --hard HEAD~1 && npm test', ['/p']],
  ['git stash', ['/p']],
  ['git stash -u && npm test; git stash pop', ['/p']],
  ['git clean -fd', ['/p']],
  ['git clean -fd src', ['/p/src']],
  ['git read-tree -u --reset HEAD', ['/p']],
  ['git read-tree -mu HEAD', ['/p']],
  ['git checkout-index -a -f', ['/p']],
  ['git checkout-index -fa && npm test', ['/p']],
  ['git checkout-index --force src/a.ts', ['/p/src/a.ts']],
  ['git read-tree HEAD; git checkout-index -a; git checkout-index -fa --prefix=/tmp/x/', []],
  // What shows something, moves the index or a branch alone, or removes what git ignores.
  ['git stash list; git stash show -p; git clean -n; git clean -fdX; git reset HEAD a.txt', []],
  ['git checkout -b docs; git switch main; git worktree add /tmp/x; git restore --staged .', []],
] as const)('COORD-1: everything below: %s', async ([script, trees]) => {
  expect((await editedPaths(script, '/p')).trees).toEqual(trees);
});

test('COORD-1: a pattern of the shell names the files that match it', async () => {
  const here = temporaryDirectory();
  mkdirSync(join(here, 'src'));
  for (const name of ['a.ts', 'b.ts', 'c.md']) writeFileSync(join(here, 'src', name), '');
  const found = async (script: string): Promise<string[]> => (await editedPaths(script, here)).files.sort();
  expect(await found('sed -i d src/*.ts')).toEqual(
    ['d', 'src/a.ts', 'src/b.ts'].map((name) => join(here, name)),
  );
  expect(await found('cd src; truncate -s0 {b,c}.*')).toEqual(
    ['src/b.ts', 'src/c.md'].map((name) => join(here, name)),
  );
});
