import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { trust } from '../../system/trust.ts';
import { commandReach } from './command-reach.ts';
import { type DescribedPart, describePart, type FolderPart } from './folder-part.ts';
import { folderTrust } from './folder-trust.ts';
import { runCheck } from './run-check.ts';

const FILES = {
  '.git/HEAD': '',
  '.git/config':
    '[core]\n\tfsmonitor = ./git/monitor.sh\n\tsshCommand = "sh git/ssh.sh" # own\n\thooksPath = git/hooks\n[filter "f"]\n\tclean = \\"sh\\" git/clean.sh %f\n\trequired = true\n[diff]\n\texternal = ./git/diff.sh\n[diff "t"] textconv = node git/text\n[merge "m"]\n\tdriver = sh git/drive.sh %A\n[credential]\n\thelper = "!sh git/key.sh"\n\thelper = store\n[include]\n\tpath = ../git/shared.config\n',
  'git/shared.config': '[Core]\nPager = git/pager.sh\n',
  'git/hooks/pre-commit': 'exit 0\n',
  'src/index.ts': 'export {};\n',
  'conf/tsconfig.json': '{ // own\n"extends": "./base.json", "include": ["../scripts"] }\n',
  'conf/base.json': '{"compilerOptions": {"outDir": "../js", "rootDir": "../scripts"}}\n',
  'conf/tsconfig.more.json': '{"extends": ["./base"]}\n',
  'conf/rollup.config.js': 'export default { output: [{ dir: "../rolled" }] };\n',
  'conf/webpack.config.cjs': "module.exports = { output: { path: path.join(__dirname, '../rolled') } };\n",
  'js/kept.js': '1;\n',
  'rolled/kept.js': '1;\n',
  'pair/one.js': '1;\n',
  'pair/one.ts': '1;\n',
  'pair/tool': '1;\n',
  'pair/tool.rs': '1;\n',
  'docs/page.md': 'text\n',
  'scripts/h.sh': 'exit 0\n',
  'scripts/x.js': '1;\n',
  'scripts/mod.py': '1\n',
  'scripts/dir/index.js': '1;\n',
  'scripts/dir/__main__.py': '1\n',
  'scripts/package.json': '{"scripts":{"h":"echo"}}',
  'scripts/Makefile': 'all:\n',
  'cmd/x/main.go': 'package main\n',
  'bin/ln.real': 'echo\n',
  'bin/py': '#!/usr/bin/env python3\n1\n',
  'py/tool.py': '"""Reads.\n\nimport the list\n"""\nimport sys, yaml as y\n',
  'py/calls.py': 'import json\nfrom near import (\n  one,\n)\nfrom pack.part import two\n',
  'py/near.py': 'import far\none = 1\n',
  'py/far.py': 'def load():\n    import toml\n',
  'py/plain.py': 'import json\nfrom os import path\n',
  'py/pack/part.py': 'two = 2\n',
  'py/pack/__init__.py': '',
  'package.json':
    '{"scripts":{"h":"sh scripts/h.sh","lint":"eslint src","test":"vitest run","unit":"node --test test/","build":"tsc -p .","built":"tsc -p . && node dist/x.js","built:only":"node dist/x.js","quoted":"node -e \\"require(\\\\\\"./scripts/x.js\\\\\\")\\""},"bin":{"t":"x"}}',
  'pyproject.toml': '[project]\n',
  'go.mod': 'module x\n',
  'Cargo.toml': '[package]\n',
  Makefile:
    'include rules.mk\nTOOLS = scripts\nDIR := $(TOOLS)\nhook: need\n\t@eslint src/index.ts\nneed:\n\t-@$(DIR)/h.sh $$X\nother:\n\tnode scripts/x.js\nlater: made\n\t@./made\n',
  'pattern/Makefile':
    '%.txt: %.in\n\t@sh $<\nhook: a.stamp\n%.stamp: %.run\n\t@sh $*.run\n.old.new:\n\tsh $<\nlist: b.o\nb.o: %.o: %.src\n\tsh $<\ndir: d/x\n\tsh $(<D)/y\n',
  'pattern/out.in': 'exit 0\n',
  'quoted/Makefile': 'all:\n\t@node -e "require(\\"./x.js\\")"\n',
  'quoted/x.js': '1;\n',
  justfile: 'hook:\n',
  Rakefile: 'task :h\n',
  'Taskfile.yml': 'version: 3\n',
  gradlew: 'echo\n',
  'deno.json': '{}',
  'composer.json': '{}',
  'compose.yaml': 'services:\n',
  'eslint.config.js': 'export default [];\n',
  'test/a.test.js': '1;\n',
  'CHANGELOG.md': 'text\n',
  'c/Makefile': 'lib: part.o\n\t$(CC) -o $@ $^\nown: part.c\n\tcc -o own part.c\nrun: own\n\t./own\n',
  'c/prog.c': '#include "part.h"\n',
  'c/part.c': '#include "part.h"\n',
  'c/part.h': '1\n',
  'patterns.txt': 'x\n',
  'run.sed': 's/^/sh /e\n',
  'rules.mk': 'ruled:\n\t@sh $(DIR)/h.sh\n',
};

interface Trusted {
  readonly root: string;
  readonly described: DescribedPart;
  /** Whether it runs once a file has other content. */
  runsWith(file: string): boolean;
}

/** One for all commands: each puts back what it changes. */
let shared = '';
beforeAll(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-test-')));
  shared = join(base, 'work');
  writeFiles(shared, FILES);
  mkdirSync(join(base, 'tmp'));
  symlinkSync('bin/ln.real', join(shared, 'lnk'));
  return () => rmSync(base, { recursive: true, force: true });
});

/** In place of /tmp, where others may have files of these names, it has an empty folder of its own. */
function trusted(written: string, event = 'PostToolUse'): Trusted {
  const root = shared;
  const command = written.replaceAll('/tmp', join(dirname(root), 'tmp'));
  const value = { [event]: [{ hooks: [{ type: 'command', command }] }] };
  const part: FolderPart = { kind: 'hooks', source: join(root, '.claude/settings.json'), value };
  const place = { home: temporaryDirectory(), root };
  const described = describePart(part, root);
  const { key, ...covered } = described;
  trust(place, { [key]: covered });
  const check = runCheck(part, place, folderTrust(place));
  const answers = event === 'PreToolUse';
  expect(check([command], root, answers)).toBeNull();
  return {
    root,
    described,
    runsWith(file) {
      const isThere = Object.hasOwn(FILES, file);
      writeFiles(root, { [file]: 'changed by an agent\n' });
      try {
        return check([command], root, answers) === null;
      } finally {
        if (isThere) writeFiles(root, { [file]: FILES[file as keyof typeof FILES] });
        else rmSync(join(root, file));
      }
    },
  };
}

/** Each command with the file that decides what it runs. */
const SPELLINGS: readonly (readonly [command: string, file: string])[] = [
  ['./scripts/h.sh', 'scripts/h.sh'],
  [`"\${CLAUDE_PROJECT_DIR}/scripts/h.sh"`, 'scripts/h.sh'],
  [`"\${CLAUDE_PROJECT_DIR:-.}"/scripts/h.sh`, 'scripts/h.sh'],
  ['cd "$CLAUDE_PROJECT_DIR" && ./scripts/h.sh', 'scripts/h.sh'],
  ['cd "$CLAUDE_PROJECT_DIR/scripts" && ./h.sh', 'scripts/h.sh'],
  ['cd scripts && sh h.sh', 'scripts/h.sh'],
  ['cd scripts; sh h.sh', 'scripts/h.sh'],
  ['(cd scripts && ./h.sh)', 'scripts/h.sh'],
  ['pushd scripts; ./h.sh', 'scripts/h.sh'],
  ['bash -c "cd scripts; ./h.sh"', 'scripts/h.sh'],
  ['bash -c "sh scripts/h.sh"', 'scripts/h.sh'],
  ['sh -ec "sh scripts/h.sh"', 'scripts/h.sh'],
  ['bash < scripts/h.sh', 'scripts/h.sh'],
  ['cat scripts/h.sh | sh', 'scripts/h.sh'],
  ['. scripts/h.sh', 'scripts/h.sh'],
  ['source scripts/h.sh', 'scripts/h.sh'],
  ['env X=1 sh scripts/h.sh', 'scripts/h.sh'],
  ['env -C scripts ./h.sh', 'scripts/h.sh'],
  ['timeout 5 sh scripts/h.sh', 'scripts/h.sh'],
  ['nice -n 5 ./scripts/h.sh', 'scripts/h.sh'],
  ['node --require ./scripts/x.js -e 1', 'scripts/x.js'],
  ['node --require=./scripts/x.js -e 1', 'scripts/x.js'],
  ['node -r./scripts/x.js -e 1', 'scripts/x.js'],
  ['node scripts/x', 'scripts/x.js'],
  ['node scripts/dir', 'scripts/dir/index.js'],
  ['node ./scripts/dir/', 'scripts/dir/index.js'],
  ['python3 scripts/dir', 'scripts/dir/__main__.py'],
  ['python3 -m scripts.mod', 'scripts/mod.py'],
  ['python3 -m scripts.dir', 'scripts/dir/__main__.py'],
  ['PYTHONPATH=scripts python3 -m mod', 'scripts/mod.py'],
  ['cd scripts && python3 -m mod', 'scripts/mod.py'],
  ['python3 -c "import scripts.mod"', 'scripts/mod.py'],
  [`node -e "require('./scripts/x.js')"`, 'scripts/x.js'],
  [`node -e "require('./scripts/x')"`, 'scripts/x.js'],
  [`node -e "import('./scripts/x.js')"`, 'scripts/x.js'],
  ['make hook', 'Makefile'],
  ['make -f Makefile hook', 'Makefile'],
  ['make -C scripts', 'scripts/Makefile'],
  ['just hook', 'justfile'],
  ['npm run h', 'package.json'],
  ['npm run h', 'scripts/h.sh'],
  ['npm --prefix scripts run h', 'scripts/package.json'],
  ['npm -C scripts run h', 'scripts/package.json'],
  ['cd scripts && npm run h', 'scripts/package.json'],
  ['yarn h', 'package.json'],
  ['pnpm h', 'package.json'],
  ['bun run h', 'package.json'],
  ['npx t', 'package.json'],
  ['npx tsx scripts/x.js', 'scripts/x.js'],
  ['uv run scripts/mod.py', 'scripts/mod.py'],
  ['uv run h', 'pyproject.toml'],
  ['go run ./cmd/x', 'cmd/x/main.go'],
  ['cargo run', 'Cargo.toml'],
  ['rake h', 'Rakefile'],
  ['task h', 'Taskfile.yml'],
  ['./gradlew h', 'gradlew'],
  ['deno task h', 'deno.json'],
  ['composer run h', 'composer.json'],
  ['sh scripts/*.sh', 'scripts/h.sh'],
  ['sh scripts/*.sh', 'scripts/new.sh'],
  ['sh $(git ls-files scripts/h.sh)', 'scripts/h.sh'],
  ['sh `echo scripts/h.sh`', 'scripts/h.sh'],
  [`sh \${X:-scripts/h.sh}`, 'scripts/h.sh'],
  [`find scripts -name '*.sh' -exec sh {} \\;`, 'scripts/h.sh'],
  [`find . -name '*.hook' -exec sh {} \\;`, 'src/new.hook'],
  ['ls scripts/*.sh | xargs -n1 sh', 'scripts/h.sh'],
  ['xargs sh < scripts/h.sh', 'scripts/h.sh'],
  ['xargs sh < docs/page.md', 'scripts/h.sh'],
  ['git -c core.hooksPath=scripts commit', 'scripts/h.sh'],
  ['git commit -m x', '.husky/pre-commit'],
  ['PATH=bin:$PATH ln.real', 'bin/ln.real'],
  ['PATH=bin:$PATH other', 'bin/other'],
  ['PATH=$PWD/bin:$PATH ln.real', 'bin/ln.real'],
  ['PATH=./bin:$PATH; ln.real', 'bin/ln.real'],
  ['PATH=./bin:$PATH; date', 'bin/date'],
  ['PATH="./bin:$PATH"; export PATH; ln.real', 'bin/ln.real'],
  ['PATH=$PWD/bin:$PATH; ln.real', 'bin/ln.real'],
  ['PATH=$PATH:./bin; ln.real', 'bin/ln.real'],
  ['PATH=./bin:$PATH; . ln.real', 'bin/ln.real'],
  ['env PATH="bin:$PATH" ln.real', 'bin/ln.real'],
  ['env A=1 "PATH=bin:$PATH" ln.real', 'bin/ln.real'],
  ['timeout 5 env PATH=bin ln.real', 'bin/ln.real'],
  ['typeset PATH="bin:$PATH"; ln.real', 'bin/ln.real'],
  ['env NODE_OPTIONS="-r ./scripts/x" node --version', 'scripts/x.js'],
  ['./lnk', 'bin/ln.real'],
  ['bash --rcfile scripts/h.sh -i', 'scripts/h.sh'],
  ['BASH_ENV=scripts/h.sh bash -c true', 'scripts/h.sh'],
  [`bash -c '. scripts/h.sh'`, 'scripts/h.sh'],
  ['eval "sh scripts/h.sh"', 'scripts/h.sh'],
  ['eval "sh $X"', 'scripts/h.sh'],
  ['docker compose run h', 'compose.yaml'],
  [`sh -c 'sh "$0"' scripts/h.sh`, 'scripts/h.sh'],
  [`perl -e 'do "./scripts/h.sh"'`, 'scripts/h.sh'],
  ['"scripts/h.sh"', 'scripts/h.sh'],
  [`'scripts'/h.sh`, 'scripts/h.sh'],
  ['scri\\pts/h.sh', 'scripts/h.sh'],
  ['sh scripts/"h".sh', 'scripts/h.sh'],
  ['true && { sh scripts/h.sh; }', 'scripts/h.sh'],
  ['if true; then sh scripts/h.sh; fi', 'scripts/h.sh'],
  ['for f in scripts/h.sh; do sh $f; done', 'scripts/h.sh'],
  ['for f in h; do sh scripts/$f.sh; done', 'scripts/h.sh'],
  ['true | sh scripts/h.sh', 'scripts/h.sh'],
  ['sh <<< ". scripts/h.sh"', 'scripts/h.sh'],
  ['sh <<EOF\ncd scripts\n./h.sh\nEOF', 'scripts/h.sh'],
  ['sh <<EOF\nsh $X\nEOF', 'scripts/h.sh'],
  ['python3 - <<EOF\nimport scripts.mod\nEOF', 'scripts/mod.py'],
  ['f() { sh scripts/h.sh; }; f', 'scripts/h.sh'],
  ['f() { cd scripts; sh h.sh; }; f', 'scripts/h.sh'],
  ['D=scripts; sh $D/h.sh', 'scripts/h.sh'],
  ['D=scripts; cd "$D" && ./h.sh', 'scripts/h.sh'],
  ['"$(git rev-parse --show-toplevel)"/scripts/h.sh', 'scripts/h.sh'],
  ['cd "$(git rev-parse --show-toplevel)/scripts" && ./h.sh', 'scripts/h.sh'],
  ['$SOME_PROGRAM x', 'scripts/h.sh'],
  ['echo "sh scripts/h.sh" | sh', 'scripts/h.sh'],
  ['echo "cd scripts; ./h.sh" | sh', 'scripts/h.sh'],
  ['node --run h', 'scripts/h.sh'],
  ['x=h.bak; sh scripts/${x%.bak}.sh', 'scripts/h.sh'],
  ['x=xh; sh scripts/${x#x}.sh', 'scripts/h.sh'],
  ['source <(git show HEAD:scripts/h.sh)', 'scripts/x.js'],
  ['ls scripts | xargs -I% sh scripts/%', 'scripts/h.sh'],
  ["bash -c -- 'cd scripts; sh $X'", 'scripts/h.sh'],
  ['NODE_OPTIONS="-r ./scripts/x" node --version', 'scripts/x.js'],
  ['npx vite-node scripts/x', 'scripts/x.js'],
  ['npm run h -ws', 'scripts/package.json'],
  ['pnpm --filter scripts run h', 'scripts/package.json'],
  ['turbo run h', 'scripts/package.json'],
  ['sh scripts/{h,x}.sh', 'scripts/h.sh'],
  [`node -e "require('./scripts/' + 'x')"`, 'scripts/x.js'],
  ['"$(cd scripts && pwd)"/h.sh', 'scripts/h.sh'],
  ['trap "cd scripts; ./h.sh" EXIT', 'scripts/h.sh'],
  ['npx eslint src', 'eslint.config.js'],
  ['npm run lint', 'eslint.config.js'],
  // What npm runs although no script says so.
  ['npm -s start', 'server.js'],
  ['npm run start', 'server.js'],
  ['pnpm restart', 'server.js'],
  ['cd scripts && npm start', 'scripts/server.js'],
  ['npm ci', 'binding.gyp'],
  ['npx t', 'x'],
  ['python3 -m scripts.dir.other', 'scripts/dir/index.js'],
  [`node -e "require('./scripts/dir')"`, 'scripts/dir/index.js'],
  ['perl -Iscripts -Mx -e 1', 'scripts/x.js'],
  ['git x', 'scripts/h.sh'],
  ['make hook', 'rules.mk'],
  ['make hook', 'scripts/h.sh'],
  ['make ruled', 'scripts/h.sh'],
  ['make', 'scripts/h.sh'],
  ['make other', 'scripts/x.js'],
  ['make -C pattern out.txt', 'pattern/out.in'],
  ['make -C pattern hook', 'pattern/a.run'],
  ['make -C pattern x.new', 'pattern/x.old'],
  ['make -C pattern list', 'pattern/b.src'],
  ['make -C pattern dir', 'pattern/d/y'],
  // A name that is only made or removed counts where it runs, too.
  ['touch scripts/new.sh; sh scripts/new.sh', 'scripts/new.sh'],
  ['touch new.sh; sh <<EOF\nsh new.sh\nEOF', 'new.sh'],
  ['chmod +x scripts/h.sh; scripts/h.sh', 'scripts/h.sh'],
  ['rm -f x.sh && eval "$(cat x.sh)"', 'x.sh'],
  ['flock scripts/h.sh sh scripts/h.sh', 'scripts/h.sh'],
  // A way from what is read to what runs makes it no data.
  ['tail -1 scripts/h.sh | sh', 'scripts/h.sh'],
  ['cat scripts/h.sh > /tmp/copy-of-h; sh /tmp/copy-of-h', 'scripts/h.sh'],
  ['cp scripts/h.sh out.sh && sh out.sh', 'scripts/h.sh'],
  ['eval "$(cat scripts/h.sh)"', 'scripts/h.sh'],
  ['head -5 scripts/h.sh | mytool', 'scripts/h.sh'],
  ['cat scripts/h.sh; sh scripts/h.sh', 'scripts/h.sh'],
  ['npx eslint --config scripts/x.js src', 'scripts/x.js'],
  ['npx eslint -c scripts/x.js src', 'scripts/x.js'],
  ['npx prettier --plugin ./scripts/x.js --write src', 'scripts/x.js'],
  ['grep -qf patterns.txt', 'patterns.txt'],
  ['jq -f patterns.txt', 'patterns.txt'],
  ['rg --pre scripts/h.sh x src', 'scripts/h.sh'],
  ['node --test --require ./scripts/x.js test/', 'scripts/x.js'],
  ['python3 -m pytest test', 'pytest.py'],
  ['python3 -E -m scripts.mod', 'scripts/__pycache__/mod.cpython-311.pyc'],
  ['env -i python3 -m scripts.mod', 'scripts/__pycache__/mod.cpython-311.pyc'],
  ['npx prettier --write src/index.ts', 'src/.prettierrc.cjs'],
  ['npx eslint --fix src/index.ts', 'src/deep/.eslintrc.js'],
  ['npx prettier --write src/index.ts', 'src/package.json'],
  ['npx prettierd src/index.ts', 'src/.prettierrc'],
  ['npx lint-staged', 'src/.lintstagedrc.js'],
  // A new file in a folder whose files are read, copied or found, where something runs what was read.
  ['cat scripts/* > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['cat scripts/dir/** > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/dir/new.sh'],
  ['cat */h.sh > /tmp/ramet-x.sh; . /tmp/ramet-x.sh', 'docs/h.sh'],
  ['cat scripts/{h,n}* > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['D=scripts; cat $D/*.sh > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['cd scripts; cat * > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['cat $(ls scripts) > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['cat `ls -d scripts/*` > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['for f in scripts/*; do cat $f; done > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['for f in $(ls scripts); do cat scripts/$f; done > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['for f in scripts/*; do . $f; done', 'scripts/new.sh'],
  ['for f in scripts/*; do $f; done', 'scripts/new.sh'],
  [
    'ls scripts | while read f; do cat "scripts/$f"; done > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh',
    'scripts/new.sh',
  ],
  ['find scripts -type f -exec cat {} + > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['find scripts -type f -exec cp {} /tmp/ramet-x.sh \\; ; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['find scripts -type f | xargs cat > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['grep -rh . scripts > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['cat scripts/* | tee /tmp/ramet-x.sh >/dev/null; sh /tmp/ramet-x.sh', 'scripts/new.sh'],
  ['tee /tmp/ramet-x.sh < scripts/h.sh; sh /tmp/ramet-x.sh', 'scripts/h.sh'],
  ['cp scripts/h.sh /tmp && sh /tmp/h.sh', 'scripts/h.sh'],
  ['cp scripts/*.sh /tmp && sh /tmp/h.sh', 'scripts/new.sh'],
  ['cp -r scripts /tmp/ramet-x && sh /tmp/ramet-x/h.sh', 'scripts/new.sh'],
  ['cp scripts/* .git/hooks/', 'scripts/new.sh'],
  ['ln -s "$PWD/scripts" /tmp/ramet-x && sh /tmp/ramet-x/h.sh', 'scripts/new.sh'],
  ['rsync -a scripts/ /tmp/ramet-x/ && /tmp/ramet-x/h.sh', 'scripts/new.sh'],
  ['install -m 755 scripts/* /tmp/ramet-x && /tmp/ramet-x/h.sh', 'scripts/new.sh'],
  ['tar cf - scripts | tar xf - -C /tmp; sh /tmp/scripts/h.sh', 'scripts/new.sh'],
  ['tar xf docs/*.tar -C /tmp; sh /tmp/h.sh', 'docs/new.tar'],
  ['unzip -o docs/*.zip -d /tmp; sh /tmp/h.sh', 'docs/new.zip'],
  ['source <(cat scripts/*)', 'scripts/new.sh'],
  ['sh <<< "$(cat scripts/*)"', 'scripts/new.sh'],
  ['cat scripts/* | sh', 'scripts/new.sh'],
  ['cat scripts/* | sh /dev/stdin', 'scripts/new.sh'],
  ['cat scripts/* | bash -s', 'scripts/new.sh'],
  ['cat scripts/x.js | node /dev/fd/0', 'scripts/x.js'],
  ['cat scripts/*.mk | make -f -', 'scripts/new.mk'],
  ['make -f scripts/*.mk', 'scripts/new.mk'],
  ['cat scripts/h.sh | bash -e /dev/stdin', 'scripts/h.sh'],
  ['cat scripts/h.sh | bash /dev/stdin a', 'scripts/h.sh'],
  ['cat scripts/h.sh | bash -s x', 'scripts/h.sh'],
  ['cat scripts/h.sh | sh -es -- a', 'scripts/h.sh'],
  ['cat scripts/mod.py | python3 - a', 'scripts/mod.py'],
  ['cat scripts/x.js | node - a', 'scripts/x.js'],
  ['cat scripts/h.sh | bash +x', 'scripts/h.sh'],
  ['cat scripts/h.sh | bash -o pipefail', 'scripts/h.sh'],
  ['cat scripts/h.sh | bash -s -o pipefail x', 'scripts/h.sh'],
  ['cat scripts/h.sh | bash --norc -s -- x', 'scripts/h.sh'],
  ['cat scripts/h.sh | timeout 5 sh -s a', 'scripts/h.sh'],
  ['cp scripts/h.sh /tmp/ramet-a; mv /tmp/ramet-a /tmp/ramet-b; sh /tmp/ramet-b', 'scripts/h.sh'],
  ['PERL5LIB=scripts perl -MZz -e 1', 'scripts/Zz.pm'],
  ['RUBYLIB=scripts ruby -rzz -e 1', 'scripts/zz.rb'],
  ['cat scripts/h.sh | perl - a', 'scripts/h.sh'],
  ['node -e "$(cat scripts/*.js)"', 'scripts/new.js'],
  ['python3 -c "$(cat scripts/*.py)"', 'scripts/new.py'],
  [`python3 -c "import glob; [exec(open(f).read()) for f in glob.glob('scripts/*')]"`, 'scripts/new.py'],
  [`node -e "for (const f of fs.readdirSync('scripts')) require('./scripts/' + f)"`, 'scripts/new.js'],
  ['awk -f scripts/*.awk', 'scripts/new.awk'],
  ['sed -n -f scripts/*.sed docs/page.md', 'scripts/new.sed'],
  ['ls scripts/* | xargs -n1 sh', 'scripts/new.sh'],
  ['echo scripts/* | xargs cat | sh', 'scripts/new.sh'],
  ['git show :scripts/h.sh | sh', 'scripts/h.sh'],
  ['git show HEAD:scripts/h.sh > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', '.git/index'],
  ['git archive HEAD scripts | tar x -C /tmp; sh /tmp/scripts/h.sh', '.git/refs/heads/main'],
  ['git show HEAD:scripts/h.sh | sh', '.git/refs/heads/main'],
  ['git stash pop && sh scripts/h.sh', '.git/refs/stash'],
  ['git checkout -q other && sh scripts/h.sh', '.git/refs/heads/other'],
  ['base64 -d docs/* > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'docs/new'],
  ['head -c 9999 docs/* > out.js; node out.js', 'docs/new'],
  ['cat docs/* > /tmp/ramet-t; /tmp/ramet-t', 'docs/new'],
  ['cat docs/* > ramet-t; PATH=.:$PATH ramet-t', 'docs/new'],
  ['cat docs/* > /tmp/package.json; cd /tmp; npm run x', 'docs/new'],
  ['f=$(cat docs/list); cp "$f" /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'src/index.ts'],
  ['cat "$F" > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'src/index.ts'],
  ['printf "%s" "$(cat docs/*)" > /tmp/ramet-x.sh; sh /tmp/ramet-x.sh', 'docs/new'],
  ['patch -p1 < docs/a.patch; sh scripts/h.sh', 'docs/a.patch'],
  ['sh scripts/h.sh docs/*', 'docs/new'],
  ['mytool docs/*', 'docs/new'],
  ['run-parts scripts', 'scripts/new.sh'],
  ['git log --all -p > "$HOME/x"', '.git/refs/ramet/wip/a'],
  ['git show ramet/a:x | sh', '.git/refs/heads/ramet/a'],
  ['git show "$X" | sh', '.git/refs/heads/ramet/a'],
  ['git show :/fix | sh', '.git/refs/heads/ramet/a'],
  ['git checkout -q - && sh scripts/h.sh', '.git/refs/heads/ramet/a'],
  ['git log -p >> "$HOME/x"', '.git/refs/heads/new/branch'],
  ['git log -p >> "$HOME/x"', '.git/refs/remotes/origin/main'],
  // sed, awk and code that is a word can run what they read, and write files.
  ["sed 's/.*/sh scripts\\/h.sh/e' docs/page.md", 'scripts/h.sh'],
  ["echo h | sed 's#.*#sh scripts/&.sh#e'", 'scripts/h.sh'],
  ["ls scripts | sed -n 's|^|sh scripts/|e'", 'scripts/h.sh'],
  ['sed -n "1e sh scripts/h*" docs/page.md', 'scripts/new.sh'],
  ["sed 's/x/y/e' docs/*", 'docs/new'],
  ['sed -f run.sed docs/page.md', 'docs/new'],
  ["sed -n 'w out.sh' docs/*; sh out.sh", 'docs/new'],
  ["sed 's/a/b/w out.sh' docs/*; sh out.sh", 'docs/new'],
  ['sort -o out.sh docs/page.md; sh out.sh', 'docs/page.md'],
  ['uniq docs/page.md out.sh; sh out.sh', 'docs/page.md'],
  ["cat docs/page.md | awk '{system($0)}'", 'docs/page.md'],
  [`cat docs/page.md | awk '{print | "sh"}'`, 'docs/page.md'],
  ["cat docs/page.md | perl -ne 'eval'", 'docs/page.md'],
  ["cat docs/page.md | python3 -c 'exec(input())'", 'docs/page.md'],
  ["cat docs/page.md | ruby -ne 'eval $_'", 'docs/page.md'],
  [`cat docs/page.md | node -e 'eval(require("fs").readFileSync(0,"utf8"))'`, 'docs/page.md'],
  // Python looks for its own modules first where it is started, or beside its script.
  ['python3 -m json.tool', 'json.py'],
  ['python3 -m json.tool', 'json/__init__.py'],
  ['python3 -m json.tool', 'argparse.py'],
  ['python3 -m json.tool', '_json.cpython-311-x86_64-linux-gnu.so'],
  ['python3 -mcsv', 're.pyc'],
  ['python3 -Bc "print(1)"', 'abc.py'],
  ['python3 -W ignore -X dev -c 1', 'warnings.py'],
  ['/usr/bin/env python3.11 -c 1', 'io.py'],
  ['echo 1 | python3', 'io.py'],
  ['timeout 5 python3 - <<EOF\nprint(1)\nEOF', 'io.py'],
  ['uv run python -m json.tool', 'json.py'],
  ['cd scripts && python3 -m json.tool', 'scripts/json.py'],
  ['python3 -m pytest test', 'json.py'],
  ['python3 scripts/mod.py', 'scripts/json.py'],
  ['python3 -u "$CLAUDE_PROJECT_DIR/scripts/mod.py" x', 'scripts/json/__init__.py'],
  ['./scripts/mod.py', 'scripts/json.py'],
  ['bin/py', 'bin/json.py'],
  ['python3 -m pdb -c q scripts/mod.py', '.pdbrc'],
  // Modules that a script imports are looked for there first, too, and so are those that a package imports in turn.
  ['python3 -c "import requests"', 'requests.py'],
  ['python3 -c "import requests"', 'requests/__init__.py'],
  ['python3 -c "import requests"', 'urllib3.py'],
  ['python3 -c "import sys; from requests import get"', 'urllib3/__init__.py'],
  ['python3 -c "__import__(\'requests\')"', 'urllib3.py'],
  ['python3 <<EOF\nimport requests\nEOF', 'urllib3.py'],
  ['printf "import json\\nimport requests\\n" | python3 -', 'urllib3.so'],
  ['python3 -m cowsay hello', 'cowsay.py'],
  ['python3 -m cowsay hello', 'urllib3.py'],
  ['cat py/tool.py | python3', 'yaml.py'],
  ['python3 py/tool.py', 'py/yaml.py'],
  ['python3 py/tool.py', 'py/yaml/__init__.py'],
  ['python3 "$PWD/py/tool.py"', 'py/_yaml.cpython-311-x86_64-linux-gnu.so'],
  ['./py/tool.py', 'py/yaml.py'],
  ['python3 py/calls.py', 'py/near.py'],
  ['python3 py/calls.py', 'py/far.py'],
  ['python3 py/calls.py', 'py/pack/part.py'],
  ['python3 py/calls.py', 'py/pack/__init__.py'],
  ['python3 py/calls.py', 'py/toml.py'],
  ['cd py && python3 -c "import calls"', 'py/far.py'],
  ['perl -I. -MData::Dumper -e 1', 'Data/Dumper.pm'],
  ['perl -I . -MData::Dumper -e 1', 'Data/Dumper.pm'],
  ['perl -Mlib=scripts -MData::Dumper -e 1', 'scripts/Data/Dumper.pm'],
  ['PERL5OPT=-Mlib=scripts perl -MData::Dumper -e 1', 'scripts/Data/Dumper.pm'],
  ['ruby -I. -rset -e 1', 'set.rb'],
  ['RUBYOPT="-w -Iscripts" ruby -rset -e 1', 'scripts/set.rb'],
  ['Rscript scripts/x.js', '.Rprofile'],
  // Code in double quotes reaches its interpreter without the backslashes.
  ['node -e "require(\\"./scripts/x.js\\")"', 'scripts/x.js'],
  ['node -e "const x = require(\\"./scripts/x.js\\"); x"', 'scripts/x.js'],
  ['node -p "import(\\"./scripts/x.js\\")"', 'scripts/x.js'],
  ['node -e require\\(\\"./scripts/x.js\\"\\)', 'scripts/x.js'],
  ['node -e "require(\\"child_process\\").execSync(\\"sh scripts/h.sh\\")"', 'scripts/h.sh'],
  ['python3 -c "exec(open(\\"scripts/mod.py\\").read())"', 'scripts/mod.py'],
  ['python3 -c "import os; os.system(\\"sh scripts/h.sh\\")"', 'scripts/h.sh'],
  ['perl -e "do \\"./scripts/h.sh\\""', 'scripts/h.sh'],
  ['perl -e "system(\\"sh scripts/h.sh\\")"', 'scripts/h.sh'],
  ['awk "BEGIN{system(\\"sh scripts/h.sh\\")}"', 'scripts/h.sh'],
  [`bash -c 'node -e "require(\\"./scripts/x.js\\")"'`, 'scripts/x.js'],
  ['npx -c "node \\"scripts/x.js\\""', 'scripts/x.js'],
  ['npm exec --call "cd scripts && node \\"x\\""', 'scripts/x.js'],
  ['npm run quoted', 'scripts/x.js'],
  ['make -C quoted', 'quoted/x.js'],
  // What a compiler writes is made of sources that no word names.
  ['npx tsc -p . && node dist/x.js', 'src/index.ts'],
  ['node node_modules/typescript/bin/tsc -p . ; node dist/x.js', 'src/new.ts'],
  ['npm run built', 'src/index.ts'],
  ['npm run build && npm run built:only', 'src/index.ts'],
  ['yarn vite build; sh build/h.sh', 'src/index.ts'],
  ['go build -o out/x ./cmd/x && ./out/x', 'src/index.ts'],
  ['cargo build && ./target/debug/x', 'src/index.ts'],
  ['cargo run', 'src/index.ts'],
  ['npx tsc --outDir gen && node gen/x.js', 'src/index.ts'],
  ['npx esbuild src/index.ts --outfile=lib/a.js && node lib/a.js', 'src/index.ts'],
  ['npx esbuild src/index.ts --outdir=packed && node packed/a', 'src/index.ts'],
  ['npx tsc -p conf && node js/x', 'src/index.ts'],
  ['npx tsc -p conf && node js/kept.js', 'src/index.ts'],
  ['cd conf && npx tsc && node ../js/kept.js', 'src/index.ts'],
  ['npx tsc -b conf/tsconfig.more.json && node js/kept.js', 'src/index.ts'],
  ['npx rollup -c conf/rollup.config.js && node rolled/kept.js', 'src/index.ts'],
  ['npx webpack --config conf/webpack.config.cjs && node rolled/kept.js', 'src/index.ts'],
  ['npx tsc src/index.ts && node src/index.js', 'src/index.ts'],
  ['npx tsc --outDir js; sh js/kept.js', 'src/index.ts'],
  ['npx tsc --outDir js; ./js/kept.js', 'src/index.ts'],
  ['npx tsc --outDir js; cd js && node kept', 'src/index.ts'],
  ['npx tsc --outDir js; node -e "require(\'./js/kept.js\')"', 'src/index.ts'],
  ['npx tsc --outDir js; node -r ./js/kept.js -e 1', 'src/index.ts'],
  ['npx tsc --outDir js; node --import=./js/kept.js -e 1', 'src/index.ts'],
  ['npx tsc; node --require ./gone/x.js -e 1', 'src/index.ts'],
  ['npx tsc --outDir gen; cd gen && node index.js', 'src/index.ts'],
  ['npx tsc --outDir gen; env -C gen node index.js', 'src/index.ts'],
  ['npm run build -- --outDir js && node js/kept.js', 'src/index.ts'],
  ['npm run build && node js/kept2.js', 'src/index.ts'],
  ['npx tsc && node pair/one.js', 'src/index.ts'],
  ['rustc pair/tool.rs -o pair/tool && pair/tool', 'src/index.ts'],
  ['go build ./cmd/x && ./x', 'src/index.ts'],
  ['javac -d classes src/A.java && java -cp classes A', 'src/index.ts'],
  ['make -s prog; ./prog', 'prog.c'],
  ['make -s tool && ./tool', 'tool.sh'],
  ['make -s c/prog && c/prog', 'c/part.h'],
  ['make -s c/prog && ./c/prog', 'c/prog.c'],
  ['make -C c lib && c/lib', 'c/part.c'],
  ['make -C c lib && c/lib', 'c/part.h'],
  ['make -C c own && c/own', 'c/part.h'],
  ['make -C c run', 'c/part.h'],
  ['make hook', 'Makefile.sh'],
  ['make hook', 'rules.mk.sh'],
  ['make hook', 'Makefile,v'],
  ['make hook', 'RCS/Makefile,v'],
  ['make hook', 'SCCS/s.Makefile'],
  ['make later', 'made.sh'],
  ['make -C c x.out', 'c/x.out.sh'],
  ['gcc -o tool c/prog.c && ./tool', 'c/part.h'],
  ['cc c/prog.c; ./a.out', 'c/part.h'],
  // Programs that .git/config names.
  ['git status', 'git/monitor.sh'],
  ['git add -A', 'git/clean.sh'],
  ['git diff', 'git/diff.sh'],
  ['git log -p', 'git/text.js'],
  ['git merge x', 'git/drive.sh'],
  ['git push', 'git/key.sh'],
  ['git fetch', 'git/ssh.sh'],
  ['git commit -m x', 'git/hooks/pre-commit'],
  ['git status', 'git/shared.config'],
  ['cd src && git status', 'git/pager.sh'],
  // Code that works out what it loads or starts.
  [`node -e 'require(".")'`, 'index.js'],
  [`X=h node -e 'require("./"+process.env.X)'`, 'h.js'],
  [`perl -e 'exec "make","-s","hook"'`, 'Makefile'],
  [`perl -e 'do "./$_" for glob("*.pl")'`, 'new.pl'],
  [`python3 -c 'import os; [exec(open(f).read()) for f in os.listdir(".")]'`, 'new.py'],
  [`python3 -c 'import subprocess; subprocess.run(["make", "hook"])'`, 'Makefile'],
];

describe('SEC-1: a command runs no file that an agent has written since it was trusted', () => {
  test.for(SPELLINGS)('%s: not with another %s', ([command, file]) => {
    expect(trusted(command).runsWith(file)).toBe(false);
  });

  /** What they work on is not what they run. */
  test.for([
    ['npx eslint src', 'src/index.ts'],
    ['npm run lint', 'src/index.ts'],
    ['npm test', 'src/index.ts'],
    ['npm test', 'server.js'],
    ['npm run h', 'binding.gyp'],
    ['npx prettier --check .', 'src/index.ts'],
    ['cd src && npx tsc --noEmit', 'src/index.ts'],
    ['sh scripts/h.sh', 'src/index.ts'],
    ['sh scripts/h.sh src docs', 'docs/page.md'],
    ['npx -y @modelcontextprotocol/server-filesystem .', 'src/index.ts'],
    ['grep -r x src | head -5', 'src/index.ts'],
    [
      `jq -r .tool_input.file_path | { read f; if echo "$f" | grep -q '\\.ts$'; then npx prettier --write "$f"; fi; }`,
      'src/index.ts',
    ],
    ['f=$(jq -r .tool_input.file_path); [ -f "$f" ] && ruff check "$f"', 'src/index.ts'],
    ['python3 scripts/mod.py "$(cat)"', 'src/index.ts'],
    ['NODE_ENV=docs node scripts/x.js', 'docs/page.md'],
    ['git status --short | tee -a log.txt', 'src/index.ts'],
    ['make hook', 'docs/page.md'],
    ['make hook', 'hook.md'],
    ['make -C c lib', 'src/index.ts'],
    ['make -C pattern out.txt', 'src/index.ts'],
    ['make -C pattern hook', 'pattern/out.in'],
    ['touch .last-run', '.last-run'],
    ['touch .last-run; echo "$(date)" >> log.txt', '.last-run'],
    ['date | tee -a log2.txt', 'log2.txt'],
    ['flock -w 5 .lock date', '.lock'],
    ['rm -f t && touch t', 't'],
    ['tar czf out.tgz src', 'out.tgz'],
    ['zip -qr out.zip src', 'out.zip'],
    ['sqlite3 calls.db "insert into t values (1)"', 'calls.db'],
    ['make hook', 'src/index.ts'],
    ['make hook', 'scripts/x.js'],
    ['npx prettier --write src/index.ts', 'src/index.ts'],
    ['npx eslint --fix src/index.ts', 'src/index.ts'],
    ['bash -c "npx prettier --write src/index.ts"', 'src/index.ts'],
    ['timeout 20 npx prettier --write src/index.ts >/dev/null 2>&1', 'src/index.ts'],
    ['tail -1 CHANGELOG.md', 'CHANGELOG.md'],
    ['head -n 3 CHANGELOG.md | grep -q text && echo yes', 'CHANGELOG.md'],
    ['grep -q NOTE src/index.ts || true', 'src/index.ts'],
    ['cat src/index.ts | wc -l', 'src/index.ts'],
    ['wc -l < src/index.ts', 'src/index.ts'],
    ['test -f src/index.ts && npm run lint', 'src/index.ts'],
    ['diff -q src/index.ts scripts/x.js || true', 'src/index.ts'],
    ['node --check scripts/x.js', 'scripts/x.js'],
    ['bash -n scripts/h.sh', 'scripts/h.sh'],
    ['for f in src/*.ts; do node --check "$f"; done', 'src/index.ts'],
    ['npm run unit', 'test/b.test.js'],
    ['npm run unit 2>&1 | tail -20', 'test/a.test.js'],
    ['node --test test/a.test.js | tail -5', 'test/a.test.js'],
    ['go test ./cmd/x', 'cmd/x/main.go'],
    ['python3 -m pytest test', 'test/test_a.py'],
    ['python3 -m scripts.mod', 'scripts/__pycache__/mod.cpython-311.pyc'],
    ['npx vitest run test/a.test.js', 'test/a.test.js'],
    ['python3 -m json.tool', 'app.py'],
    ['FILE_PATH=$(jq -r .tool_input.file_path); npx prettier --write "$FILE_PATH"', 'src/index.ts'],
    ['PATH="$HOME/.local/bin:$PATH"; npx prettier --check src', 'src/index.ts'],
    ['cat src/index.ts | node scripts/x.js -', 'src/index.ts'],
    ['cat src/index.ts | sh -e scripts/h.sh -s', 'src/index.ts'],
    ['python3 -m json.tool', 'src/json.py'],
    ['python3 -m json.tool', 'email/hello.html'],
    ['python3 -m json.tool', 'json.md'],
    ['python3 -I -m json.tool', 'argparse.py'],
    ['python3 -BP -c "print(1)"', 'io.py'],
    ['python3 scripts/mod.py', 'json.py'],
    ['python3 scripts/mod.py', 'scripts/other.py'],
    ['python3 py/plain.py', 'py/near.py'],
    ['python3 py/tool.py', 'yaml.py'],
    ['python3 py/tool.py', 'py/notes.txt'],
    ['python3 -P py/tool.py', 'py/yaml.py'],
    ['python3 -c "import json, sys; print(json.load(sys.stdin)[\'a\'])"', 'app.py'],
    ['python3 -m black src', 'app.py'],
    ['perl -e 1', 'Data/Dumper.pm'],
    ['cat docs/*.md | wc -l', 'docs/new.md'],
    ['n=$(grep -rc NOTE src | wc -l); [ "$n" -gt 3 ] && npm test', 'src/new.ts'],
    ['grep -l NOTE src/* > /tmp/ramet-list; sh scripts/h.sh', 'src/new.ts'],
    ['ls src/* | head -3; sh scripts/h.sh', 'src/new.ts'],
    ['cp -r src /tmp/ramet-copy', 'src/new.ts'],
    ['tar czf /tmp/ramet.tgz src docs', 'src/new.ts'],
    ['f=$(jq -r .tool_input.file_path); cp "$f" "$f.bak"; node scripts/x.js "$f"', 'src/index.ts'],
    ['git diff --name-only | xargs npx prettier --check', '.git/index'],
    ['git diff | head -50; git log -1', '.git/refs/heads/main'],
    ['echo "$(date) $(cat)" >> log.txt; node scripts/x.js', 'src/index.ts'],
    ['rm -f src/*.map; mkdir -p docs; sh scripts/h.sh', 'src/new.ts'],
    ['[[ "$F" =~ \\.(ts|js)$ ]] && npx prettier --write "$F"', 'src/index.ts'],
    ['echo "\u26a0\ufe0f careful"; npx prettier --check src', 'src/index.ts'],
    ['if command -v node >/dev/null; then sh scripts/h.sh; fi', 'src/index.ts'],
    ["sed -e 's/one/two/g' docs/*", 'docs/new'],
    ["git log --oneline | sed 's/e/e/'", 'src/index.ts'],
    // What Ramet itself writes is no change.
    ['git log >> "$HOME/x"', '.git/refs/ramet/wip/a'],
    ['git log -p >> "$HOME/x"', '.git/refs/heads/ramet/a'],
    ['git show HEAD:scripts/h.sh | sh', '.git/refs/ramet/integration/main'],
    ['git log --oneline >> log', '.git/refs/heads/main'],
    ["cat docs/page.md | awk '{print $1}'", 'docs/page.md'],
    ["cat docs/page.md | python3 -c 'import sys; print(len(sys.stdin.read()))'", 'docs/page.md'],
    ['sort docs/page.md | uniq -c', 'docs/page.md'],
    ['npx tsc -p . && sh scripts/h.sh', 'src/index.ts'],
    ['npx tsc --noEmit && node scripts/x.js', 'src/index.ts'],
    ['npx tsc && node scripts/x', 'src/index.ts'],
    ['npx tsc -p conf && node scripts/x.js', 'src/index.ts'],
    ['cd scripts && npx tsc -p . && node x.js', 'src/index.ts'],
    ['cd scripts && npx tsc -p ./ && node dir/index.js', 'src/index.ts'],
    ['npx tsc -p . && node -e "console.log(1)" && python3 -m json.tool', 'src/index.ts'],
    ['npx vite build && npm test', 'src/index.ts'],
    ['npx tsc && npx eslint src', 'src/index.ts'],
    ['npx tsc && node node_modules/x/bin.js', 'src/index.ts'],
    ['npx tsc --outDir js && node --test js/kept.js', 'src/index.ts'],
    ['npm run build', 'src/index.ts'],
    ['cargo check', 'src/index.ts'],
    ['git status', 'git/hooks/pre-commit'],
    ['git status', 'git/ssh.sh'],
    ['git status', 'src/index.ts'],
    [`node -e 'require("fs").readFileSync(0); require("@x/y")'`, 'src/index.ts'],
    [`python3 -c 'import subprocess; subprocess.run(["git", "status"])'`, 'src/index.ts'],
  ] as const)('%s: also with another %s', ([command, file]) => {
    expect(trusted(command).runsWith(file)).toBe(true);
  });

  test.for([
    ['sh $X', /sh \$X \(because of what sh runs: every file/],
    ['f() { sh a; }; f', /because of a parenthesis in a word/],
    ['npm run "$X"', /because of the program it starts/],
    ['sh -c "$X"', /because of a script inside it/],
    ['cd $X && ./h.sh', /because of the folder it changes into/],
    ['sed "s/x/$V/" docs/page.md', /what sed loads/],
    ['sed s/x/y/e docs/page.md', /because of what sed runs: every file/],
    ['mytool scripts', /mytool scripts \(what mytool loads\)/],
    ['npm test', /npm test \(what vitest loads\)/],
    ['make hook', /make hook \(what make, eslint loads\)/],
    ['npx tsc -p .', /npx tsc -p \. \(what tsc loads\)/],
    ['npx tsc && node dist/x.js', /because of what tsc writes: every file/],
    ['npm run unit', /npm run unit \(what node --test loads\)/],
  ] as const)('%s is listed as not followed', ([command, listed]) => {
    expect(trusted(command).described.unfollowed.join('\n')).toMatch(listed);
  });

  test.for([
    ['cat docs/page.md', 'docs/page.md'],
    ['jq . docs/page.md', 'docs/page.md'],
    ['echo "$(head -1 docs/page.md)"', 'docs/page.md'],
    ['cat docs/*', 'docs/new.json'],
    ['grep -rh . docs', 'docs/new.json'],
  ] as const)('%s: what it prints decides about calls, so that %s counts there', ([command, file]) => {
    expect(trusted(command, 'PostToolUse').runsWith(file)).toBe(true);
    expect(trusted(command, 'PreToolUse').runsWith(file)).toBe(false);
  });

  test('a pattern that leads into a temporary folder counts that folder', () => {
    const base = temporaryDirectory();
    writeFiles(base, { 'work/.git/HEAD': '', 'other/t.sh': 'exit 0\n' });
    const [root, command] = [join(base, 'work'), `sh ${join(base, 'other')}/*.sh`];
    const part: FolderPart = { kind: 'setup', source: join(root, '.ramet/settings.json'), value: command };
    const place = { home: join(base, 'home'), root };
    const { key, ...covered } = describePart(part, root);
    trust(place, { [key]: covered });
    const check = runCheck(part, place, folderTrust(place));
    expect(check([command], root)).toBeNull();
    writeFiles(base, { 'other/a.sh': 'exit 1\n' });
    expect(check([command], root)).toContain('a.sh is not what you trusted');
  });

  test('a command that is read whole is not listed', () => {
    expect(trusted('cd scripts && sh h.sh 2>&1 | tail -3').described.unfollowed).toEqual([]);
  });

  test('one that is unclear does not run where there are too many files to look at', () => {
    const many = Object.fromEntries(Array.from({ length: 3_001 }, (_, index) => [`data/${index}`, '']));
    const base = temporaryDirectory();
    writeFiles(base, { ...FILES, ...many });
    const part: FolderPart = { kind: 'setup', source: join(base, '.ramet/settings.json'), value: 'sh $X' };
    const place = { home: join(base, 'home'), root: base, isGiven: true };
    const check = runCheck(part, place, folderTrust(place));
    expect(check(['sh $X'], base)).toMatch(/^\. has more than 3000 files, and because of what sh runs/);
  });

  test('a file in a temporary folder counts, and so does one that a link in a folder leads to', () => {
    const base = temporaryDirectory();
    writeFiles(base, { 'work/.git/HEAD': '', 'other/t.sh': 'exit 0\n' });
    const [root, file] = [join(base, 'work'), join(base, 'other/t.sh')];
    for (const command of [`sh ${file}`, `cd ${join(base, 'other')} && sh t.sh`]) {
      writeFiles(base, { 'other/t.sh': 'exit 0\n' });
      const part: FolderPart = { kind: 'setup', source: join(root, '.ramet/settings.json'), value: command };
      const place = { home: join(base, 'home'), root };
      const { key, ...covered } = describePart(part, root);
      trust(place, { [key]: covered });
      const check = runCheck(part, place, folderTrust(place));
      expect(check([command], root)).toBeNull();
      writeFiles(base, { 'other/t.sh': 'exit 1\n' });
      expect(check([command], root)).toContain('t.sh is not what you trusted');
    }
  });
});

test('SEC-1: the branch that HEAD names counts, also one of an agent', () => {
  const base = temporaryDirectory();
  writeFiles(base, { '.git/HEAD': 'ref: refs/heads/ramet/a\n', '.git/refs/heads/ramet/a': '1\n' });
  const { paths } = commandReach(['git show HEAD:x | sh'], base, [base]);
  expect(paths.map(({ path }) => path)).toContain(join(base, '.git/refs/heads/ramet/a'));
});
