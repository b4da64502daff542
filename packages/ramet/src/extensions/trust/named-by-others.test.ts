import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { commandReach } from './command-reach.ts';

const MONITOR = '[core]\n\tfsmonitor = sh tools/run.sh\n';
const FILES = {
  '.git/HEAD': '',
  gc: `${MONITOR}[include]\n\tpath = conf/more\n`,
  'conf/more': '[core]\n\tpager = sh tools/page.sh\n',
  'home/.gitconfig': MONITOR,
  'home/git/config': MONITOR,
  'odd/config': MONITOR,
  'odd/hooks/pre-commit': '',
  'shape/hooks/x': '',
  'tools/run.sh': '',
  'tools/page.sh': '',
  'tools/x.js': '',
  rc: '',
  'conf/rc': '',
  'm.jq': 'import "deep/n" as n; def f: 1;\n',
  'deep/n.jq': 'def g: 2;\n',
  'lib/own.jq': 'def f: 1;\n',
  'lib/dir/dir.jq': 'def f: 1;\n',
  'data.json': '[]',
  'run.jq': 'include "m"; import "data" as $d; f',
  'plain.jq': '. | length',
  'far/sub/a.txt': '',
  'far/x.sh': '',
  'far/tools/y.sh': '',
  'x.sh': '',
};

let root = '';
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-test-')));
  writeFiles(root, FILES);
  symlinkSync('far/sub', join(root, 'link'));
  return () => rmSync(root, { recursive: true, force: true });
});

function counts(command: string, file: string): boolean {
  const { paths, folders } = commandReach([command], root, [root]);
  const path = join(root, file);
  return paths.some((one) => one.path === path) || folders.some((one) => path.startsWith(`${one}/`));
}

describe('SEC-1: `..` behind a link to a folder', () => {
  test.for([
    ['sh link/../x.sh', 'far/x.sh'],
    ['sh link/../x.sh', 'x.sh'],
    ['sh "$CLAUDE_PROJECT_DIR/link/../x.sh"', 'far/x.sh'],
    ['cd link/.. && sh x.sh', 'far/x.sh'],
    ['cd link/.. && sh x.sh', 'x.sh'],
    ['cd link && sh ../x.sh', 'far/x.sh'],
    ['cd -P link/..; ./tools/y.sh', 'far/tools/y.sh'],
    ['env -C link/.. sh x.sh', 'far/x.sh'],
    ['env -C link sh ../x.sh', 'far/x.sh'],
    ['. link/../tools/y.sh', 'far/tools/y.sh'],
    ['sh link/../tools/*.sh', 'far/tools/new.sh'],
    ['D=link/..; sh $D/x.sh', 'far/x.sh'],
    ['X=link/../x.sh; export X; sh tools/run.sh', 'far/x.sh'],
  ] as const)('%s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test('a name without it counts once', () => {
    expect(counts('sh x.sh', 'far/x.sh')).toBe(false);
    expect(counts('cd tools/.. && sh x.sh', 'far/x.sh')).toBe(false);
  });
});

describe('SEC-1: what a variable gives git', () => {
  const RUN = 'tools/run.sh';
  test.for([
    ['GIT_CONFIG_GLOBAL=gc git status', RUN],
    ['GIT_CONFIG_GLOBAL=gc git status', 'gc'],
    ['GIT_CONFIG_GLOBAL=gc git status', 'conf/more'],
    ['GIT_CONFIG_GLOBAL=gc git log', 'tools/page.sh'],
    ['GIT_CONFIG_SYSTEM=gc git status', RUN],
    ['GIT_CONFIG=gc git config -l', RUN],
    ['env GIT_CONFIG_GLOBAL=gc git status', RUN],
    ['export GIT_CONFIG_GLOBAL=$PWD/gc; git status', RUN],
    ['export GIT_CONFIG_GLOBAL="$CLAUDE_PROJECT_DIR/gc"\ncd deep; git status', RUN],
    ['GIT_CONFIG_GLOBAL=gc; export GIT_CONFIG_GLOBAL; git status', RUN],
    ['HOME=home git status', RUN],
    ['HOME=$PWD/home git status', 'home/.gitconfig'],
    ['XDG_CONFIG_HOME=home git status', RUN],
    ['GIT_DIR=odd git status', RUN],
    ['env GIT_DIR=odd git status', RUN],
    ['git --git-dir=odd status', RUN],
    ['git --git-dir odd status', RUN],
    ['GIT_DIR=odd git commit', 'odd/hooks/pre-commit'],
    ['GIT_TEMPLATE_DIR=shape git init x', 'shape/hooks/x'],
    ['GIT_EXEC_PATH=tools git status', 'tools/git-status'],
    ['git -c include.path="$PWD/gc" status', RUN],
    [
      'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="sh tools/run.sh" git status',
      RUN,
    ],
    ['GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=shape git commit', 'shape/new'],
    ['GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=include.path GIT_CONFIG_VALUE_0=gc git status', 'tools/page.sh'],
    [`GIT_CONFIG_PARAMETERS="'core.fsmonitor'='sh tools/run.sh'" git status`, RUN],
  ] as const)('%s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for(['git status', 'GIT_CONFIG_GLOBAL=/dev/null git status', 'GIT_DIR=.git git status'])(
    '%s: nothing of them',
    (command) => {
      expect(counts(command, RUN)).toBe(false);
    },
  );
});

describe('SEC-1: a file that the value of a variable names', () => {
  test.for([
    ['RIPGREP_CONFIG_PATH=rc rg x src', 'rc'],
    ['env RIPGREP_CONFIG_PATH=conf/rc rg x src', 'conf/rc'],
    ['export RIPGREP_CONFIG_PATH=$PWD/rc; rg x src', 'rc'],
    ['RIPGREP_CONFIG_PATH=rc; export RIPGREP_CONFIG_PATH; rg x src', 'rc'],
    ['ANY=rc sh x.sh', 'rc'],
    ['ANY="-f rc" sh x.sh', 'rc'],
    ['ANY=a:conf/rc:b cat x.sh', 'conf/rc'],
    ['NODE_OPTIONS="--require ./tools/x.js" node --version', 'tools/x.js'],
    ['INPUTRC=rc bash -i x.sh', 'rc'],
    ['declare -x ANY=rc; tail -1 x.sh', 'rc'],
    ['export ANY=rc; tail -1 x.sh', 'rc'],
  ] as const)('%s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });
});

describe('SEC-1: a module that code of jq imports', () => {
  test.for([
    [`jq 'import "m" as m; m::f' data.json`, 'm.jq'],
    [`jq 'import "m" as m; m::f' data.json`, 'deep/n.jq'],
    [`jq -r 'include "m"; f'`, 'm.jq'],
    [`jq -L lib 'import "own" as o; o::f'`, 'lib/own.jq'],
    [`jq -Llib 'include "dir"; f'`, 'lib/dir/dir.jq'],
    [`jq 'import "own" as o {search: "./lib"}; o::f'`, 'lib/own.jq'],
    [`jq 'include "own" {"search": ["x", "lib"]}; f'`, 'lib/own.jq'],
    [`jq 'import "data" as $d; $d'`, 'data.json'],
    ['jq -f run.jq', 'm.jq'],
    ['jq -f run.jq', 'deep/n.jq'],
    ['jq -rf run.jq', 'data.json'],
    ['jq --from-file run.jq .', 'm.jq'],
    ['cat x | jq -f "$CLAUDE_PROJECT_DIR/run.jq"', 'm.jq'],
    [`cd lib && jq 'include "own"; f'`, 'lib/own.jq'],
    [`X=$(jq -n 'include "m"; f'); echo "$X"`, 'm.jq'],
  ] as const)('%s: %s', ([command, file]) => {
    expect(counts(command, file)).toBe(true);
  });

  test.for([
    ['jq -f plain.jq', 'm.jq'],
    [`jq '.import'`, 'm.jq'],
    [`jq -r .tool_input.file_path`, 'data.json'],
  ] as const)('%s: not %s', ([command, file]) => {
    expect(counts(command, file)).toBe(false);
  });
});
