import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { commandReach } from './command-reach.ts';

const HERE = 'SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)"';

/** Scripts and modules that load others, by their names. */
const FILES = {
  '.git/HEAD': '',
  'lib.sh': '',
  'data.txt': '',
  'src/app.js': "import './part.js';\n",
  'src/part.js': '',
  'own.sh': '. ./lib.sh\n',
  'hooks/lib.sh': 'log() { echo "$1" >&2; }\n',
  'hooks/using.sh': '. "$SCRIPT_DIR/more.sh"\n',
  'hooks/more.sh': 'true\n',
  'hooks/second.sh': 'true\n',
  'hooks/plain.sh':
    'set -euo pipefail\ninput=$(cat)\nfile=$(jq -r .tool_input.file_path <<< "$input")\nif grep -q x "$file" data.txt; then echo no >&2; exit 2; fi\ncat data.txt > out.txt\nhead -1 src/app.js\n',
  'hooks/zero.sh': '#!/bin/sh\nsource "$(dirname "$0")/lib.sh"\n',
  'hooks/placed.sh': `#!/bin/bash\n${HERE}\nsource "$SCRIPT_DIR/lib.sh"\nsource "$SCRIPT_DIR/using.sh"\nif [[ -f "$SCRIPT_DIR/second.sh" ]]; then source "\${SCRIPT_DIR}/second.sh"; fi\n`,
  'hooks/cut.sh': '#!/bin/bash\nsource "${BASH_SOURCE[0]%/*}/lib.sh"\n',
  'hooks/default.sh': '#!/bin/bash\nD=$(dirname -- "${BASH_SOURCE[0]:-$0}")\n. $D/lib.sh\n',
  'hooks/linked.sh':
    '#!/bin/bash\nSOURCE=${BASH_SOURCE[0]}\nwhile [ -L "$SOURCE" ]; do\n  DIR=$( cd -P "$( dirname "$SOURCE" )" >/dev/null 2>&1 && pwd )\n  SOURCE=$(readlink "$SOURCE")\n  [[ $SOURCE != /* ]] && SOURCE=$DIR/$SOURCE\ndone\nDIR=$( cd -P "$( dirname "$SOURCE" )" >/dev/null 2>&1 && pwd )\n. "$DIR/lib.sh"\n',
  'hooks/quiet.sh':
    '#!/bin/bash\nreadonly HERE="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" &> /dev/null && pwd -P)"\nif [ "${1:-}" = x ] && [ -n "$HERE" ]; then\n  source "${HERE}/lib.sh"\nfi\n',
  'hooks/list.sh': 'ALL=(second.sh "more.sh")\nfor one in "${ALL[@]}"; do bash "hooks/$one"; done\n',
  'hooks/root.sh': '#!/bin/bash\n. "$CLAUDE_PROJECT_DIR/hooks/lib.sh"\n',
  'hooks/given.sh': '#!/bin/bash\nROOT="${CLAUDE_PROJECT_DIR:-$(pwd)}"\nsource "$ROOT/hooks/lib.sh"\n',
  'hooks/top.sh': '#!/bin/bash\ncd "$(git rev-parse --show-toplevel)"\n./own.sh && bash hooks/second.sh\n',
  'hooks/moved.sh': 'cd "$(dirname "$0")/../tools" || exit 1\nnode y.js\n',
  'hooks/real.sh': 'HERE=$(dirname "$(readlink -f "$0")")\nsource "$HERE/lib.sh"\n',
  'hooks/runs.sh':
    'case "$1" in\n  a|b) node tools/y.js "$2" ;;\n  *) exec python3 tools/z.py ;;\nesac\nf() { bash ./lib.sh; }\nif f; then :; fi\n',
  'hooks/nested.sh': "bash -c 'source hooks/lib.sh'\ntimeout 5 env A=1 tools/run\n",
  'hooks/doc.sh': 'bash <<EOF\n. hooks/second.sh\nEOF\ncat <<EOF\n. lib.sh\nEOF\n',
  'hooks/each.sh': 'for name in second more; do . "hooks/$name.sh"; done\n',
  'hooks/all.sh': 'for one in hooks/hooks.d/*.sh; do source "$one"; done\n',
  'hooks/hooks.d/10.sh': '',
  'hooks/path.sh': 'export PATH="$PWD/tools:$PATH"\nrun x\n',
  'hooks/sub.sh': 'x=$(tools/run "$(bash hooks/second.sh)")\n',
  'hooks/trap.sh': "trap 'bash hooks/second.sh' EXIT\n",
  'hooks/fed.sh': 'sh < hooks/second.sh\n',
  'hooks/code.sh': 'node -e "require(\'./tools/y.js\')"\npython3 -c "import sys; print(1)"\n',
  'hooks/open.sh': 'source "$X"\n',
  'hooks/evals.sh': 'eval "$(cat)"\n',
  'hooks/npx.sh': 'npx prettier --check src/app.js\n',
  'hooks/npm.sh': 'npm run -s lint\n',
  'hooks/args.sh': 'run() { "$@"; }\nrun ls\n',
  'hooks/curl.sh': 'curl -s https://x.test | sh\n',
  'hooks/kept.sh': 'date > hooks/state.sh\n. hooks/state.sh\n',
  'hooks/state.sh': '',
  'hooks/modules.sh': './node_modules/.bin/x; source node_modules/y/z.sh\n',
  'node_modules/y/z.sh': '',
  'node_modules/.bin/x': '',
  'node_modules/pkg/index.js': '',
  'tools/run': '#!/usr/bin/env node\nimport "./y.js";\n',
  'tools/y.js':
    "// import './never.js'\nimport x from './deep/x.mjs';\nimport {\n  a,\n  b,\n} from './deep';\nexport * from './all.js';\nimport 'pkg';\nimport type { T } from './types.ts';\nconst l = await import('./late.js');\nconst w = new URL('./worker.js', import.meta.url);\nconst d = new URL('./data.txt', import.meta.url);\nfs.readFileSync('src/app.js');\n",
  'tools/deep/x.mjs': "import '../far.js';\n",
  'tools/deep/index.js': '',
  'tools/deep/never.js': '',
  'tools/never.js': '',
  'tools/far.js': '',
  'tools/all.js': '',
  'tools/late.js': '',
  'tools/worker.js': '',
  'tools/data.txt': '',
  'tools/types.ts': '',
  'tools/old.cjs':
    "const a = require('./one');\nconst b = require('./pack');\nrequire('./two.json');\nrequire('../package.json');\n",
  'tools/one.js': '',
  'tools/one.ts': '',
  'tools/two.json': '{}',
  'tools/pack/package.json': '{"main": "lib/begin"}',
  'tools/pack/lib/begin.js': '',
  'package.json': '{}',
  'tools/typed.ts': "import { b } from './all.js';\nimport { c } from './two-ts.js';\n",
  'tools/two-ts.ts': '',
  'tools/computes.js': 'const x = await import(process.argv[2]);\n',
  'tools/starts.js':
    "import { execSync, spawn } from 'node:child_process';\nexecSync('sh hooks/second.sh');\nspawn('bash', ['lib.sh', x]);\n",
  'tools/dense.js':
    'import{a}from"./one.js";export*from"./all.js";import b,{c}from"./late.js";import {\n  d, // it\'s\n} from "./far.js"\n',
  'tools/mixed.js': "x.require('./one.js'); require(name);\n",
  'tools/inner.js': "import '#own';\n",
  'tools/linked.js': "import '@own/linked';\n",
  'packages/linked/index.js': '',
  'tools/z.py': 'import near\n',
  'tools/near.py': 'import subprocess\n',
  'tools/x.rb': 'require_relative "y"\n',
  'tools/plain.rb': 'puts 1\n',
  'eslint.config.js': "import rule from './tools/all.js';\n",
};

let root = '';
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ramet-test-')));
  writeFiles(root, FILES);
  writeFiles(root, { 'node_modules/@own/x': '' });
  symlinkSync('../../packages/linked', join(root, 'node_modules/@own/linked'));
  symlinkSync('hooks/real.sh', join(root, 'linked.sh'));
  return () => rmSync(root, { recursive: true, force: true });
});

function reach(command: string): { counts(file: string): boolean; listed: readonly string[] } {
  const { paths, folders, unclear, loads, unknown } = commandReach([command], root, [root]);
  expect(unclear).toBeNull();
  return {
    counts: (file) => {
      const path = join(root, file);
      return paths.some((one) => one.path === path) || folders.some((one) => path.startsWith(`${one}/`));
    },
    listed: [...loads, ...unknown],
  };
}

describe('SEC-1: what a script of a shell sources or runs counts', () => {
  test.for([
    ['hooks/zero.sh', 'hooks/lib.sh'],
    ['hooks/placed.sh', 'hooks/lib.sh'],
    ['hooks/placed.sh', 'hooks/second.sh'],
    // By a variable of the script that sources it.
    ['hooks/placed.sh', 'hooks/more.sh'],
    ['hooks/cut.sh', 'hooks/lib.sh'],
    ['hooks/default.sh', 'hooks/lib.sh'],
    ['hooks/linked.sh', 'hooks/lib.sh'],
    ['hooks/quiet.sh', 'hooks/lib.sh'],
    ['hooks/list.sh', 'hooks/more.sh'],
    ['hooks/root.sh', 'hooks/lib.sh'],
    ['hooks/given.sh', 'hooks/lib.sh'],
    ['hooks/top.sh', 'own.sh'],
    ['hooks/top.sh', 'lib.sh'],
    ['hooks/top.sh', 'hooks/second.sh'],
    ['hooks/moved.sh', 'tools/y.js'],
    ['hooks/moved.sh', 'tools/far.js'],
    ['hooks/real.sh', 'hooks/lib.sh'],
    ['linked.sh', 'hooks/lib.sh'],
    ['hooks/runs.sh', 'tools/y.js'],
    ['hooks/runs.sh', 'tools/deep/x.mjs'],
    ['hooks/runs.sh', 'tools/z.py'],
    ['hooks/runs.sh', 'tools/near.py'],
    ['hooks/runs.sh', 'lib.sh'],
    ['hooks/nested.sh', 'hooks/lib.sh'],
    ['hooks/nested.sh', 'tools/run'],
    ['hooks/nested.sh', 'tools/y.js'],
    ['hooks/doc.sh', 'hooks/second.sh'],
    ['hooks/each.sh', 'hooks/second.sh'],
    ['hooks/each.sh', 'hooks/more.sh'],
    ['hooks/all.sh', 'hooks/hooks.d/10.sh'],
    ['hooks/path.sh', 'tools/run'],
    ['hooks/sub.sh', 'hooks/second.sh'],
    ['hooks/trap.sh', 'hooks/second.sh'],
    ['hooks/fed.sh', 'hooks/second.sh'],
    ['hooks/code.sh', 'tools/y.js'],
  ] as const)('%s: %s', ([script, file]) => {
    expect(reach(`sh ${script}`).counts(file)).toBe(true);
    expect(reach(`"$CLAUDE_PROJECT_DIR"/${script} x`).counts(file)).toBe(true);
  });

  test.for([
    '. hooks/placed.sh',
    'bash < hooks/placed.sh',
    'BASH_ENV=hooks/placed.sh bash -c true',
    'timeout 5 bash hooks/placed.sh',
    'cd hooks && ./placed.sh',
    'bash hooks/pl*.sh',
  ])('also where it is run by %s', (command) => {
    expect(reach(command).counts('hooks/lib.sh')).toBe(true);
  });

  test.for([
    ['hooks/plain.sh', 'data.txt'],
    ['hooks/plain.sh', 'out.txt'],
    ['hooks/plain.sh', 'src/app.js'],
    ['hooks/runs.sh', 'src/app.js'],
    ['hooks/doc.sh', 'lib.sh'],
    ['hooks/npx.sh', 'src/app.js'],
    ['hooks/npm.sh', 'package.json'],
    ['hooks/open.sh', 'lib.sh'],
    ['hooks/kept.sh', 'hooks/state.sh'],
    ['hooks/modules.sh', 'node_modules/y/z.sh'],
    ['hooks/placed.sh', 'lib.sh'],
    ['hooks/zero.sh', 'data.txt'],
  ] as const)('what it works on, or may load, does not: %s: %s', ([script, file]) => {
    expect(reach(`sh ${script}`).counts(file)).toBe(false);
  });

  test.for([
    'hooks/open.sh',
    'hooks/evals.sh',
    'hooks/npx.sh',
    'hooks/npm.sh',
    'hooks/args.sh',
    'hooks/curl.sh',
    'hooks/kept.sh',
  ])('what only the running script knows is listed: %s', (script) => {
    expect(reach(`sh ${script}`).listed).toEqual([script]);
  });

  test.for([
    ...[
      'hooks/plain.sh',
      'hooks/zero.sh',
      'hooks/placed.sh',
      'hooks/cut.sh',
      'hooks/default.sh',
      'hooks/root.sh',
    ],
    ...[
      'hooks/given.sh',
      'hooks/quiet.sh',
      'hooks/list.sh',
      'hooks/top.sh',
      'hooks/moved.sh',
      'hooks/real.sh',
      'hooks/nested.sh',
      'hooks/doc.sh',
    ],
    ...['hooks/each.sh', 'hooks/all.sh', 'hooks/trap.sh', 'hooks/fed.sh', 'hooks/code.sh', 'hooks/sub.sh'],
  ])('one that is followed whole is not listed: %s', (script) => {
    expect(reach(`sh ${script}`).listed).toEqual([]);
  });
});

describe('SEC-1: what a module imports counts', () => {
  test.for([
    ['tools/y.js', 'tools/deep/x.mjs'],
    ['tools/y.js', 'tools/far.js'],
    ['tools/y.js', 'tools/deep/index.js'],
    ['tools/y.js', 'tools/all.js'],
    ['tools/y.js', 'tools/late.js'],
    ['tools/y.js', 'tools/worker.js'],
    ['tools/old.cjs', 'tools/one.js'],
    ['tools/dense.js', 'tools/one.js'],
    ['tools/dense.js', 'tools/all.js'],
    ['tools/dense.js', 'tools/late.js'],
    ['tools/dense.js', 'tools/far.js'],
    ['tools/old.cjs', 'tools/two.json'],
    ['tools/old.cjs', 'tools/pack/package.json'],
    ['tools/old.cjs', 'tools/pack/lib/begin.js'],
    ['tools/typed.ts', 'tools/all.js'],
    ['tools/typed.ts', 'tools/two-ts.ts'],
    ['tools/starts.js', 'hooks/second.sh'],
    ['tools/starts.js', 'lib.sh'],
  ] as const)('%s: %s', ([module, file]) => {
    expect(reach(`node ${module}`).counts(file)).toBe(true);
    expect(reach(`node -r ./${module} -e 1`).counts(file)).toBe(true);
  });

  test('with the configuration that a program loads', () => {
    expect(reach('npx eslint src').counts('tools/all.js')).toBe(true);
  });

  test.for([
    ['tools/y.js', 'tools/never.js'],
    ['tools/y.js', 'tools/data.txt'],
    ['tools/y.js', 'tools/types.ts'],
    ['tools/y.js', 'src/app.js'],
    ['tools/y.js', 'node_modules/pkg/index.js'],
    ['tools/old.cjs', 'tools/one.ts'],
    ['tools/old.cjs', 'package.json'],
  ] as const)('no data, no types, no package: %s: %s', ([module, file]) => {
    expect(reach(`sh -c './${module}'`).counts(file)).toBe(false);
  });

  test.for([
    'tools/computes.js',
    'tools/starts.js',
    'tools/inner.js',
    'tools/mixed.js',
    'tools/linked.js',
    'tools/x.rb',
  ])('what only the running program knows is listed: %s', (module) => {
    expect(reach(`./${module}`).listed).toContain(module);
  });

  test.for(['node tools/y.js', 'node tools/old.cjs', 'node tools/typed.ts', 'ruby tools/plain.rb'])(
    'one that is followed whole is not listed: %s',
    (command) => {
      expect(reach(command).listed).toEqual([]);
    },
  );

  test('what a checker or a formatter reads is not followed', () => {
    expect(reach('npx prettier --check src/app.js').counts('src/part.js')).toBe(false);
    expect(reach('node --check src/app.js').counts('src/part.js')).toBe(false);
  });
});
