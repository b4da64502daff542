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
  ['cp /tmp/a.ts src/a.ts', ['/p/src/a.ts', '/p/src/a.ts/a.ts']],
  ['mv a b', ['/p/a', '/p/b', '/p/b/a']],
  ['dd if=a of=src/a.ts', ['/p/src/a.ts']],
  ['sort -o a.txt b.txt', ['/p/a.txt']],
  ['sort --output=a.txt b.txt; sort b.txt', ['/p/a.txt']],
  ['ln -sf src/x.ts a.txt', ['/p/a.txt', '/p/a.txt/x.ts']],
  ['env X=1 sed -i d src/a.ts', ['/p/d', '/p/src/a.ts']],
  ['cp /tmp/b.ts src', ['/p/src', '/p/src/b.ts']],
  ['cp -t src /tmp/b.ts', ['/p/src', '/p/src/b.ts']],
  ['install -D --target-directory=src /tmp/b.ts', ['/p/src', '/p/src/b.ts']],
  // What is downloaded.
  ['curl -so README.md file:///etc/hostname', ['/p/README.md']],
  ['curl -oREADME.md http://h/x', ['/p/README.md']],
  ['curl -sSLoREADME.md http://h/x', ['/p/README.md']],
  ['curl -H "A: b" http://h/x --output README.md', ['/p/README.md']],
  ['curl --output=README.md http://h/x', ['/p/README.md']],
  ['curl -O http://h/docs/README.md?raw=1', ['/p/README.md']],
  ['curl -O "http://$HOST/README.md"', ['/p/README.md']],
  ['curl -fsSLO --output-dir docs http://h/a.md', ['/p/docs/a.md']],
  ['cd docs && curl --remote-name-all http://h/a.md http://h/b.md', ['/p/docs/a.md', '/p/docs/b.md']],
  ['curl --output-dir docs -o a.md http://h/x', ['/p/docs/a.md']],
  ['curl -D README.md http://h/x; curl -c jar.txt http://h/x', ['/p/README.md', '/p/jar.txt']],
  ['timeout 5 curl --stderr README.md http://h/x', ['/p/README.md']],
  ['wget -qO README.md http://h/x', ['/p/README.md']],
  ['wget -OREADME.md http://h/x', ['/p/README.md']],
  ['wget --output-document=README.md http://h/x', ['/p/README.md']],
  ['wget --output-doc README.md http://h/x', ['/p/README.md']],
  ['wget -nv -P docs http://h/a.md', ['/p/docs/a.md']],
  ['wget --directory-prefix=docs http://h/a.md', ['/p/docs/a.md']],
  ['wget -N http://h/README.md', ['/p/README.md']],
  ['wget -a README.md http://h/x', ['/p/README.md']],
  ['http --download -o README.md http://h/x', ['/p/README.md']],
  ['git diff --output=src/a.ts; git archive -o b.tar HEAD', ['/p/src/a.ts', '/p/b.tar']],
  ['git bundle create b.bundle HEAD', ['/p/b.bundle']],
  // To standard output, to a name that is free, and what is sent.
  ['curl -s http://h/README.md; curl -so /dev/null -w "%{http_code}" http://h/', ['/dev/null']],
  ['curl -T README.md http://h/; curl -d @README.md -H "o: O" http://h/', []],
  ['wget http://h/README.md; wget -qO- http://h/README.md', ['/p/-']],
  // What only reads or runs, and what nobody can know.
  ["sed -n '1,5p' src/a.ts", []],
  ['npm test; node build.js; make all; rm -rf build', []],
  ['git status && git diff src/a.ts && git stash list', []],
  ['sed -i d "$FILE"', ['/p/d']],
] as const)('RES-3: %s', async ([script, files]) => {
  expect((await editedPaths(script, '/p')).files).toEqual(files);
});

test.for([
  ['gcc -o src/a.ts b.c', ['/p/src/a.ts']],
  ['esbuild a.ts --outfile=src/a.js', ['/p/src/a.js']],
  ['openssl rand -out README.md 8', ['/p/README.md']],
  ['tar -cf a.tar src', ['/p/a.tar']],
  ['node report.js --output README.md', ['/p/README.md']],
  ['grep -o README.md docs/a.md; rm src/a.ts; touch src/a.ts; find . -name a.ts; chmod +x src/a.ts', []],
] as const)('COORD-1: output of any program: %s', async ([script, outputs]) => {
  expect((await editedPaths(script, '/p')).outputs).toEqual(outputs);
});

test.for([
  // Files.
  ['git checkout .', 'checkout'],
  ['git checkout HEAD -- src', 'checkout'],
  ['cd src && git restore .', 'restore'],
  ['git -C lib checkout -f', 'checkout'],
  ['git rm a.txt', 'rm'],
  ['git mv a.txt b.txt', 'mv'],
  ['git reset --hard HEAD~1 && npm test', 'reset'],
  ['git stash', 'stash'],
  ['git stash -u && npm test', 'stash'],
  ['git stash drop', 'stash'],
  ['git clean -fd', 'clean'],
  ['git clean -fdebin', 'clean'],
  ['git checkout-index -fa --prefix=./', 'checkout-index'],
  ['git read-tree -mu HEAD', 'read-tree'],
  ['git checkout-index -fa && npm test', 'checkout-index'],
  ['git apply fix.patch', 'apply'],
  ['git apply --check --apply fix.patch', 'apply'],
  ['git submodule deinit --all', 'submodule'],
  // HEAD, branches and commits.
  ['git checkout main', 'checkout'],
  ['git checkout -b other', 'checkout'],
  ['git switch -c other', 'switch'],
  ['git revert --no-edit HEAD', 'revert'],
  ['git cherry-pick main~2', 'cherry-pick'],
  ['git commit -q --amend --no-edit', 'commit'],
  ['git commit --ame', 'commit'],
  ['git merge other', 'merge'],
  ['git rebase -i HEAD~2', 'rebase'],
  ['git reset HEAD~1', 'reset'],
  ['git update-ref refs/heads/main HEAD~1', 'update-ref'],
  ['git symbolic-ref HEAD refs/heads/other', 'symbolic-ref'],
  ['git am fix.patch', 'am'],
  ['git pull', 'pull'],
  ['git push origin HEAD', 'push'],
  ['git fetch origin main:main', 'fetch'],
  ['git branch -f main HEAD~1', 'branch'],
  ['git branch -D other', 'branch'],
  ['git branch -M other', 'branch'],
  ['git tag v1', 'tag'],
  ['git remote remove origin', 'remote'],
  ['git bisect start', 'bisect'],
  ['git worktree add -B main /tmp/x', 'worktree'],
  ['git worktree remove --force /tmp/x', 'worktree'],
  ['git filter-branch --all', 'filter-branch'],
  // However it is called.
  ['git -c user.name=x --no-pager revert HEAD', 'revert'],
  ["bash -c 'git revert HEAD'", 'revert'],
  ["bash -lc 'git revert HEAD'", 'revert'],
  ["/bin/bash -l -c 'git revert HEAD'", 'revert'],
  ["bash -euo pipefail -c 'cd . && git revert HEAD'", 'revert'],
  ["bash --norc -c -- 'git revert HEAD'", 'revert'],
  ["bash -c -- 'git revert HEAD'", 'revert'],
  ["sh -c -e 'git revert HEAD'", 'revert'],
  ['env A=1 timeout 9 git revert HEAD', 'revert'],
  ['echo HEAD | xargs git revert', 'revert'],
  ['git co main', 'co'],
  ['git $WHAT HEAD', '$WHAT'],
  ['git init demo; git revert HEAD', 'revert'],
] as const)('COORD-1: %s is no command of git that proves something', async ([script, command]) => {
  expect((await editedPaths(script, '/p')).git).toEqual([
    { command, top: expect.stringMatching(/^\/p(?:\/|$)/) },
  ]);
});

test.for([
  'git status --short && git --no-pager diff src/a.ts && git log -p -3 --stat && git show HEAD:src/a.ts',
  'git -c core.pager=cat blame a.txt; git grep x; git ls-files; git rev-parse HEAD; git --version; git help',
  'git stash list; git stash show -p; git worktree list; git branch; git branch -a --contains HEAD; git tag -l',
  'git remote -v; git remote show origin; git reflog; git config user.name; git symbolic-ref --short HEAD; git submodule status',
  'git worktree add --detach /tmp/x HEAD~1 && git worktree remove /tmp/x; git worktree prune',
  'git archive HEAD | tar -xC /tmp/x; git clone . /tmp/y; git checkout-index -a --prefix=/tmp/x/',
  'git clean -n; git clean -fdX; git apply --check fix.patch; git apply --stat fix.patch; git fetch origin',
  'git add -A; git commit -m "Add a test"; git commit -am "--amend is for others"; git update-index --refresh',
  'cd /tmp/none && git checkout main; git -C /tmp/none revert HEAD; cd "$X" && git revert HEAD',
  'mkdir demo && cd demo && git init -q && git checkout -b other && git reset --hard',
  'git init demo && git -C demo revert HEAD; git clone . d/copy && cd d/copy && git checkout main',
])('COORD-1: git may: %s', async (script) => {
  expect((await editedPaths(script, '/p')).git.filter(({ top }) => top.startsWith('/p'))).toEqual([]);
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
