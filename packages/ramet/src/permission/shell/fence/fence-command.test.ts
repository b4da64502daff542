import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/fixtures/temporary.ts';
import type { WriteFence } from '../../../sandbox/write-fence.ts';
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
async function refusal(script: string, own = fence()): Promise<string | null> {
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
    // A file that is opened to be read, and opened again by its number.
    ...['tee /dev/fd/9 9< M/a.txt', 'exec 9<M/a.txt; echo x > /proc/self/fd/9', 'tee /dev/stdin < M/a.txt'],
    ...['tee /dev/stderr 2<&0 < M/a.txt', 'bash -c "tee /dev/stderr" 2< M/a.txt', 'tee /dev/fd/9/a 9< M'],
    ...['exec {f}< M/a.txt; tee /dev/fd/10', 'rm -rf /proc/self/fd/2'],
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
    // Home.
    ...[
      'rm -rf ~/x',
      'rm -rf $HOME/x',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
      'rm -rf "${HOME}/x"',
      'echo x > ~/e',
      'echo x >> ~/.bashrc',
      'echo x >> "$HOME/.bashrc"',
      'cp a.txt ~/',
      'mv a.txt ~/b',
      'sed -i s/a/b/ ~/x',
      'chmod +x ~/x',
      'touch ~/x',
      'unlink ~/x',
      'rmdir ~/x',
      'tee -a ~/x < a',
      'dd if=a of=~/x',
    ],
    // Moves.
    ...[
      'builtin cd M && touch n',
      'command cd M && touch n',
      'time cd M; touch n',
      'for i in 1; do cd M; done; touch n',
      'for i in 1; do cd /opt; done; touch n',
      'builtin cd /opt && touch n',
      'CDPATH=/mnt cd out && touch n',
      'ln -sfn /opt l; cd l; touch n',
      'ln -s /opt l && touch l/n',
      'env -C /opt touch n',
      'env --chdir=/opt touch n',
      'cd /opt && touch n',
    ],
    // Moves that do not look like one, and what changes where one leads.
    ...[
      'x=cd; $x M; touch y',
      'x=cd; $x ../main; npm test',
      'x=cd; "$x" M && git commit -m x',
      'x=cd; command $x M; touch y',
      'x="cd M"; $x; touch y',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
      'a[0]=$(printf cd); ${a[0]} M; touch y',
      'x=$(printf cd); $x M; touch y',
      'read x < f; $x ../main; touch y',
      'for x in cd pushd; do $x M; done; touch y',
      'x="cd M"; eval "$x"; touch y',
      'eval "cd M"; touch y',
      'eval "cd $X"; touch y',
      "trap 'cd M' DEBUG; true; touch y",
      'shopt -s expand_aliases\nalias c=cd\nc M\ntouch y',
      'shopt -s cdable_vars; X=M; cd X; touch y',
      'mapfile -C "cd M #" -c 1 x < f; touch y',
      'printf -v CDPATH %s M; cd src; touch y',
      'printf -v "$n" %s M; cd src; touch y',
      'read CDPATH <<< M; cd src; touch y',
      'OLDPWD=M; cd -; touch y',
      'f() { cd M; }; f; touch y',
      'f() { cd "$1"; }; f M; touch y',
      'f() { touch y; }; X=M; cd "$X"; f',
      'cd a/b && mv ../../a/b ../../c && cd ../.. && cd main && touch y',
      'X=a; pushd $X; popd; cd ../main; touch x',
    ],
    // What the shell expands.
    ...[
      'touch /opt/{n,m}',
      'touch {a,/opt/n}',
      'touch {/opt/n,b}{,a}{,b}{,c}{,d}{,e}{,f}',
      'touch {,a}{,b}{,c}{,d}{,e}{,f}{,g}{/opt/n,b}',
      'X=/opt; touch $X/n',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
      'X=/opt; touch "${X}/n"',
      'echo x > "$X/$Y/n"',
      'X=/opt; Y=b; echo x > "$X/$Y/n"',
      'X=~/a; touch "$X"',
      'touch $X/n',
      'rm -rf $(cat list)',
      'f() { touch "$1"; }; f /opt/n',
      'coproc touch /opt/n',
      "trap 'touch /opt/n' EXIT",
      'X=/opt; bash -c "touch $X/n"',
      'touch "$(dirname /opt/x)/n"',
    ],
    // Git.
    ...[
      'git -C /opt init e',
      'GIT_DIR=M/.git git update-ref refs/heads/x HEAD',
      'env GIT_DIR=M/.git git update-ref refs/heads/x HEAD',
      'export GIT_DIR=M/.git; git commit -m x',
      'git init /opt/e',
      'git clone . /opt/e',
      'git archive -o /opt/a.tar HEAD',
      'git archive --output=/opt/a.tar HEAD',
      'git bundle create /opt/b HEAD',
      'git format-patch -o /opt HEAD~1',
      'git diff --output=/opt/d',
      'git log --output=/opt/d',
      'cd /opt && git init',
    ],
    // Programs that are known to write.
    ...[
      'find /opt -delete',
      'find /opt -name x -exec rm {} +',
      'find . -exec touch /opt/n \\;',
      'find . -exec sh -c "touch /opt/n" \\;',
      'echo /opt/n | xargs touch',
      'xargs touch /opt/n < a',
      'find /opt -name x | xargs rm',
      'sort -o /opt/s a',
      'sort a -o/opt/s',
      'tar cf /opt/a.tar .',
      'tar -czf /opt/a.tgz .',
      'tar xf a.tar -C /opt',
      'split -l 1 a /opt/p',
      'curl -o /opt/c http://127.0.0.1/',
      'curl --output /opt/c http://127.0.0.1/',
      'curl -sSLo /opt/c http://127.0.0.1/',
      'wget -O /opt/c http://127.0.0.1/',
      'wget -P /opt http://127.0.0.1/',
      'mktemp -p /opt',
      'mktemp /opt/XXXXXX',
      'setsid touch /opt/n',
      'taskset 1 touch /opt/n',
      'prlimit --nofile=9 touch /opt/n',
      "watch 'touch /opt/n; true'",
      "script --command 'touch /opt/n' log",
      'nohup touch /opt/n',
      'gcc -o /opt/a a.c',
      'make -C M',
    ],
  ])('%s is refused', async (script) => {
    expect(await refusal(script)).not.toBeNull();
  });

  test.for([
    'echo x > a.txt',
    'echo x > ../notes.txt',
    'echo x > /dev/null 2>&1',
    // The command's own output, whatever Ramet's is.
    ...['echo x | tee /dev/stderr', 'curl -so /dev/stdout http://127.0.0.1/', 'cp a.txt /dev/stdout'],
    ...['echo x > /proc/self/fd/2', 'echo x | tee -a /dev/fd/2', 'dd if=a.txt of=/dev/stderr'],
    ...['ls | tee /dev/stderr | xargs rm', 'bash -c "ls | tee /dev/stderr" < a.txt', 'tee /proc/self/fd/77'],
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
    'for d in a b; do cd "$d" && npm test; cd ..; done',
    'for d in packages/*; do (cd "$d" && npm run build); done',
    'for d in packages/*/; do pushd "$d" > /dev/null; npm test; popd > /dev/null; done',
    'pushd a >/dev/null; npm test; popd; make',
    'cd "$(git rev-parse --show-toplevel)" && git add -A && git commit -m x',
    'cd "$(git rev-parse --show-toplevel)"; npm test',
    'PY=$(command -v python3); $PY setup.py build && touch x',
    '$CC -c x.c && touch x',
    'RUN="npx vitest"; cd a; $RUN run; touch x',
    'source .venv/bin/activate && pytest && touch x',
    '. ./env.sh; make',
    'eval "$(fnm env)"; npm test',
    "trap 'rm -f a.lock' INT; make; touch x",
    'shopt -s globstar nullglob; for f in src/**/*.ts; do sed -i s/a/b/ "$f"; done',
    'alias ll="ls -l"; make; touch x',
    'printf -v n %03d 7; cd a && touch "f$n"',
    'read -r v < version; cd a && touch x',
    'export HOME=$(mktemp -d); cd a && npm test',
    'D=a; cd "$D" && mv x.js x.ts && cd .. && make',
    'set -euo pipefail; D=a; cd "$D"; make; cd ..; make',
    'f() { cd "a" && make; }; f',
    'D=a; cd $D && touch x',
    'cd "$RAMET_WORKTREE" && npm test',
    'R=W/a; cd $R && make',
    'R=W; cd "$R/b" && make',
    'cd $RAMET_WORKTREE/a && touch x',
    'OLD=$PWD; cd a; cd "$OLD"; touch x',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
    'cd "${DIR:-a}" && touch x',
    'cd "$(dirname a/x)" && touch x',
    'cat /etc/hosts',
    'cp /etc/hosts .',
    'cp ~/.npmrc .',
    'diff ../x y',
    'node /opt/script.js',
    'npm test > out.log 2>&1',
    'npx tsc -p . --outDir dist',
    'make -C a -j4',
    "sed -n '1,5p' ~/x",
    "sed -i '/etc/d' a.txt",
    "sed -i -e '/usr/d' a.txt",
    "perl -pi -e 's/a/b/' a.txt",
    'find . -name "*.ts" -delete',
    'find / -name x',
    'find . -name "*.ts" | xargs sed -i s/a/b/',
    "grep -rl '/api/v1' src | xargs sed -i 's#/api/v1#/api/v2#g'",
    'for f in *.ts; do sed -i s/a/b/ "$f"; done',
    'for f in $(git ls-files); do sed -i s/a/b/ "$f"; done',
    'git ls-files | while read -r f; do touch "$f"; done',
    'rm -f $(find . -name "*.o")',
    'mkdir -p src/{a,b}/c && touch src/{a,b}/c/x.ts',
    'NAME=x; echo "$NAME" > "out-$NAME.txt"',
    'echo x > "out-$(date +%s).log"',
    'f() { touch "$1"; }; f a.txt',
    "trap 'rm -f a.lock' EXIT; make",
    'T=$(mktemp -d); cp a.txt "$T/" && rm -rf "$T"',
    'touch "$TMPDIR/x"',
    'tar tf /opt/a.tar',
    'tar xf /opt/a.tar',
    'tar cf a.tar -C /etc hosts',
    'split -l 100 /etc/hosts',
    'touch -r /etc/hosts a',
    'curl -s http://127.0.0.1/ -o out.json',
    'curl -o /dev/null http://127.0.0.1/',
    'git clone /opt/repo here',
    'git commit -m "Change ~/x and $HOME"',
    'git diff --output=d.patch',
    'git format-patch -o out HEAD~1',
    'git log --oneline -o',
    'env FOO=/opt node x.js',
    'env -C a make',
    'time make',
    'command -v cd && make',
    'ln -s /usr/lib/x lib && ls',
    'ln -s /usr/lib/x . && make',
    'ln -s ../a b/l && touch b/l/x',
    'for d in a b; do cd $d; make; cd ..; done',
    'for i in 1 2 3; do touch "f$i"; done',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
    'f=a.ts; mv "$f" "${f%.ts}.js"',
    'x=$(cat a); echo "$x" > b.txt',
    'cat > a.sh <<EOF\ntouch $HOME/x\nEOF',
    'PATH=$PATH:/opt/bin make',
    './configure --prefix=/usr/local',
  ])('%s is let through', async (script) => {
    expect(await refusal(script)).toBeNull();
  });

  test.for(['harmless-commands.txt', 'reading-commands.txt'])('refuses nothing of %s', async (name) => {
    const lines = readFileSync(join(import.meta.dirname, '..', name), 'utf8').split('\n');
    const own = fence();
    const refused: string[] = [];
    for (const line of lines.filter((each) => each !== '' && !each.startsWith('#'))) {
      const found = await refusal(line.replaceAll('⏎', '\n'), own);
      if (found !== null) refused.push(`${line}: ${found}`);
    }
    expect(refused).toEqual([]);
  });

  test('says where to write instead', async () => {
    const own = fence();
    expect(await commandRefusal(own, `echo x > ${own.from}/src/a.ts`, own.root)).toContain(
      `Write ${own.root}/src/a.ts instead`,
    );
    expect(await commandRefusal(own, `cd ${own.from} && make`, own.root)).toContain(
      `Your worktree is ${own.root}`,
    );
    expect(await commandRefusal(own, 'x=cd; $x ../main; touch y', own.root)).toBe(
      `Where "$x ../main" leads is known only when it runs, or is not yours, and what follows it may write there. Your worktree is ${own.root}: commands start there. Write cd and the directory out, or leave the move out.`,
    );
  });
});
