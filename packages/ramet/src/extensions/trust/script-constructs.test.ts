import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { commandReach } from './command-reach.ts';

const FILES = {
  '.git/HEAD': '',
  '.githooks/pre-commit': '#!/bin/sh\n. lib/y.sh\n',
  'lib/x.sh': '#!/bin/sh\ntrue\n',
  'lib/y.sh': 'true\n',
  'lib/z.js': "import './deep.mjs';\n",
  'lib/deep.mjs': '',
  'lib/z.pl': '1;\n',
  'lib/z.rb': '',
  'lib/z.php': '',
  'lib/z.awk': '{ print }\n',
  'lib/z.sed': 's/a/b/\n',
  'lib/z.jq': 'import "m" as m; m::f\n',
  'lib/m.jq': 'def f: .;\n',
  'lib/near.py': '',
  'lib/pack/package.json': '{"main": "begin.js"}',
  'lib/pack/begin.js': '',
  'tools/tool': '#!/bin/sh\n',
  'tools/ls': '#!/bin/sh\n',
  'lib/z.lua': '',
  'lib/z.pm': '1;\n',
  'conf/rc': '--pre=lib/x.sh\n',
  'conf/config': '[core]\n  fsmonitor = lib/x.sh\n',
  'conf/.gitconfig': '[alias]\n  a = !sh lib/x.sh\n',
  'package.json': '{"scripts": {"x": "sh lib/x.sh"}}',
  Makefile: 'x:\n\tsh lib/x.sh\n',
};

let root = '';
let count = 0;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-test-')));
  return () => rmSync(root, { recursive: true, force: true });
});

interface Held {
  counts(file: string): boolean;
  readonly listed: readonly string[];
}

/** What counts, and what is listed, for a script with these lines in a repository of its own. */
function held(lines: string, more: Readonly<Record<string, string>> = {}): Held {
  const folder = join(root, String(++count));
  writeFiles(folder, {
    ...FILES,
    ...more,
    'hooks/m.sh': `#!/bin/bash\ncd "$CLAUDE_PROJECT_DIR"\n${lines}\n`,
  });
  const { paths, folders, unclear, loads, unknown } = commandReach(['bash hooks/m.sh'], folder, [folder]);
  expect(unclear).toBeNull();
  return {
    counts: (file) => {
      const path = join(folder, file);
      return paths.some((one) => one.path === path) || folders.some((one) => path.startsWith(`${one}/`));
    },
    listed: [...loads, ...unknown],
  };
}

const HOOKS = { '.git/config': '[core]\n\thooksPath = .githooks\n' };
const HUSKY = {
  '.git/config': '[core]\n\thooksPath = .husky/_\n',
  '.husky/_/pre-commit': '. "${0%/*}/h"\n',
  '.husky/_/h': 'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\nsh -e "$s" "$@"\n',
  '.husky/pre-commit': 'sh lib/x.sh\n',
};
const ALIAS = { '.git/config': '[alias]\n\thello = !bash lib/x.sh\n\tst = status\n' };

const GIT = [
  ['git add -A && git commit -qm x', '.githooks/pre-commit', HOOKS],
  ['git commit -qm x', 'lib/y.sh', HOOKS],
  ['git config core.hooksPath .githooks; git commit -qm x', '.githooks/pre-commit', {}],
  ['git config --local core.hooksPath .githooks; git commit -qm x', '.githooks/pre-commit', {}],
  ['git -c core.hooksPath=.githooks commit -qm x', '.githooks/pre-commit', {}],
  ['command git commit -qm x', '.githooks/pre-commit', HOOKS],
  ['timeout 5 git commit -qm x', '.githooks/pre-commit', HOOKS],
  ['git() { command git "$@"; }\ngit commit -qm x', '.githooks/pre-commit', HOOKS],
  ['G=git; $G commit -qm x', '.githooks/pre-commit', HOOKS],
  ['git "$@"', '.githooks/pre-commit', HOOKS],
  ['git hello', 'lib/x.sh', ALIAS],
  ['git st && git hello', 'lib/x.sh', ALIAS],
  ['git -c alias.z="!bash lib/x.sh" z', 'lib/x.sh', {}],
  ['git config alias.z "!bash lib/x.sh"; git z', 'lib/x.sh', {}],
  ['git -c core.fsmonitor=lib/x.sh status', 'lib/x.sh', {}],
  ['git -c "core.fsmonitor=$PWD/lib/x.sh" status', 'lib/x.sh', {}],
  ['git -ccore.fsmonitor=lib/x.sh status', 'lib/x.sh', {}],
  ['git --config-env=core.fsmonitor=X status', 'lib/x.sh', {}],
  ['git -c core.editor=./lib/x.sh commit', 'lib/x.sh', {}],
  ['git -c core.pager="sh lib/x.sh" log', 'lib/x.sh', {}],
  ['GIT_EDITOR=./lib/x.sh git commit --amend', 'lib/x.sh', {}],
  ['EDITOR="sh lib/x.sh" git commit --amend', 'lib/x.sh', {}],
  ['export GIT_SEQUENCE_EDITOR=lib/x.sh; git rebase -i HEAD~1', 'lib/x.sh', {}],
  ['env GIT_EDITOR=./lib/x.sh git commit', 'lib/x.sh', {}],
  ['env GIT_PAGER="sh lib/x.sh" git -p log', 'lib/x.sh', {}],
  ['GIT_PAGER="sh lib/x.sh" git -p log', 'lib/x.sh', {}],
  ['GIT_EXTERNAL_DIFF=lib/x.sh git diff', 'lib/x.sh', {}],
  ['GIT_SSH_COMMAND="sh lib/x.sh" git fetch', 'lib/x.sh', {}],
  ['GIT_EDITOR="$X" git commit', 'lib/x.sh', {}],
  [
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=lib/x.sh git status',
    'lib/x.sh',
    {},
  ],
  ['GIT_CONFIG_GLOBAL=conf/.gitconfig git a', 'lib/x.sh', {}],
  ['HOME=conf git a', 'lib/x.sh', {}],
  ['HOME=$PWD/conf; git a', 'lib/x.sh', {}],
  ['git --git-dir=conf status', 'lib/x.sh', {}],
  ['git --exec-path=tools tool', 'tools/tool', {}],
  ['git bisect run ./lib/x.sh', 'lib/x.sh', {}],
  ['git bisect run sh lib/x.sh', 'lib/x.sh', {}],
  ["git rebase --exec 'sh lib/x.sh' main", 'lib/x.sh', {}],
  ["git rebase -x 'sh lib/x.sh' main", 'lib/x.sh', {}],
  ["git rebase --exec='sh lib/x.sh' main", 'lib/x.sh', {}],
  ["git submodule foreach 'sh lib/x.sh'", 'lib/x.sh', {}],
  ['git submodule --quiet foreach sh lib/x.sh', 'lib/x.sh', {}],
  ["git filter-branch --tree-filter 'sh lib/x.sh'", 'lib/x.sh', {}],
  ['git difftool -y -x ./lib/x.sh', 'lib/x.sh', {}],
  ['git difftool --extcmd=./lib/x.sh', 'lib/x.sh', {}],
  ['git grep -O./lib/x.sh a', 'lib/x.sh', {}],
  ['git grep --open-files-in-pager=./lib/x.sh a', 'lib/x.sh', {}],
  ['git fetch --upload-pack ./lib/x.sh .', 'lib/x.sh', {}],
  ['git push --receive-pack=./lib/x.sh .', 'lib/x.sh', {}],
  ['git clone --template=.githooks . /tmp/y', '.githooks/pre-commit', {}],
  ['git clone -c core.fsmonitor=lib/x.sh . /tmp/y', 'lib/x.sh', {}],
  ["git clone 'ext::sh lib/x.sh' /tmp/y", 'lib/x.sh', {}],
  ['git commit -qm x', '.husky/pre-commit', HUSKY],
  [
    'git commit -qm x',
    'lib/x.sh',
    { '.git/hooks/pre-commit': '#!/bin/sh\nsh lib/x.sh\n', '.git/hooks/commit-msg.sample': 'eval $X' },
  ],
] as const;

const FED = [
  ["node <<'EOF'\nrequire('./lib/z.js');\nEOF", 'lib/deep.mjs'],
  ['node - <<EOF\nrequire("./lib/z.js")\nEOF', 'lib/z.js'],
  ['node --input-type=module <<"EOF"\nawait import("./lib/z.js")\nEOF', 'lib/deep.mjs'],
  ['node <<EOF\nrequire("./lib/$X")\nEOF', 'lib/z.js'],
  ["node <<'EOF'\nrequire(process.env.X)\nEOF", 'lib/z.js'],
  ["node <<'EOF'\nrequire('child_process').execSync('sh lib/x.sh')\nEOF", 'lib/x.sh'],
  ['node -e \'require("child_process").execSync("sh lib/x.sh")\'', 'lib/x.sh'],
  ['node -e \'import("./lib/z.js")\'', 'lib/deep.mjs'],
  ['node -p \'require("./lib/pack")\'', 'lib/pack/begin.js'],
  ['node --eval=\'require("./lib/z.js")\'', 'lib/deep.mjs'],
  ['node <<< \'require("./lib/z.js")\'', 'lib/z.js'],
  ['echo \'require("./lib/z.js")\' | node', 'lib/z.js'],
  ['printf \'require "./lib/z.pl";\' | perl', 'lib/z.pl'],
  ['cat <<EOF | node\nrequire("./lib/z.js")\nEOF', 'lib/z.js'],
  ['node < lib/z.js', 'lib/deep.mjs'],
  ['perl <<\'EOF\'\nrequire "./lib/z.pl";\nEOF', 'lib/z.pl'],
  ['perl <<< \'require "./lib/z.pl";\'', 'lib/z.pl'],
  ['ruby <<EOF\nrequire_relative "lib/z"\nEOF', 'lib/z.rb'],
  ['ruby - <<EOF\nload "lib/z.rb"\nEOF', 'lib/z.rb'],
  ['php <<\'EOF\'\n<?php include "lib/z.php";\nEOF', 'lib/z.php'],
  ['php -r \'require "lib/z.php";\'', 'lib/z.php'],
  ['lua <<EOF\ndofile("lib/z.lua")\nEOF', 'lib/z.lua'],
  ['perl -e \'system("sh lib/x.sh")\'', 'lib/x.sh'],
  ['perl -e \'do "./lib/z.pl"\'', 'lib/z.pl'],
  ['ruby -e \'system "sh lib/x.sh"\'', 'lib/x.sh'],
  ["ruby -e '`sh lib/x.sh`'", 'lib/x.sh'],
  ['ruby -e \'load "lib/z.rb"\'', 'lib/z.rb'],
  ['python3 <<EOF\nimport subprocess; subprocess.run(["sh", "lib/x.sh"])\nEOF', 'lib/x.sh'],
  ['python3 -c \'import os; os.system("sh lib/x.sh")\'', 'lib/x.sh'],
  ["python3 -c 'from lib import near'", 'lib/near.py'],
  ['python3 <<EOF\nfrom lib import near\nEOF', 'lib/near.py'],
  ["python3 <<< 'from lib import near'", 'lib/near.py'],
  ['cat <<EOF\n$(sh lib/x.sh)\nEOF', 'lib/x.sh'],
  ['bash <<< "sh lib/x.sh"', 'lib/x.sh'],
  ['echo "sh lib/x.sh" | bash', 'lib/x.sh'],
  ['cat lib/x.sh | bash', 'lib/x.sh'],
  ['bash <(cat lib/x.sh)', 'lib/x.sh'],
  ['source <(cat lib/x.sh)', 'lib/x.sh'],
  ['source /dev/stdin <<EOF\nsh lib/x.sh\nEOF', 'lib/x.sh'],
  ['source /dev/stdin <<< "$(cat lib/x.sh)"', 'lib/x.sh'],
  ['bash -s a < lib/x.sh', 'lib/x.sh'],
  ['bash -s a <<EOF\nsh lib/x.sh\nEOF', 'lib/x.sh'],
  ['eval "$(cat lib/x.sh)"', 'lib/x.sh'],
  ['bash -c "$(cat lib/x.sh)"', 'lib/x.sh'],
  ['bash -c "`cat lib/x.sh`"', 'lib/x.sh'],
] as const;

const OTHERS = [
  ...[
    'npm run x',
    'npm test',
    'yarn x',
    'pnpm run x',
    'bun run x',
    'node --run x',
    'npx ./lib',
    'run-s x',
  ].map((line) => [line, 'lib/x.sh'] as const),
  ...['make x', 'make -C . x', 'gmake -f Makefile x', 'just x', 'task x', 'rake x', './gradlew x'].map(
    (line) => [line, 'lib/x.sh'] as const,
  ),
  ['awk -f lib/z.awk x', 'lib/z.awk'],
  ['awk -flib/z.awk x', 'lib/z.awk'],
  ['awk --file=lib/z.awk x', 'lib/z.awk'],
  ['gawk -i lib/z.awk 1', 'lib/z.awk'],
  ['gawk --include=lib/z.awk 1', 'lib/z.awk'],
  ['gawk \'@include "lib/z.awk"\n1\'', 'lib/z.awk'],
  ['awk \'BEGIN { system("sh lib/x.sh") }\'', 'lib/x.sh'],
  ['awk \'{ print | "sh lib/x.sh" }\'', 'lib/x.sh'],
  ["awk -v c='sh lib/x.sh' '{ print | c }'", 'lib/x.sh'],
  ['sed -f lib/z.sed x', 'lib/z.sed'],
  ['sed -flib/z.sed x', 'lib/z.sed'],
  ['sed -nf lib/z.sed x', 'lib/z.sed'],
  ['sed --file=lib/z.sed x', 'lib/z.sed'],
  ["sed '1e sh lib/x.sh' x", 'lib/x.sh'],
  ['jq -f lib/z.jq x', 'lib/z.jq'],
  ['jq -rf lib/z.jq x', 'lib/z.jq'],
  ['jq -r -L lib -f lib/z.jq x', 'lib/m.jq'],
  ['jq --from-file lib/z.jq x', 'lib/z.jq'],
  ['jq -L lib \'import "m" as m; m::f\' x', 'lib/m.jq'],
  ['jq -n \'include "lib/m"; f\'', 'lib/m.jq'],
  ['jq -n \'include "m" {search: "./lib"}; f\'', 'lib/m.jq'],
  ['find . -name x -exec ./lib/x.sh {} \\;', 'lib/x.sh'],
  ["find . -name x -exec sh -c './lib/x.sh' \\;", 'lib/x.sh'],
  ['find lib -name "*.sh" -exec bash {} \\;', 'lib/x.sh'],
  ['find lib -name "*.sh" | xargs -n1 bash', 'lib/x.sh'],
  ['ls lib/*.sh | xargs -I% sh %', 'lib/x.sh'],
  ["ls lib/*.sh | xargs -I% sh -c 'sh %'", 'lib/x.sh'],
  ['echo a | xargs ./lib/x.sh', 'lib/x.sh'],
  ['echo lib/x.sh | xargs env', 'lib/x.sh'],
  ['env -C lib ./x.sh', 'lib/x.sh'],
  ['env --chdir=lib ./x.sh', 'lib/x.sh'],
  ['env -S "sh lib/x.sh"', 'lib/x.sh'],
  ['env -i sh lib/x.sh', 'lib/x.sh'],
  ['(cd lib; ./x.sh)', 'lib/x.sh'],
  ['pushd lib; ./x.sh', 'lib/x.sh'],
  ['cd lib && . ./y.sh', 'lib/y.sh'],
  ['CDPATH=. ; cd lib; ./x.sh', 'lib/x.sh'],
  ...[
    'nohup',
    'setsid',
    'time',
    'nice',
    'exec',
    'command',
    'flock l',
    'sudo',
    'watch',
    'stdbuf -o0',
    'coproc',
  ].map((word) => [`${word} ./lib/x.sh`, 'lib/x.sh'] as const),
  ["flock l -c 'sh lib/x.sh'", 'lib/x.sh'],
  ["script -c 'sh lib/x.sh' l", 'lib/x.sh'],
  ['parallel ./lib/x.sh ::: a', 'lib/x.sh'],
  ['run-parts lib', 'lib/x.sh'],
  ['busybox sh lib/x.sh', 'lib/x.sh'],
  ['npx eslint src', 'package.json'],
  ['node_modules/.bin/eslint src', 'package.json'],
  ['./node_modules/.bin/vitest run', 'package.json'],
  ['vendor/bin/phpunit', 'package.json'],
  ['prettier --check src', 'package.json'],
  ['python3 -m lib.near', 'lib/near.py'],
  ['python3 lib/near.py', 'lib/near.py'],
  ['PYTHONPATH=lib python3 -c "import near"', 'lib/near.py'],
  ['PYTHONSTARTUP=lib/near.py python3 -i', 'lib/near.py'],
  ['RUBYOPT=-r./lib/z ruby -e 1', 'lib/z.rb'],
  ['NODE_OPTIONS="--require ./lib/z.js" node -e 1', 'lib/z.js'],
  ['env NODE_OPTIONS="--require ./lib/z.js" node -e 1', 'lib/z.js'],
  ['cross-env NODE_OPTIONS="--require ./lib/z.js" node -e 1', 'lib/z.js'],
  ['export NODE_OPTIONS="--require ./lib/z.js"; claude x', 'lib/z.js'],
  ['NODE_PATH=lib node -e \'require("z")\'', 'lib/z.js'],
  ['BASH_ENV=lib/y.sh bash -c true', 'lib/y.sh'],
  ['env BASH_ENV=lib/y.sh bash -c true', 'lib/y.sh'],
  ['ENV=lib/y.sh sh -i', 'lib/y.sh'],
  ['declare -x BASH_ENV=lib/y.sh; bash -c true', 'lib/y.sh'],
  ['printf -v BASH_ENV lib/y.sh; export BASH_ENV; bash -c true', 'lib/y.sh'],
  ['PERL5OPT=-Mlib=lib perl -e 1', 'lib/z.pl'],
  ['LD_PRELOAD=./lib/x.so true', 'lib/x.so'],
  ['JAVA_TOOL_OPTIONS=-javaagent:lib/x.jar java -version', 'lib/x.jar'],
  ['RIPGREP_CONFIG_PATH=conf/rc rg x', 'conf/rc'],
  ['LESSOPEN="| sh lib/x.sh %s" less x', 'lib/x.sh'],
  ['PAGER="sh lib/x.sh" man x', 'lib/x.sh'],
  ['PROMPT_COMMAND=". lib/y.sh"; bash -i', 'lib/y.sh'],
  ["PS4='$(sh lib/x.sh)'; set -x; true", 'lib/x.sh'],
  ['MAKEFLAGS="-f Makefile" make x', 'lib/x.sh'],
  ['perl lib/z.pl', 'lib/z.pl'],
  ['perl -Ilib -Mz -e 1', 'lib/z.pm'],
  ['perl -Mlib=lib -Mz -e 1', 'lib/z.pm'],
  ['perl -I lib -e "use z"', 'lib/z.pm'],
  ['ruby -Ilib -rz -e 1', 'lib/z.rb'],
  ['ruby -r./lib/z -e 1', 'lib/z.rb'],
  ['ruby -r ./lib/z -e 1', 'lib/z.rb'],
  ['ruby -C lib z.rb', 'lib/z.rb'],
  ['php -d auto_prepend_file=lib/z.php -r 1', 'lib/z.php'],
  ['php -f lib/z.php', 'lib/z.php'],
  ['php lib/z.php', 'lib/z.php'],
  ['lua -llib.z -e 1', 'lib/z.lua'],
  ['node -r ./lib/z.js -e 1', 'lib/deep.mjs'],
  ['node -r ./lib/z -e 1', 'lib/z.js'],
  ['node --require=./lib/z.js -e 1', 'lib/z.js'],
  ['node --import ./lib/z.js -e 1', 'lib/z.js'],
  ['node --loader ./lib/z.js -e 1', 'lib/z.js'],
  ['node --env-file=conf/env -e 1', 'conf/env'],
  ['node --env-file conf/env -e 1', 'conf/env'],
  ['node lib/pack', 'lib/pack/begin.js'],
  ['node .', 'package.json'],
  ['cd lib/pack && node .', 'lib/pack/begin.js'],
  ['node --test lib', 'lib/z.js'],
  ['node lib/z', 'lib/z.js'],
  ['tsx lib/z.ts', 'lib/z.ts'],
  ['java -jar lib/x.jar', 'lib/x.jar'],
  ['go run ./lib', 'lib/x.go'],
  ['cargo run', 'Cargo.toml'],
  ['docker run -v .:/x y sh lib/x.sh', 'lib/x.sh'],
  ['tclsh lib/z.tcl', 'lib/z.tcl'],
  ['Rscript -e "source(\'lib/z.R\')"', 'lib/z.R'],
  ['osascript -e "x"', 'lib/z'],
  ['vim -S lib/z.vim', 'lib/z.vim'],
  ['emacs --script lib/z.el', 'lib/z.el'],
  ['sqlite3 x ".read lib/z.sql"', 'lib/z.sql'],
  ['tar --to-command=./lib/x.sh -xf x.tar', 'lib/x.sh'],
  ['tar -I ./lib/x.sh -xf x.tar', 'lib/x.sh'],
  ['tar --use-compress-program ./lib/x.sh -xf x.tar', 'lib/x.sh'],
  ['tar cf x.tar --checkpoint=1 --checkpoint-action="exec=sh lib/x.sh" x', 'lib/x.sh'],
  ['sort --compress-program=./lib/x.sh x', 'lib/x.sh'],
  ['split --filter="sh lib/x.sh" x', 'lib/x.sh'],
  ['zip -T -TT "sh lib/x.sh" x.zip x', 'lib/x.sh'],
  ['rg --pre ./lib/x.sh x', 'lib/x.sh'],
  ['rg --pre=./lib/x.sh x', 'lib/x.sh'],
  ['bat --pager ./lib/x.sh x', 'lib/x.sh'],
  ['ag --pager="sh lib/x.sh" x', 'lib/x.sh'],
  ['less +"!sh lib/x.sh" x', 'lib/x.sh'],
  ['shopt -s expand_aliases; alias x="bash lib/x.sh"; x', 'lib/x.sh'],
  ['alias x="bash lib/x.sh"', 'lib/x.sh'],
  ['x() { bash lib/x.sh; }; x', 'lib/x.sh'],
  ['function x { bash lib/x.sh; }; x', 'lib/x.sh'],
  ['bash() { command bash lib/x.sh; }; bash a', 'lib/x.sh'],
  ['source() { . "$1"; }; source lib/x.sh', 'lib/x.sh'],
  ['hash -p lib/x.sh x; x', 'lib/x.sh'],
  ['enable -f ./lib/x.so x', 'lib/x.so'],
  ['mapfile -C ". lib/x.sh" -c 1 a < x', 'lib/x.sh'],
  ['complete -C lib/x.sh x', 'lib/x.sh'],
  ['fc -e lib/x.sh', 'lib/x.sh'],
  ['trap ". lib/x.sh" DEBUG', 'lib/x.sh'],
  ['PATH=tools:$PATH; tool', 'tools/tool'],
  ['PATH="$PWD/tools:$PATH" tool', 'tools/tool'],
  ['env PATH="$PWD/tools:$PATH" tool', 'tools/tool'],
  ['export PATH+=:tools; tool', 'tools/tool'],
  ['PATH=$X:$PATH; tool', 'tools/tool'],
  ['PATH=tools:$PATH; ls', 'tools/ls'],
  ['path=(tools $path); tool', 'tools/tool'],
  ['. lib/y.sh', 'lib/y.sh'],
  ['builtin source lib/y.sh', 'lib/y.sh'],
  ['bash --rcfile lib/y.sh -i', 'lib/y.sh'],
  ['bash --init-file lib/y.sh -i', 'lib/y.sh'],
  ['bash -O extglob lib/y.sh', 'lib/y.sh'],
  ['bash -eo pipefail lib/y.sh', 'lib/y.sh'],
  ['bash -lc ". lib/y.sh"', 'lib/y.sh'],
  ['autoload -Uz lib/y.sh; y.sh', 'lib/y.sh'],
  ['x=$(( $(sh lib/x.sh) + 1 ))', 'lib/x.sh'],
  ['(( x = $(sh lib/x.sh) ))', 'lib/x.sh'],
  ['for (( i = $(sh lib/x.sh); i < 3; i++ )); do :; done', 'lib/x.sh'],
  ['x=($(sh lib/x.sh))', 'lib/x.sh'],
  ['x=(a "$(sh lib/x.sh)")', 'lib/x.sh'],
  ['x+=($(sh lib/x.sh))', 'lib/x.sh'],
  ['local x=($(sh lib/x.sh))', 'lib/x.sh'],
  ['x[$(sh lib/x.sh)]=1', 'lib/x.sh'],
  ['echo ${x:-$(sh lib/x.sh)}', 'lib/x.sh'],
  ['echo "${x:=`sh lib/x.sh`}"', 'lib/x.sh'],
  ['[[ -n $(sh lib/x.sh) ]]', 'lib/x.sh'],
  ['if [ "$(sh lib/x.sh)" = y ]; then :; fi', 'lib/x.sh'],
  ['case $(sh lib/x.sh) in a) ;; esac', 'lib/x.sh'],
  ['for x in $(sh lib/x.sh); do :; done', 'lib/x.sh'],
  ['while read -r x; do :; done < <(sh lib/x.sh)', 'lib/x.sh'],
  ['date > "$(sh lib/x.sh)"', 'lib/x.sh'],
  ['cat <<< "$(sh lib/x.sh)"', 'lib/x.sh'],
  ['echo "a $(echo "b $(sh lib/x.sh)")"', 'lib/x.sh'],
  ['diff <(sh lib/x.sh) x', 'lib/x.sh'],
  ['{ sh lib/x.sh; } 2>/dev/null &', 'lib/x.sh'],
  ['! sh lib/x.sh', 'lib/x.sh'],
  ['[ -x lib/x.sh ] && lib/x.sh', 'lib/x.sh'],
  ['lib/x.sh | tee -a log', 'lib/x.sh'],
  ['cp lib/x.sh /tmp/ramet-y.sh; bash /tmp/ramet-y.sh', 'lib/x.sh'],
  ['cat lib/x.sh > /tmp/ramet-y.sh; bash /tmp/ramet-y.sh', 'lib/x.sh'],
  ['cat lib/x.sh | tee /tmp/ramet-y.sh; bash /tmp/ramet-y.sh', 'lib/x.sh'],
  ['ln -s "$PWD/lib" /tmp/ramet-l; /tmp/ramet-l/x.sh', 'lib/x.sh'],
  ['F=$(mktemp); cat lib/x.sh > "$F"; bash "$F"', 'lib/x.sh'],
  ['for f in lib/*.sh; do . "$f"; done', 'lib/x.sh'],
  ['. lib/{x,y}.sh', 'lib/x.sh'],
  ['bash lib/[xy].sh', 'lib/x.sh'],
  ['while read -r c; do $c; done < lib/x.sh', 'lib/x.sh'],
  ['"${RUN[@]}"', 'lib/x.sh'],
  ['RUN=(sh lib/x.sh); "${RUN[@]}"', 'lib/x.sh'],
  ['F=lib/x; bash $F.sh', 'lib/x.sh'],
  ['F=lib/x.sh; bash "${F}"', 'lib/x.sh'],
  ['F=lib/x.txt; bash "${F%.txt}.sh"', 'lib/x.sh'],
  ['crontab lib/x.sh', 'lib/x.sh'],
  ['at now -f lib/x.sh', 'lib/x.sh'],
  ['xdg-open lib/x.sh', 'lib/x.sh'],
  ['ssh h < lib/x.sh', 'lib/x.sh'],
  ['tmux new -d "sh lib/x.sh"', 'lib/x.sh'],
] as const;

describe('SEC-1: what a script has others run counts, or the script is listed', () => {
  test.for(GIT)('git: %s: %s', ([lines, file, more]) => {
    const { counts, listed } = held(lines, more);
    expect(counts(file) || listed.includes('hooks/m.sh')).toBe(true);
  });

  test.for([...FED, ...OTHERS])('%s: %s', ([lines, file]) => {
    const { counts, listed } = held(lines);
    expect(counts(file) || listed.includes('hooks/m.sh')).toBe(true);
  });
});

const ORDINARY = [
  'git add -A && git commit -qm "auto: checkpoint" || true',
  'git add -A; git commit -m "log: status of $(date)" --quiet',
  'BRANCH=$(git rev-parse --abbrev-ref HEAD); git -c user.name=x -c "user.email=$X" commit -am "$BRANCH"',
  'git config user.name x; git config --get remote.origin.url; git config --local user.email "$X"',
  'git -C "$CLAUDE_PROJECT_DIR" diff --name-only --cached | grep -q "\\.py$" && git stash -u && git stash pop',
  'git log -1 --format=%s; git show HEAD:src/x.js | head -1; git grep -n "$1"; git push -u origin "$(git branch --show-current)"',
  'git fetch origin main && git rebase origin/main && git submodule update --init && git bisect reset',
  'changed=$(git diff --name-only "$@"); git status --porcelain "$X"',
  'LOG=logs/x.log; mkdir -p logs; date >> "$LOG"; tail -1 "$LOG"; cp "$LOG" "$LOG.1"',
  'COMMAND=$(jq -r .tool_input.command); CMD="rm -rf"; case "$COMMAND" in *"$CMD"*) exit 2 ;; esac',
  'PROJECT_DIR="$PWD"; ROOT_DIR=$(pwd); OUTPUT_PATH=x.txt; SCRIPT_OPTS="-x"; echo "$PROJECT_DIR" "$ROOT_DIR"',
  'PAGER=cat git log -1; GIT_PAGER=cat git diff; GIT_EDITOR=true git commit --amend --no-edit',
  'export GIT_AUTHOR_NAME=x GIT_INDEX_FILE=/tmp/i; env LANG=C TZ=UTC FOO="$X" sort data.txt',
  "cat <<EOF\nThe branch is $(git branch --show-current), it's ${X:-y} and `date`.\nEOF",
  'cat <<\'EOF\'\n{"a": "$(sh never.sh)"}\nEOF',
  'jq -n --arg a "$X" \'{a: $a}\'; jq -r ".x // empty" <<< "$INPUT"; jq -r "$FILTER" data.json',
  "awk -F: '{ print $1 \"|\" $2 }' x; awk '/error|warn/ { n++ } END { if (n > 1 || n == 0) print n }' log; awk -v x=\"$X\" '$1 == x' y",
  'node -e \'console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).x)\' <<< "$INPUT"',
  "node <<'EOF'\nconst fs = require('node:fs');\nconsole.log(fs.readFileSync('data.txt', 'utf8'));\nEOF",
  'python3 - "$1" <<\'EOF\'\nimport json, sys\nprint(json.load(open(sys.argv[1])))\nEOF',
  "perl -pe 's/a/b/g' x; perl -ne 'print if /x/' y; perl -0777 -i -pe 's/x\\n/y/' z; perl -MJSON::PP -e 'use strict; print 1'",
  "ruby -rjson -e 'puts JSON.parse(STDIN.read)[\"x\"]' < data.json; php -r 'echo 1;'",
  'tar czf x.tgz src; tar -xzf x.tgz -C /tmp; sort -u x | uniq -c; rg -n x src; grep -rf list src; split -l 5 x',
  'ls | xargs -I% basename %',
  'find . -name "*.js" -print0 | xargs -0 grep -l x; find . -type f -exec grep -l x {} +',
  'mapfile -t lines < data.txt; printf -v now "%(%s)T" -1; printf "%s\\n" "${lines[@]}" "$now"; (( n = 1 + 2 )); for (( i = 0; i < 3; i++ )); do :; done',
  'cp a b; mv b c; ln -sf c d; tee -a log < c > /dev/null; install -m 644 a e',
  "sed -n '1,5p' x; sed -i.bak -e 's/a/b/' -E x; cat x | sed 's|a|b|'",
  'log() { echo "$1" >&2; }\nlog hello; trap "rm -f x" EXIT; if [[ "$X" == y* ]]; then log "$X"; fi',
];

describe('SEC-1: an ordinary script', () => {
  test.for(ORDINARY)('is not listed, and nothing that it works on counts: %s', (line) => {
    const { counts, listed } = held(line, {
      '.git/config': '[core]\n\tbare = false\n[alias]\n\tst = status\n',
    });
    expect(listed).toEqual([]);
    for (const file of ['lib/x.sh', '.githooks/pre-commit', 'data.txt']) expect(counts(file)).toBe(false);
  });
});

describe('SEC-1: what is followed whole is not listed', () => {
  test.for([
    ['git add -A && git commit -qm x', '.githooks/pre-commit', HOOKS],
    ['git commit -qm "log of status"', 'lib/y.sh', HOOKS],
    ['git config core.hooksPath .githooks; git commit -qm x', 'lib/y.sh', {}],
    ['git -c core.hooksPath=.githooks commit -qm x', '.githooks/pre-commit', {}],
    ['git st && git hello', 'lib/x.sh', ALIAS],
    ['git -c alias.z="!bash lib/x.sh" z', 'lib/x.sh', {}],
    ['git -c core.fsmonitor=lib/x.sh status', 'lib/x.sh', {}],
    ['GIT_EDITOR=./lib/x.sh git commit --amend', 'lib/x.sh', {}],
    ['git bisect run ./lib/x.sh', 'lib/x.sh', {}],
    ["git rebase --exec 'sh lib/x.sh' main", 'lib/x.sh', {}],
    ['git submodule foreach --recursive sh lib/x.sh', 'lib/x.sh', {}],
    ["node <<'EOF'\nrequire('./lib/z.js');\nEOF", 'lib/deep.mjs', {}],
    ['node --input-type=module <<"EOF"\nawait import("./lib/z.js")\nEOF', 'lib/deep.mjs', {}],
    ['node <<< \'require("./lib/z.js")\'', 'lib/deep.mjs', {}],
    ['node -e \'require("./lib/z.js")\'', 'lib/deep.mjs', {}],
    ['bash <<< "sh lib/x.sh"', 'lib/x.sh', {}],
    ['source /dev/stdin <<EOF\nsh lib/x.sh\nEOF', 'lib/x.sh', {}],
    ['cat <<EOF\n$(sh lib/x.sh)\nEOF', 'lib/x.sh', {}],
    ['(( x = $(sh lib/x.sh) ))', 'lib/x.sh', {}],
    ['jq -r -L lib -f lib/z.jq x', 'lib/m.jq', {}],
    ['env --chdir=lib ./x.sh', 'lib/x.sh', {}],
    ['awk -flib/z.awk x', 'lib/z.awk', {}],
    ['node lib/pack', 'lib/pack/begin.js', {}],
  ] as const)('%s: %s', ([lines, file, more]) => {
    const { counts, listed } = held(lines, more);
    expect(counts(file)).toBe(true);
    expect(listed).toEqual([]);
  });
});

describe('SEC-1: what a script in Python or a module loads in other words', () => {
  test.for([
    ['m.py', "import asyncio\nasyncio.create_subprocess_exec('python3', d + '/z.py')"],
    ['m.py', 'from asyncio import create_subprocess_shell as run'],
    ['m.py', 'from os import path, system'],
    ['m.py', 'from os import *\nsystem("x")'],
    ['m.py', "import pickle\npickle.load(open('c.pkl', 'rb'))"],
    ['m.py', "import unittest\nunittest.TestLoader().discover('t')"],
    ['m.py', 'import code\ncode.InteractiveInterpreter().runsource(text)'],
    ['m.py', 'import timeit\ntimeit.timeit(text)'],
    ['m.py', "from logging import config\nconfig.fileConfig('l.ini')"],
    ['m.js', "const load = require; load('./w');"],
    ['m.js', 'const r = { load: require };'],
    ['m.js', "module.require('./' + x);"],
    ['m.js', "require.call(null, './w');"],
  ] as const)('is listed: %s: %s', ([file, text]) => {
    const program = file.endsWith('.py') ? 'python3' : 'node';
    expect(held(`${program} lib/${file}`, { [`lib/${file}`]: text }).listed).toEqual([`lib/${file}`]);
  });

  test.for([
    ['m.py', 'import os, json, asyncio\nprint(os.path.join("system", "exec"))'],
    ['m.py', 'from os import path, environ\nimport logging\nlogging.basicConfig()'],
    ['m.js', "const a = require('./z.js'); const required = a.require; // we require it\n"],
  ] as const)('an ordinary one is not: %s: %s', ([file, text]) => {
    const program = file.endsWith('.py') ? 'python3' : 'node';
    expect(held(`${program} lib/${file}`, { [`lib/${file}`]: text }).listed).toEqual([]);
  });
});

test('SEC-1: a hook that lies in the repository of git counts where a command commits, also a new one', () => {
  const folder = join(root, 'own-hooks');
  const counted = (command: string): string[] =>
    commandReach([command], folder, [folder]).paths.map(({ path }) => relative(folder, path));
  writeFiles(folder, { ...FILES, '.git/hooks/commit-msg.sample': '', 'hooks/m.sh': 'git commit -qm x\n' });
  expect(counted('git commit -qm x')).not.toContain('.git/hooks/commit-msg.sample');
  writeFiles(folder, { '.git/hooks/pre-commit': '#!/bin/sh\nsh lib/x.sh\n' });
  for (const command of ['git commit -qm x', 'sh hooks/m.sh'])
    expect(counted(command)).toEqual(expect.arrayContaining(['.git/hooks/pre-commit', 'lib/x.sh']));
  expect(counted('git status')).not.toContain('.git/hooks/pre-commit');
});
