import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
import { commandRefusal } from './fence-command.ts';

const ID = '1'.repeat(40);

/** The files of a checkout on `main` with branches `develop` and `packed`, of the agent's worktree on `ramet/q` and another's. */
function fence(own = 'ramet/q'): WriteFence {
  const base = temporaryDirectory();
  const [from, root] = [join(base, 'main'), join(base, 'q')];
  const git = join(from, '.git');
  const branches = ['main', 'develop', 'ramet/q', 'ramet/r', 'ramet/spare'];
  writeFiles(base, {
    'main/.git/HEAD': 'ref: refs/heads/main\n',
    'main/.git/config': '',
    'main/.git/packed-refs': `# pack-refs with: peeled fully-peeled sorted\n${ID} refs/heads/packed\n`,
    ...Object.fromEntries(branches.map((name) => [`main/.git/refs/heads/${name}`, `${ID}\n`])),
    ...Object.fromEntries(
      [
        ['q', own],
        ['r', 'ramet/r'],
      ].flatMap(([name, branch]) => [
        [`main/.git/worktrees/${name}/HEAD`, `ref: refs/heads/${branch}\n`],
        [`main/.git/worktrees/${name}/commondir`, '../..\n'],
        [`${name}/.git`, `gitdir: ${join(git, 'worktrees', name ?? '')}\n`],
      ]),
    ),
    'q/sub/x': '',
  });
  return { root, from, scratch: join(base, 'scratch'), temporary: [], guarded: [from, join(base, 'r')] };
}

/** `M` stands for the checkout that the worktree was made from, `W` for the worktree. */
function refusal(script: string, own = fence()): Promise<string | null> {
  const written = script.replace(/(?<!-)\bM\b/g, own.from).replace(/\bW\b/g, own.root);
  return commandRefusal(own, written, own.root);
}

describe('WORK-7: branches and HEADs that are not the worktree’s own', () => {
  test.for([
    'git checkout --ignore-other-worktrees main',
    'git switch --ignore-other-worktrees main && git commit -m x',
    'git checkout --ignore-other main',
    'git checkout --ignore-other-worktrees -B main',
    'git checkout develop',
    'git switch develop',
    'git checkout -q packed',
    'git checkout develop --',
    'git switch -C develop',
    'git checkout -B develop HEAD~0',
    'git checkout -Bdevelop',
    'git update-ref refs/heads/main HEAD',
    'git update-ref -m "my reason" refs/heads/develop HEAD',
    'git update-ref -d refs/heads/packed',
    'git update-ref refs/heads/ramet/r HEAD',
    'git update-ref --stdin < commands',
    'git update-ref refs/heads/$X HEAD',
    'git update-ref "$X" HEAD',
    'git update-ref main-worktree/HEAD HEAD',
    'git update-ref worktrees/r/HEAD HEAD',
    'git update-ref refs/stash HEAD',
    'git update-ref refs/ramet/wip/x HEAD',
    'git symbolic-ref HEAD refs/heads/main',
    'git symbolic-ref main-worktree/HEAD refs/heads/develop',
    'git symbolic-ref -m x HEAD refs/heads/main',
    'git symbolic-ref -d HEAD',
    'git branch -f develop HEAD',
    'git branch --force develop HEAD',
    'git branch -D develop',
    'git branch -d ramet/q packed',
    'git branch --del packed',
    'git branch -m main trunk',
    'git branch -M ramet/q develop',
    'git branch -C ramet/q develop',
    'git branch -D $X',
    'git branch --merged | xargs git branch -d',
    'git fetch origin main:main',
    'git fetch . +HEAD:develop',
    'git fetch -u . HEAD:refs/heads/main',
    "git fetch origin '+refs/heads/*:refs/heads/*'",
    'git pull origin x:develop',
    'git push . HEAD:main',
    'git push . +HEAD:refs/heads/develop',
    'git push M HEAD:main',
    'git push file://M :packed',
    'git push --mirror .',
    'git rebase main develop',
    'git rebase --onto main ramet/q develop',
    'git rebase --update-refs main',
    'git filter-branch --tree-filter true -- --all',
    'git filter-repo --path a',
    'git fast-import < dump',
    'git refs migrate --ref-format=reftable',
    'git reflog expire --expire=now --all',
    'git reflog delete main@{0}',
    'git prune',
    'git gc --prune=now',
    // Long names cut short, and letters in one word.
    ...[
      'git switch --force-create develop HEAD~3',
      'git switch --force-create=develop HEAD~3',
      'git switch --force-c develop HEAD~3',
      'git switch --force-c=main',
      'git switch -fC main HEAD~3',
      'git switch -qfCmain',
      'git checkout -qB main HEAD~3',
      'git checkout -fqBmain',
      'git checkout -B "$X"',
      'git checkout --orp develop',
      'git switch --ig main',
      'git switch --conf merge develop',
      'git checkout --pathspec-fr list -B main',
      'git branch -fq develop HEAD',
      'git branch -qf develop HEAD',
      'git branch --forc develop HEAD',
      'git branch --mov main trunk',
      'git branch --m main trunk',
      'git branch --del packed',
      'git branch --d packed',
      'git branch -qD packed',
      'git branch -cf ramet/q develop',
      'git branch --copy --force ramet/q develop',
      'git branch -f --sort refname develop HEAD',
      'git branch -r -m main trunk',
      'git update-ref --std < commands',
      'git symbolic-ref --del HEAD',
      'git push --mir .',
      'git push --recurse-submodules no . HEAD:main',
      'git rebase --update-r main',
      'git rebase --empty drop main develop',
      'git gc --pru=now',
      'git reflog expire --al --expire=now',
      'git --attr-source HEAD branch -f develop HEAD',
    ],
    // What a stash is kept by.
    ...[
      'git reflog delete stash@{0}',
      'git reflog delete refs/stash@{1}',
      'git reflog delete --rewrite --updateref "stash@{0}"',
      'git reflog expire --expire=now refs/stash',
      'git reflog expire --expire now stash',
      'git reflog expire --expire=now -- refs/stash',
      'git reflog expire --expire=now ramet/r',
      'git reflog expire --expire=now refs/remotes/origin/main',
      'git reflog delete "$X"',
      'git reflog drop stash',
    ],
    // As variables, and behind other programs.
    ...[
      'y=config; git $y user.email a@b.c',
      'y="update-ref refs/heads/main"; git $y HEAD',
      'y=update-ref; git "$y" refs/heads/main HEAD',
      'b=main; git update-ref refs/heads/$b HEAD',
      'g=git; $g update-ref refs/heads/main HEAD',
      'g=git; env "$g" stash',
      'git $y',
      'git "$@"',
      'for c in status config; do git $c; done',
      'git -c alias.x=update-ref x refs/heads/main HEAD',
      'env git update-ref refs/heads/main HEAD',
      "bash -c 'git update-ref refs/heads/main HEAD'",
      'cd "$RAMET_WORKTREE" && git update-ref refs/heads/main HEAD',
    ],
    // By the way to the shared git directory.
    ...[
      'echo x > $(git rev-parse --git-dir)/../../hooks/pre-commit',
      'cd $(git rev-parse --git-dir)/../.. && touch x',
      'D=$(git rev-parse --git-common-dir); echo x >> "$D/config"',
      'D="$(git rev-parse --git-dir)"; cp hook "$D/../../hooks/pre-commit"',
      'git -C "$(git rev-parse --git-common-dir)/.." commit -m x',
      'echo "ref: refs/heads/main" > $(git rev-parse --git-dir)/HEAD',
    ],
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'git commit -am x && git rebase main',
    'git merge main',
    'git reset --hard HEAD~1',
    'git checkout -b ramet/q-2',
    'git switch -c feature develop',
    'git switch --detach develop',
    'git checkout --detach main',
    'git checkout main -- a.txt',
    'git checkout main a.txt',
    'git checkout a.txt',
    'git checkout -- main',
    'git checkout --ignore-skip-worktree-bits -- a.txt',
    'git checkout -',
    'git switch ramet/q',
    'git switch ramet/spare',
    'git checkout $SHA',
    'git update-ref HEAD HEAD~1',
    'git update-ref refs/heads/ramet/q HEAD',
    'git update-ref refs/heads/new HEAD',
    'git update-ref refs/tags/v1 HEAD',
    'git symbolic-ref --short HEAD',
    'git symbolic-ref refs/remotes/origin/HEAD',
    'git branch',
    'git branch new',
    'git branch -f new HEAD',
    'git branch -D ramet/spare',
    'git branch --list "ramet/*" -v',
    'git branch -rd origin/x',
    'git branch --contains main',
    'git branch -m ramet/q-3',
    'git fetch origin',
    'git fetch origin main',
    'git fetch origin pull/7/head:pr-7',
    'git fetch origin main:refs/remotes/origin/main',
    'git pull --rebase origin main',
    'git push origin HEAD:main',
    'git push -u origin HEAD',
    'git rebase --onto main HEAD~1',
    'git reflog',
    'git reflog show main',
    'git reflog show stash',
    'git reflog expire --dry-run --expire=now refs/stash',
    'git reflog expire --expire=now ramet/q',
    'git reflog delete HEAD@{1}',
    'git reflog delete ramet/q@{1}',
    'git switch --create feature',
    'git switch --cr=feature develop',
    'git switch -fC ramet/spare HEAD~1',
    'git checkout -qB ramet/q HEAD~1',
    'git switch --det develop',
    'git checkout -qd main',
    'git checkout -qb feature develop',
    'git checkout --orphan fresh',
    'git branch -rdq origin/develop',
    'git branch --format "%(refname)" --merged main',
    'git rebase -qi --auto main',
    'git stash list --oneline',
    'git worktree list --porcelain',
    'git gc --auto',
    'y=status; git $y --short',
    'git -c user.name=x commit -m y',
    'cd sub && git init && git update-ref refs/heads/main X',
    'git init own && git -C own branch -f main HEAD',
    'cat "$(git rev-parse --git-dir)/HEAD"',
    'ls $(git rev-parse --git-common-dir)/hooks',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });

  test('a worktree that is on the user’s branch anyway does not commit there', async () => {
    const own = fence('main');
    expect(await refusal('git commit -am x', own)).toContain('Run git switch -c ramet/NAME first.');
    expect(await refusal('git switch -q -c ramet/new && git commit -am x', own)).toBeNull();
    expect(await refusal('git status && git diff', own)).toBeNull();
  });

  /** What git writes when `git switch -c` makes a branch at `time`, and what the worktree notes of it. */
  function noted(
    own: WriteFence,
    { branch, made, moved }: Record<'branch' | 'made' | 'moved', string>,
  ): void {
    writeFiles(own.from, {
      [`.git/refs/heads/${branch}`]: `${ID}\n`,
      [`.git/logs/refs/heads/${branch}`]: `${'0'.repeat(40)} ${ID} A <a@b.c> ${made} +0000\tbranch: Created from HEAD\n`,
      '.git/worktrees/q/logs/HEAD': `${ID} ${ID} A <a@b.c> ${moved} +0000\tcheckout: moving from ramet/q to ${branch}\n`,
    });
  }

  test.for([
    'git switch feature/x',
    'git branch -d feature/x',
    'git branch -D feature/x',
    'git switch -C feature/x',
  ])('%s is free where the worktree made that branch, and nowhere else', async (script) => {
    const [mine, moved, users] = [fence(), fence(), fence()];
    noted(mine, { branch: 'feature/x', made: '1700000000', moved: '1700000000' });
    noted(moved, { branch: 'feature/x', made: '1700000000', moved: '1700000009' });
    noted(users, { branch: 'feature/x', made: '1700000000', moved: '1700000000' });
    writeFiles(users.from, { '.git/HEAD': 'ref: refs/heads/feature/x\n' });
    expect(await refusal(script, mine)).toBeNull();
    expect(await refusal(script, moved)).toContain('feature/x');
    expect(await refusal(script, users)).toContain('feature/x');
  });

  test('each refusal is one line that says what to do instead', async () => {
    for (const [script, advice] of [
      ['git checkout --ignore-other-worktrees main', 'git switch -c ramet/NAME'],
      ['git checkout develop', 'git switch --detach develop'],
      ['git update-ref refs/heads/main HEAD', 'git switch -c ramet/NAME main'],
      ['git symbolic-ref HEAD refs/heads/main', 'git switch -c ramet/NAME'],
      ['git $y', 'Write the subcommand out.'],
    ] as const) {
      const line = (await refusal(script)) ?? '';
      expect(line).toContain(advice);
      expect(line).not.toContain('\n');
    }
  });
});
