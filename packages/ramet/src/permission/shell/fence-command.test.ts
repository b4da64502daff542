import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../write-fence.ts';
import { commandRefusal } from './fence-command.ts';

function fence(): WriteFence {
  const base = temporaryDirectory();
  const [root, from] = [join(base, 'worktree'), join(base, 'main')];
  for (const directory of [root, from, join(root, 'a'), join(root, 'b')]) mkdirSync(directory);
  symlinkSync(from, join(root, 'link'));
  // Other worktrees lie beside this one.
  return { root, from, scratch: join(base, 'scratch'), temporary: [base], guarded: [from, join(base, 'b')] };
}

/** `M` stands for the checkout that the worktree was made from, `W` for the worktree. */
async function refusal(script: string): Promise<string | null> {
  const own = fence();
  return commandRefusal(own, script.replace(/\bM\b/g, own.from).replace(/\bW\b/g, own.root), own.root);
}

describe('WORK-7: what a command shows of writing outside its worktree', () => {
  test.for([
    'echo x > M/a.txt',
    'echo x >> ../main/a.txt',
    'cd M && echo x > a.txt',
    'cd .. && touch main/a.txt',
    'cp a.txt M/',
    'cp -t M a.txt',
    'mv M/a.txt .',
    'rm -rf M/src',
    'sed -i s/a/b/ M/a.txt',
    'tee M/a.txt < b.txt',
    'dd if=/dev/zero of=M/a.txt',
    'bash -c "echo x > M/a.txt"',
    'timeout 5 touch M/a.txt',
    'cd M && npm test',
    'git -C M commit -m x',
    'git --git-dir=M/.git --work-tree=M checkout .',
    'git --work-tree M reset --hard',
    'git stash',
    'git stash pop',
    'git -c core.editor=vi stash push',
    'git worktree remove other',
    'cd .. && cd main && rm a.txt',
    'cd a && cd ../.. && rm -r main',
    'cd a; cd ..; cd ..; rm -r main',
    'rm -r a; cd a; cd ..; cd main && touch x',
    'cd none || cd ../main; touch x',
    'cd a && make; cd ../.. && cd main && make',
    'pushd ../main && make',
    'pushd a && popd && cd ../main && make',
    'cd ../main && cd - && cd - && make',
    'if cd a; then cd ../..; fi; touch main/x',
    '{ cd ../main; }; make',
    'cd link && touch x',
    'cd link/.. && cd ../main && touch x',
    'cd -P link && make',
    'cd $X && rm a',
    'cd "$X/src" && echo x > a',
    'cd $(cat where) && npm test',
    'cd ~ && rm a',
    'cd && touch x',
    'X=..; cd $X/main && touch x',
    'RAMET_WORKTREE=M; cd "$RAMET_WORKTREE" && touch x',
    'cd "$RAMET_WORKTREE/../main" && touch x',
    'R=M; cd $R && make',
    'for d in ../main a; do cd $d && touch x; done',
    'CDPATH=M; cd src && cd $Y && touch x',
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'echo x > a.txt',
    'echo x > ../notes.txt',
    'echo x > /dev/null 2>&1',
    'cp M/a.txt .',
    'cat M/a.txt',
    'cd M && ls',
    'grep -r x M',
    'sed s/a/b/ M/a.txt',
    'git commit -am x',
    'git -C M log',
    'git stash list',
    'git worktree list',
    'npm test && git add -A',
    'rm -rf build',
    'cd a && make && cd ../b && make',
    'cd a && make && cd .. && cd b && make && cd .. && touch x',
    'cd a; cd ..; cat x',
    'cd a; cd ..; npm test',
    'cd a\nnpm test\ncd ../b\nnpm test\ncd ..',
    'mkdir -p new && cd new && cmake .. && cd .. && make',
    '(cd a && make); npm test',
    '(cd a; make; cd ../b; make); make',
    'cd a && make; cd - && make',
    'cd a || exit 1; make; cd .. && make',
    'cd a || { echo none; exit 1; }; cd .. && touch x',
    'if ! cd a; then exit 1; fi; cd .. && make',
    'pushd a && make && popd && make',
    'pushd a; pushd ../b; make; popd; popd; make',
    'cd a & cd b && cd .. && make',
    'cd a | cat; cd b && cd .. && make',
    'cd M && ls; cd - && cat x',
    'cd link && ls && cd .. && make',
    'cd $X && ls',
    'cd "$(git rev-parse --show-toplevel)" && npm test',
    'T=$(mktemp -d); cd "$T" && git init && touch x',
    'for d in a b; do (cd $d && make); done',
    'for d in packages/*; do (cd "$d" && npm test); done',
    'D=a; cd $D && touch x',
    'cd "$RAMET_WORKTREE" && npm test',
    'R=W/a; cd $R && make',
    'R=W; cd "$R/b" && make',
    'cd $RAMET_WORKTREE/a && touch x',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });

  test('says where to write instead', async () => {
    const own = fence();
    expect(await commandRefusal(own, `echo x > ${own.from}/src/a.ts`, own.root)).toContain(
      `Write ${own.root}/src/a.ts instead`,
    );
    expect(await commandRefusal(own, `cd ${own.from} && make`, own.root)).toContain(
      `Your worktree is ${own.root}`,
    );
  });
});
