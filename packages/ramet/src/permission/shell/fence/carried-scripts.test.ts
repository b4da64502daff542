import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
import { commandRefusal } from './fence-command.ts';

/** The files of a checkout on `main` with a branch `develop`, and of the agent's worktree on `ramet/q`. */
function fence(): WriteFence {
  const base = temporaryDirectory();
  const [from, root] = [join(base, 'main'), join(base, 'q')];
  const branches = ['main', 'develop', 'ramet/q'];
  writeFiles(base, {
    'main/.git/HEAD': 'ref: refs/heads/main\n',
    'main/.git/config': '',
    ...Object.fromEntries(branches.map((name) => [`main/.git/refs/heads/${name}`, `${'1'.repeat(40)}\n`])),
    'main/.git/worktrees/q/HEAD': 'ref: refs/heads/ramet/q\n',
    'main/.git/worktrees/q/commondir': '../..\n',
    'q/.git': `gitdir: ${join(from, '.git/worktrees/q')}\n`,
    'q/sub/x': '',
  });
  return { root, from, scratch: join(base, 'scratch'), temporary: [], guarded: [from] };
}

/** `M` stands for the checkout that the worktree was made from. */
function refusal(script: string): Promise<string | null> {
  const own = fence();
  return commandRefusal(own, script.replace(/\bM\b/g, own.from), own.root);
}

describe('WORK-7: other ways to refs of others, and programs that git or a shell is given in the text', () => {
  test.for([
    'git read-tree --index-output=M/.git/index HEAD',
    'git read-tree --index-out M/.git/index HEAD',
    'git send-pack . HEAD:refs/heads/main',
    'git send-pack --all M',
    'git -c remote.z.url=M push z HEAD:main',
    'git -c remote.z.url=. -c remote.z.fetch=HEAD:refs/heads/main fetch z',
    'bash <<E\ngit update-ref refs/heads/main HEAD\nE',
    "sh -s <<'E'\necho hi\ngit branch -f develop HEAD\nE",
    'cat <<E | sh\ngit branch -f develop HEAD\nE',
    'bash <<< "git branch -f develop HEAD"',
    'echo "git branch -f develop HEAD" | sh',
    'printf "cd .\\ngit branch -f develop HEAD\\n" | bash -x',
    'git rebase --exec "git branch -f develop HEAD" main',
    'git rebase -x true -x "git branch -f develop HEAD" main',
    'git rebase --exe="git branch -f develop HEAD" main',
    'git bisect run git branch -f develop HEAD',
    "git bisect run sh -c 'git branch -f develop HEAD'",
    'GIT_EDITOR="git branch -f develop HEAD;:" git commit --amend',
    'GIT_SEQUENCE_EDITOR="sh -c \'git branch -f develop HEAD\'" git rebase -i main',
    'export GIT_EDITOR="git branch -f develop HEAD;:"; git commit',
    'env EDITOR="git branch -f develop HEAD;:" git commit',
    'git -c core.editor="git branch -f develop HEAD;:" commit',
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'git read-tree --index-output=sub/index HEAD',
    'git -c remote.pushDefault=origin push',
    'bash <<E\ngit commit -qm x\nE',
    'cat > notes.md <<E\ngit branch -f develop HEAD\nE',
    'git commit -F - <<E\nUse sh and git branch -f main HEAD\nE',
    'echo "git branch -f develop HEAD"',
    'echo "npm test" | sh',
    'git rebase --exec "npm test" main',
    'git rebase -x "git commit --amend --no-edit" main',
    'git bisect start && git bisect run npm test',
    'git bisect run sh -c "make && ./check"',
    'GIT_SEQUENCE_EDITOR=true git rebase -i main',
    'GIT_SEQUENCE_EDITOR=: git rebase -i --autosquash main',
    'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -i main',
    'GIT_SEQUENCE_EDITOR="sed -i -e \'2s/^pick/squash/\'" GIT_EDITOR=true git rebase -i HEAD~3',
    'GIT_EDITOR="cp sub/x" git commit --amend',
    'git -c core.editor=true -c sequence.editor=: rebase --continue',
    'git commit --amend --no-edit',
    'git tag v1 && git merge --no-edit main',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });

  test('a long text of markers without an end is read quickly', async () => {
    expect(await refusal(`bash\n${'a <<b\n'.repeat(20_000)}`)).toBeNull();
  });
});
