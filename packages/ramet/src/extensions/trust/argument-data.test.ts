import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, writeFiles } from '../../../test/fixtures/temporary.ts';
import { commandReach } from './command-reach.ts';

const FILES = [
  ...['srv/i.js', 'srv/i.py', 'srv/i.sh', 'memory.json', 'data/app.db', 'data/x.json', 'data/log.txt'],
  ...['README.md', '.env', 'package-lock.json', 'rules.txt', 'lib/x.sh', 'lib/y.sh', 'run.log', 'logs/a.log'],
];

/** What counts: every file, or files by their paths. */
function counted(texts: readonly string[], answers = false): 'every file' | readonly string[] {
  const root = temporaryDirectory();
  writeFiles(root, { '.git/HEAD': '', ...Object.fromEntries(FILES.map((name) => [name, 'a\n'])) });
  const { paths, folders, unclear } = commandReach(texts, root, [root], answers);
  if (unclear !== null) return 'every file';
  const named = new Set(paths.map(({ path }) => path));
  return FILES.filter((name) => {
    const path = join(root, name);
    return existsSync(path) && (named.has(path) || folders.some((folder) => path.startsWith(`${folder}/`)));
  });
}

describe('SEC-1: what a program is given as data does not count', () => {
  test.for([
    [['MEMORY_FILE_PATH=./memory.json', 'node', 'srv/i.js'], 'srv/i.js'],
    [['node', 'srv/i.js', '--db-path', 'data/app.db'], 'srv/i.js'],
    [['node', 'srv/i.js', '--db-path=data/app.db'], 'srv/i.js'],
    [['python3', 'srv/i.py', '--db', 'data/x.json', '--log-file', 'data/log.txt'], 'srv/i.py'],
    [['node', 'srv/i.js', '.', 'README.md'], 'srv/i.js'],
    [['uvx', 'mcp-server-sqlite', '--db-path', 'data/app.db'], null],
    [['MEMORY_FILE_PATH=memory.json', 'npx', '-y', '@modelcontextprotocol/server-memory'], null],
    [['export LOG_DIR=logs; date >> $LOG_DIR/a.log'], null],
    [['sh -c "node srv/i.js --log data/log.txt 2>>data/log.txt"'], 'srv/i.js'],
    [[`python3 -c "open('data/log.txt','a').write('-')"`], null],
    [[`node -e "require('fs').appendFileSync('run.log','-')"`], null],
    [
      [
        'P=(.env package-lock.json ".git/"); for p in "${P[@]}"; do [[ "$1" == *"$p"* ]] && echo "no $p"; done',
      ],
      null,
    ],
    [['P=(.env run.log); [[ " ${P[*]} " == *" $1 "* ]] && exit 1'], null],
    [['sh', '-c', 'node srv/i.js --db-path data/app.db --log data/log.txt'], 'srv/i.js'],
    [['node --test'], null],
    [['P=(.env); P+=("package-lock.json"); echo "${#P[@]} ${P[0]} ${P[*]}"'], null],
  ] as const)('%j', ([texts, own]) => {
    expect(counted(texts)).toEqual(own === null ? [] : [own]);
  });

  test.for([
    [['CONFIG_FILE=data/x.json', 'node', 'srv/i.js'], 'data/x.json'],
    [['node', 'srv/i.js', '--config', 'data/x.json'], 'data/x.json'],
    [['node', 'srv/i.js', '--rules', 'rules.txt'], 'rules.txt'],
    [['node', 'srv/i.js', '-r', 'rules.txt'], 'rules.txt'],
    [['node', 'README.md'], 'README.md'],
    [['node', '--require', './README.md', 'srv/i.js'], 'README.md'],
    [['node', 'srv/i.js', '--log', 'lib/x.sh'], 'lib/x.sh'],
    [['LOG_FILE=lib/x.sh', 'srv/i.sh'], 'lib/x.sh'],
    [['BASH_ENV=README.md', 'bash', 'srv/i.sh'], 'README.md'],
    [['LOG=run.log; sh "$LOG"'], 'run.log'],
    [['node --test --require ./lib/x.sh'], 'lib/x.sh'],
    [['LOG=run.log; sh < "$LOG"'], 'run.log'],
    [['LOG=run.log; { sh; } < "$LOG"'], 'run.log'],
    [['LOG=run.log; exec < "$LOG"; sh'], 'run.log'],
    [['LOG=run.log; . /dev/stdin < "$LOG"'], 'run.log'],
    [['LOG=run.log; exec 3< "$LOG"; sh <&3'], 'run.log'],
    [['A=(run.log); sh < "${A[0]}"'], 'run.log'],
    [['F=srv/i.js; node < $F'], 'srv/i.js'],
    [['LOG=run.log; echo x > $LOG; . ./run.log'], 'run.log'],
    [['A=(lib/x.sh lib/y.sh); for f in "${A[@]}"; do . "$f"; done'], 'lib/y.sh'],
    [['A=(lib/x.sh); A+=(lib/y.sh); sh "${A[1]}"'], 'lib/y.sh'],
    [['A=("sh" lib/x.sh); "${A[@]}"'], 'every file'],
    [['A=(npm run lint); "${A[@]}"; for a in "${A[@]}"; do echo "$a"; done'], 'every file'],
    [['A=(-c "sh lib/x.sh"); sh "${A[@]}"'], 'every file'],
    [['A=(lib/*.sh); sh "${A[0]}"'], 'every file'],
    [['A=($(ls lib)); sh "${A[0]}"'], 'every file'],
    [['A=([1]=lib/x.sh); sh "${A[1]}"'], 'every file'],
    [['echo lib/x.sh | xargs sh'], 'every file'],
    [['echo ". lib/x.sh" | sh'], 'every file'],
    [['echo ". lib/x.sh" > /tmp/ramet-made.sh; sh /tmp/ramet-made.sh'], 'lib/x.sh'],
    [['x=$(echo lib/x.sh); sh $x'], 'lib/x.sh'],
    [[`python3 -c "exec(open('run.log').read())"`], 'run.log'],
    [[`perl -e 'open(F, "run.log |")'`], 'run.log'],
  ] as const)('%j: what it may run counts', ([texts, file]) => {
    const found = counted(texts);
    if (found !== 'every file') expect(found).toContain(file);
  });
});
