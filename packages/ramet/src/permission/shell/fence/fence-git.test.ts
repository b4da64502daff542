import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
import { commandRefusal } from './fence-command.ts';

/** The files of a worktree that git would have made, and a repository `own` of the agent's in it. */
function fence(shared = ''): WriteFence {
  const base = temporaryDirectory();
  const [root, from] = [join(base, 'worktree'), join(base, 'main')];
  const admin = join(from, '.git', 'worktrees', 'w');
  for (const directory of [join(root, 'src'), join(root, 'own', '.git'), admin]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(join(root, '.git'), `gitdir: ${admin}\n`);
  writeFileSync(join(admin, 'commondir'), '../..\n');
  for (const place of [admin, join(from, '.git'), join(root, 'own', '.git')]) {
    writeFileSync(join(place, 'HEAD'), `ref: refs/heads/${place === admin ? 'ramet/x' : 'x'}\n`);
  }
  writeFileSync(join(from, '.git', 'config'), shared);
  return { root, from, scratch: join(base, 'scratch'), temporary: [base], guarded: [from] };
}

/** `M` stands for the checkout that the worktree was made from, `W` for the worktree, `T` for a temporary directory. */
function refusal(script: string, own = fence()): Promise<string | null> {
  const places = { M: own.from, W: own.root, T: join(own.temporary[0] ?? '', 'elsewhere') };
  const written = script.replace(/\b[MWT]\b(?!=)/g, (name) => places[name as keyof typeof places]);
  return commandRefusal(own, written, own.root);
}

describe('WORK-7: configuration that all worktrees share', () => {
  test.for([
    'git config core.hooksPath /tmp/evil',
    "git config alias.x '!touch y'",
    'git config core.fsmonitor ./x',
    'git config user.email a@b.c',
    'git config --local user.email a@b.c',
    'git config set user.email a@b.c',
    'git config --add a.b c',
    'git config --unset user.email',
    'git config unset user.email',
    'git config --remove-section user',
    'git config --edit',
    'git config -e',
    'git config edit',
    'git config --comment --get a.b c',
    'git config a.b -- --get',
    'git config a.b $X',
    'git config $X',
    'git config --uns a.b',
    'git config --worktree core.hooksPath x',
    'git config --file M/.git/config a.b c',
    'git config --file=M/.git/config a.b c',
    'git config -f../main/.git/config a.b c',
    'git config -f M/.git/config --unset a.b',
    'git config --global user.email a@b.c',
    'git config --system a.b c',
    'cd own && git config --global a.b c',
    'HOME=M git config --global a.b c',
    'cd src && git config a.b c',
    'git -C src config a.b c',
    'git --git-dir=.git config a.b c',
    'git --git-dir=M/.git/worktrees/w config a.b c',
    'git -C own -C .. config a.b c',
    'git init && git config a.b c',
    'git init T; git config a.b c',
    'env git config a.b c',
    'sh -c "git config a.b c"',
    'true && git config a.b c || true',
    'D=src; cd "$D" && git config a.b c',
    'git remote add x https://example.invalid/x',
    'git remote -v add x https://example.invalid/x',
    'git remote remove x',
    'git remote rename x y',
    'git remote set-url origin https://example.invalid/x',
    'git branch --set-upstream-to=origin/main',
    'git branch --set-upstream-to origin/main',
    'git branch -u origin/main',
    'git branch --unset-upstream',
    'git branch --edit-description',
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'git config user.email',
    'git config --get user.email',
    'git config --get-regexp "^user" | cat',
    'git config --list',
    'git config -lz',
    'git config list --show-origin',
    'git config get user.email',
    'git config --global user.email',
    'git config --default x --type=bool --get a.b',
    'git config "$NAME"',
    'git config --file x.cfg a.b c',
    'git config -f .gitmodules submodule.x.branch main',
    'git -c user.email=a@b.c commit -m x',
    'git -C own config a.b c',
    'cd own && git config a.b c && git remote add x y',
    'git -C T config a.b c',
    'cd T && git init && git config a.b c',
    'git init new && cd new && git config a.b c',
    'git init -q new && git -C new config a.b c',
    'git clone T/x.git && git -C x config a.b c',
    'git clone T/x.git new && cd new && git config a.b c',
    'D=$(mktemp -d); cd "$D" && git init && git config a.b c',
    'D=$(mktemp -d); cd "$D"; git init -q; git config a.b c; git remote add x y',
    'D=$(mktemp -d); git init "$D"; git -C "$D" config a.b c',
    'HOME=T git config --global a.b c',
    'GIT_CONFIG_GLOBAL=x.cfg git config --global a.b c',
    'git remote -v',
    'git remote show origin',
    'git remote get-url origin',
    'git branch -v',
    'git branch new',
    'git push -u origin HEAD',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });

  test('a worktree with a configuration of its own may write that', async () => {
    const own = fence('[extensions]\n\tworktreeConfig = true\n');
    expect(await refusal('git config --worktree user.email a@b.c', own)).toBeNull();
    expect(await refusal('git config user.email a@b.c', own)).not.toBeNull();
    expect(await refusal('git config --worktree core.worktree M', own)).not.toBeNull();
  });

  test('says in one line what to do instead', async () => {
    expect(await refusal('git config user.email a@b.c')).toMatch(/^[^\n]*git -c name=value[^\n]*$/);
    expect(await refusal('git remote add x y')).toMatch(/^[^\n]*address[^\n]*$/);
  });
});

describe('WORK-7: a git directory that is not of the worktree', () => {
  test.for([
    // The work tree is the worktree here, as a path of the checkout is before it comes to the fence.
    'git --git-dir=M/.git --work-tree=W commit -m x',
    'git --git-dir M/.git --work-tree W commit -m x',
    'git --work-tree=W --git-dir=M/.git commit -m x',
    'git --git-dir=M/.git --work-tree=. commit -m x',
    'git --git-dir=M/.git commit -m x',
    'git -C src --git-dir=M/.git --work-tree=W commit -m x',
    'GIT_DIR=M/.git git --work-tree=W commit -m x',
    'GIT_DIR=M/.git GIT_WORK_TREE=W git commit -m x',
    'export GIT_DIR=M/.git GIT_WORK_TREE=W; git commit -m x',
    'git --git-dir="$(git rev-parse --git-common-dir)" --work-tree=. commit -m x',
    'GIT_DIR=$(git rev-parse --git-common-dir) git commit -m x',
    'git --git-dir=$X --work-tree=. commit -m x',
    'git --git-dir=.git --work-tree=M reset --hard',
    'git --git-dir=M/.git/worktrees/other commit -m x',
    'echo x > "$(git rev-parse --git-path hooks)/pre-commit"',
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'git --git-dir=.git --work-tree=. commit -m x',
    'git --git-dir=W/.git commit -m x',
    'git --git-dir=M/.git/worktrees/w --work-tree=W commit -m x',
    'GIT_DIR=W/.git git commit -m x',
    'git --git-dir=own/.git --work-tree=own commit -m x',
    'git --git-dir=T/.git --work-tree=T commit -m x',
    'git --git-dir=M/.git log --oneline',
    'git --git-dir=M/.git --work-tree=M rev-parse HEAD',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });
});

describe('WORK-7: a link whose target is not known, made and written through in one command', () => {
  test.for([
    'ln -s $(dirname $(git rev-parse --git-common-dir)) l; echo x > l/esc',
    'ln -s "$(dirname "$(git rev-parse --git-common-dir)")" l; echo x > l/esc',
    'ln -s $X l && touch l/esc',
    'ln -sfn "$X/src" l && cd l && touch esc',
    'ln -s $(cat where) l; cp a l/',
    'ln -s $(dirname $(git rev-parse --git-common-dir)) .; echo x > main/esc',
    'ln -s $(dirname $(git rev-parse --git-common-dir)); echo x > main/esc',
    'ln -s $(dirname $(git rev-parse --git-common-dir)) src; echo x > src/main/esc',
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'ln -s $X l && ls l/',
    'ln -s $X l; echo x > a',
    'ln -sfn "$PWD/src" l && touch l/x',
    'ln -s $X . && npm test > out.log',
    'ln -s $X l && rm l',
    'ln -s "$(git rev-parse --git-common-dir)/.." out',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });
});
