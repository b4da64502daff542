import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../write-fence.ts';
import { commandRefusal } from './fence-command.ts';

function fence(): WriteFence {
  const base = temporaryDirectory();
  const [root, from] = [join(base, 'worktree'), join(base, 'main')];
  for (const directory of [root, from]) mkdirSync(directory);
  return { root, from, scratch: join(base, 'scratch'), temporary: [base], guarded: [from] };
}

/** `M` stands for the checkout that the worktree was made from. */
async function refusal(script: string): Promise<string | null> {
  const own = fence();
  return commandRefusal(own, script.replaceAll('M', own.from), own.root);
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
