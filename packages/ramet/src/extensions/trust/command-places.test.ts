import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { commandReach } from './command-reach.ts';

/** A repository with a script below a folder, where a command may go. */
const FILES = {
  '.git/HEAD': '',
  'x.sh': '',
  'pre.rb': '',
  'pre.lua': '',
  'pre.js': '',
  'pre.php': '',
  'inc.awk': '',
  'x.rb': '',
  'x.lua': '',
  'x.js': '',
  'x.php': '',
  'sub/x.sh': '',
  'sub/x2.sh': '',
  'sub/tools/jq': '',
  'sub/tools/x.sh': '',
  'sub/lib/m.rb': '',
  'sub/lib/Foo/Bar.pm': '',
  'sub/lib/a.rake': '',
  'own/.git/HEAD': '',
  'own/tools/x.sh': '',
  'own/deep/k': '',
  'home/x.sh': '',
  'lefthook-local.yml': '',
  '.lefthook/pre-commit/x.sh': '',
  '.mise/tasks/x': '',
  'CTestTestfile.cmake': '',
  'own-two/x.sh': '',
  'tool.py': '',
  'sub/m.py': '',
  'sub/m.js': '',
  'sub/m.lua': '',
  'sub/a.mk': '',
  'sub/c.yml': '',
  'sub/Makefile': '',
  'sub/package.json': '{}',
  'sub/x.pl': '',
};

let root = '';
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-test-')));
  writeFiles(root, FILES);
  return () => rmSync(root, { recursive: true, force: true });
});

/** Whether another content of the file would stop the command, or every file does. */
function counts(command: string, file: string): boolean {
  const texts = command.replaceAll('%ROOT', root);
  const { paths, folders } = commandReach([texts], root, [root]);
  const path = join(root, file);
  return paths.some((one) => one.path === path) || folders.some((one) => path.startsWith(`${one}/`));
}

/** Each command with a file that it runs. All of them passed, and nothing was listed, before words stood for every folder. */
type Cases = readonly (readonly [command: string, file: string])[];

const JQ = 'sub/tools/jq';
const X = 'sub/x.sh';

const MOVED: Cases = [
  ['cd sub && "$PWD/tools/jq" .', JQ],
  ['cd sub && $(pwd)/tools/jq .', JQ],
  ['cd sub && `pwd`/tools/jq .', JQ],
  ['cd sub && "$(pwd -P)/tools/jq" .', JQ],
  ['cd sub && bash "$PWD"/tools/jq .', JQ],
  ['cd "$CLAUDE_PROJECT_DIR/sub" && bash "$(pwd)/tools/jq" .', JQ],
  ['cd sub; D=$(pwd); sh $D/tools/jq .', JQ],
  ['cd sub; D=$PWD; cd ..; sh $D/tools/jq .', JQ],
  ['cd sub; PATH=$PWD/tools:$PATH; jq .', JQ],
  ['cd sub; export PATH="$PWD/tools:$PATH"; jq .', JQ],
  ['cd sub && PATH="$(pwd)/tools:$PATH" jq .', JQ],
  ['(cd sub; exec ${PWD}/tools/jq .)', JQ],
  ['cd sub; ~+/tools/jq .', JQ],
  ['cd sub/tools; cd ..; "$OLDPWD/jq" .', JQ],
  ['cd sub; cd -; $OLDPWD/tools/jq .', JQ],
  ['pushd sub; "$PWD/tools/jq" .', JQ],
  ['pushd sub; cd ..; popd; $PWD/x.sh', X],
  ['pushd sub; pushd tools; popd; "$OLDPWD/jq"', JQ],
  ['CDPATH=sub; cd tools; "$PWD/jq" .', JQ],
  ['CDPATH=%ROOT/sub; cd tools; "$PWD/jq" .', JQ],
  ["env -C sub sh -c '$PWD/tools/jq .'", JQ],
  ["cd sub && bash -c '$PWD/tools/jq .'", JQ],
  ["cd sub && eval '$PWD/tools/jq .'", JQ],
  ['eval \'cd sub\'; "$PWD/tools/jq" .', JQ],
  ['cd sub; "$(dirname "$PWD/tools/x.sh")/jq"', JQ],
  ['cd sub/tools; sh "$(dirname "$PWD")/x.sh"', X],
  ['cd sub/tools; sh "$(dirname "$(pwd)")/x.sh"', X],
  ['cd sub/tools; D=${PWD%/tools}; sh "$D/x.sh"', X],
  ['cd sub; sh "$(readlink -f "$PWD")/x.sh"', X],
  ['PWD=home; cd sub; sh $PWD/x.sh', X],
  // Another repository inside, and what the answer of git is made into.
  ['cd own/deep && sh "$(git rev-parse --show-toplevel)/tools/x.sh"', 'own/tools/x.sh'],
  ['cd own/deep; T=$(git rev-parse --show-toplevel); sh "$T/tools/x.sh"', 'own/tools/x.sh'],
  ['env -C own/deep sh -c \'sh "$(git rev-parse --show-toplevel)/tools/x.sh"\'', 'own/tools/x.sh'],
  ['sh "$(git rev-parse --show-toplevel | sed s,$,/sub,)/x.sh"', X],
  ['sh "$(git rev-parse --show-toplevel)/$(git rev-parse --show-toplevel; echo sub)/x.sh"', X],
  ['sh "$(git rev-parse --show-toplevel || echo sub)/x.sh"', X],
  ['cd sub; sh "$(git rev-parse --show-toplevel 2>/dev/null || pwd)/x.sh"', X],
];

const CHANGED: Cases = [
  ['x=sub/x.shh; y=${x%h}; sh $y', X],
  ['x=sub/z.sh; y=${x/z/x}; sh $y', X],
  ['x=1; y=${x:+sub/x.sh}; sh $y', X],
  ['x=$((1 + 1)); sh sub/x$x.sh', 'sub/x2.sh'],
  ['for i in {1..3}; do sh sub/x$i.sh; done', 'sub/x2.sh'],
  ['sh sub/x{1..3}.sh', 'sub/x2.sh'],
  ['X=x.sh; n=X; printf -v "$n" sub/x.sh; sh $X', X],
  ['X=x.sh; n=X; read "$n" < list; sh $X', X],
  ['X=x.sh; let "$n"; sh $X', X],
  ['_=x.sh; true sub/x.sh; sh $_', X],
  ['REPLY=x.sh; read -r < list; sh "$REPLY"', X],
  ['BASH_SOURCE=x.sh; sh "$BASH_SOURCE"', X],
  ['OPTARG=x.sh; getopts a: o; sh $OPTARG', X],
  ['IFS=X; a=shXsub/x.sh; $a', X],
  ['sh "$CLAUDE_PROJECT_DIR"/sub/$\'x.sh\'', X],
  ["D=sub; sh $D/$'\\x78.sh'", X],
  ['alias ls="sh $X"\nls', X],
  ["D=sub; trap 'sh $D/x.sh' EXIT", X],
  ["trap 'sh $D/x.sh' EXIT; D=sub", X],
  ['bash -c \'sh "$(dirname "$0")/x.sh"\' sub/a', X],
  ['hash -p $X jq; jq', X],
  ['enable -f $X y; y', X],
  ['complete -C $X y', X],
  ['GIT_PAGER=$X git -p log', X],
  ['EDITOR=$X git commit', X],
  ['LUA_INIT=@$X lua x.lua', X],
  ['PYTHONSTARTUP=$X python3 -i -c 1', X],
];

const LOADED: Cases = [
  ['ruby -r./pre x.rb', 'pre.rb'],
  ['ruby -wr./pre x.rb', 'pre.rb'],
  ['RUBYOPT=-r./pre ruby x.rb', 'pre.rb'],
  ['RUBYOPT="-w -r./pre" ruby x.rb', 'pre.rb'],
  ['export RUBYOPT=-r./pre; ruby x.rb', 'pre.rb'],
  ['lua -lpre x.lua', 'pre.lua'],
  ['lua5.4 -lpre x.lua', 'pre.lua'],
  ['node -r./pre x.js', 'pre.js'],
  ['NODE_OPTIONS=-r./pre node x.js', 'pre.js'],
];

const ELSEWHERE: Cases = [
  ['cd own; sh "$PWD-two/x.sh"', 'own-two/x.sh'],
  ['sh "${PWD}x/x.sh"', 'home/x.sh'],
  ['D=$PWD; cd own; sh "${D}x/x.sh"', 'home/x.sh'],
  ['cd own; sh "$(dirname "$PWD/x")-two/x.sh"', 'own-two/x.sh'],
  ['cd own; sh "$(realpath .)-two/x.sh"', 'own-two/x.sh'],
  ['cd own; D=$(cd . && pwd); sh "$D-two/x.sh"', 'own-two/x.sh'],
  ['cd sub; sh "/$PWD/x.sh"', X],
  ["echo 'D=sub; sh $D/x.sh' > t.sh; sh t.sh", X],
  ["echo 'D=sub; sh $D/x.sh' | tee t.sh; sh t.sh", X],
  ["su -c 'D=sub; sh $D/x.sh'", X],
  ["script -c 'cd sub; sh $PWD/x.sh' /dev/null", X],
  ["flock l -c 'cd sub; sh $PWD/x.sh'", X],
  ["env -S 'sh ${X}'", X],
  ["watch 'cd sub; sh $PWD/x.sh'", X],
  ["find . -exec sh -c 'cd sub; sh $PWD/x.sh' \\;", X],
  ["git -c core.pager='cd sub; sh $PWD/x.sh' -p log", X],
  ["git -c core.pager='sh $X' -p log", X],
  ["git rebase --exec 'cd sub; sh $PWD/x.sh' HEAD", X],
  ["git bisect run sh -c 'cd sub; sh $PWD/x.sh'", X],
  ["git submodule foreach 'cd sub; sh $PWD/x.sh'", X],
  ["GIT_PAGER='cd sub; sh $PWD/x.sh' git -p log", X],
  ["GIT_SSH_COMMAND='cd sub; sh $PWD/x.sh' git fetch", X],
  ["rsync -e 'sh $X' a b:", X],
  ["tar -I 'sh $X' -cf a.tar f", X],
  ["parallel 'cd sub; sh $PWD/x.sh' ::: a", X],
  ["npx -c 'cd sub; sh $PWD/x.sh'", X],
  ["concurrently 'cd sub; sh $PWD/x.sh'", X],
  ["nodemon --exec 'cd sub; sh $PWD/x.sh'", X],
  ["tmux new -d 'cd sub; sh $PWD/x.sh'", X],
  ['awk \'BEGIN{system("cd sub; sh $PWD/x.sh")}\'', X],
  ["git -c credential.helper='!./x.sh' fetch", 'x.sh'],
  ['git --config-env=core.pager=P -p log', 'x.sh'],
  ['PYTHONBREAKPOINT=tool.f python3 -c "breakpoint()"', 'tool.py'],
  ['PYTHONUSERBASE=sub python3 -c 1', 'sub/lib/python3.11/site-packages/usercustomize.py'],
  ['LUA_PATH="./sub/?.lua" lua -l m', 'sub/m.lua'],
  ['LUA_PATH="./sub/?.lua;;" lua -e "require(\'m\')"', 'sub/m.lua'],
  ["export D=sub; bash -c 'sh ${D:-home}/x.sh'", X],
  ["D=sub bash -c 'sh ${D:-home}/x.sh'", X],
  ["env D=sub bash -c 'sh ${D:-home}/x.sh'", X],
  ["D=home; eval 'D=sub'; sh $D/x.sh", X],
  ["D=home; trap 'D=sub' USR1; sh $D/x.sh", X],
  ['pushd sub; pushd tools; sh ~+1/x.sh', X],
  ['cd - ; sh x.sh', X],
  ['sh "$OLDPWD/x.sh"', X],
  ['cd "$OLDPWD"; sh x.sh', X],
  ['cd sub; for f in $PWD/x.sh; do sh "$f"; done', X],
  ['cd sub; cp "$PWD/x.sh" /tmp/y.sh; sh /tmp/y.sh', X],
  ['cd sub; sh < "$PWD/x.sh"', X],
  ['cd sub; . "$PWD/x.sh"', X],
  ['cd sub; node -r "$PWD/m" -e 1', 'sub/m.js'],
  ['cd sub; python3 "$PWD/m.py"', 'sub/m.py'],
  ['cd sub; make -f "$PWD/a.mk"', 'sub/a.mk'],
  ['cd sub; git -c core.hooksPath="$PWD/tools" commit', JQ],
  ['cd sub; docker compose -f "$PWD/c.yml" up', 'sub/c.yml'],
];

/** What was right before. */
const KNOWN: Cases = [
  ['find sub -name "*.js" -exec node -e \'require("{}")\' \\;', 'sub/m.js'],
  ['find sub -exec python3 -c \'import runpy; runpy.run_path("{}")\' \\;', 'sub/m.py'],
  ['cd sub/tools; cd ..; cd -; ./jq', JQ],
  ['cd sub; sh "$(realpath .)/x.sh"', X],
  ['D=$(cd sub; pwd); sh "$D/x.sh"', X],
  ['D=$(cd sub && echo $PWD); sh "$D/x.sh"', X],
  ['HOME=home; cd; sh x.sh', 'home/x.sh'],
  ['set -- sub/x.sh; sh "$1"', X],
  ["export D=x; bash -c 'sh sub/$D.sh'", X],
  ['node --import "file://$PWD/pre.js" x.js', 'pre.js'],
  ["sh <<'EOF'\ncd sub\nsh $PWD/x.sh\nEOF", X],
  ["echo 'cd sub; sh $PWD/x.sh' | sh", X],
  ['cd sub; for f in "$PWD"/*; do sh "$f"; done', X],
  ['lua -l pre x.lua', 'pre.lua'],
  ['perl -Isub/lib -MFoo::Bar=a -e 1', 'sub/lib/Foo/Bar.pm'],
  ['php -d auto_prepend_file=pre.php x.php', 'pre.php'],
];

describe('SEC-1: a file that a command runs counts', () => {
  test.for(MOVED)('after a move: %s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for(CHANGED)('where the shell changes a value: %s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for(LOADED)('as the value of an option or variable: %s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for(ELSEWHERE)('as a part of a name, in a word that is a script: %s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for(KNOWN)('%s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for([
    'cd sub && "$PWD/tools/jq" .',
    'cd "$CLAUDE_PROJECT_DIR/sub" && bash "$(pwd)/x.sh"',
    'T=$(git rev-parse --show-toplevel 2>/dev/null || pwd); sh "$T/x.sh"',
    'D=$(cd "$CLAUDE_PROJECT_DIR" && pwd); sh "$D/x.sh"',
    'export D=sub; bash -c \'sh "$D/x.sh"\'',
    'cd sub/tools; cd ..; sh "$OLDPWD/x.sh"',
    'trap "rm -f t" EXIT; sh x.sh',
    'while IFS= read -r f; do echo "$f"; done | sh x.sh',
    "PS4='+ $LINENO '; sh x.sh",
    'ruby -r./pre x.rb',
    'NODE_OPTIONS="--max-old-space-size=4096" node x.js',
    'git commit -m "a $5 b"',
    'FILE=$(cat); npx prettier --write "$FILE"',
    `python3 -c "import json,sys; d=json.load(sys.stdin).get('a',{}); sys.exit(2 if d else 0)"`,
    'node -e "const d={}; console.log(d)"',
  ])('%s: is followed, so that other files do not count', (command) => {
    expect(counts(command, 'home/x.sh')).toBe(false);
  });
});

describe('SEC-1: what a program loads by itself is listed', () => {
  const listed = (command: string): readonly string[] => {
    const { loads, unknown } = commandReach([command], root, [root]);
    return [...new Set([...loads, ...unknown])];
  };

  test.for([
    ...['pytest', 'ctest', 'tox', 'nox', 'rspec', 'jest', 'mypy .', 'ruff check .', 'black .', 'isort sub'],
    ...[
      'prettier --write x.js',
      'biome check',
      'cmake --build b',
      'cmake .',
      'terraform apply',
      'bazel test //a',
    ],
    ...[
      'vagrant up',
      'lefthook run pre-commit',
      'pre-commit run',
      'mise run x',
      'volta run x',
      'rake -Rsub/lib',
    ],
    ...['cargo test', 'docker compose up', 'bundle exec rspec', 'turbo run x', 'deno task x', 'ssh host ls'],
    ...['/usr/bin/pytest -q', '/opt/tool x', 'node_modules/.bin/jest', 'timeout 5 pytest', 'flock l frob'],
  ])('%s', (command) => {
    expect(listed(command)).not.toEqual([]);
  });

  test.for([
    ['python3 -m pytest', 'pytest'],
    ['python3 -m coverage run x', 'coverage'],
    ['git lfs pull', 'git lfs'],
    ['node --test', 'node --test'],
    ['npm exec frob', 'frob'],
    ['npx frob', 'frob'],
    ['cargo test', 'cargo test'],
    ['/usr/bin/pytest -q', 'pytest'],
    ['php -d a=b -z ext.so x.php', 'php'],
    ['ruby --external-encoding=x x.rb', 'ruby'],
    ['perl -d x.pl', 'perl'],
    ['python3 -X presite=a -c 1', 'python3'],
    ['php -z ext.so x.php', 'php'],
    ['node --experimental-config-file=c x.js', 'node'],
  ] as const)('%s: %s', ([command, program]) => {
    expect(listed(command)).toContain(program);
  });

  test.for([
    ...[
      'sh x.sh',
      './x.sh',
      'cat x.sh | jq . | tail -3',
      'git status',
      'node x.js',
      'node --no-warnings x.js',
    ],
    ...[
      'python3 -u tool.py',
      'python3 -m json.tool',
      'python3 -m sub.m',
      'perl -ne print x.sh',
      'ruby -w x.rb',
    ],
    ...['npm test', 'bash -euo pipefail x.sh', 'timeout 5 sh x.sh', 'flock l sh x.sh', 'nice -n 5 sh x.sh'],
  ])('%s: is not listed', (command) => {
    expect(listed(command)).toEqual([]);
  });

  test('lefthook reads what a person has for themselves, and mise runs files by their names', () => {
    expect(counts('lefthook run pre-commit', 'lefthook-local.yml')).toBe(true);
    expect(counts('git commit', '.lefthook/pre-commit/new.sh')).toBe(true);
    expect(counts('mise run x', '.mise/tasks/x')).toBe(true);
    expect(counts('ctest', 'CTestTestfile.cmake')).toBe(true);
  });
});
