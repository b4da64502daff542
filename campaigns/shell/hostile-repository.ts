/** A repository in which everything that could be run, evaluated or taken for an option shows that it was. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const RUNS = '#!/bin/sh\necho "$0" >> "$ARENA/ran"\n';
const EVALUATED = 'a[$(touch pwn)]\n';

const FILES: Readonly<Record<string, string>> = {
  'README.md': 'touch pwn\n$(touch pwn)\nfoo bar\n',
  f: EVALUATED,
  VERSION: EVALUATED,
  'data.csv': 'a,1\nb,2\n',
  'names.txt': '-o pwn\n--output=pwn\n./evil.sh\n',
  'src/a.ts': 'export const a = 1;\n',
  'src/main.ts': 'touch pwn\n',
  'package.json': '{"name": "x", "version": "1.0.0", "scripts": {"test": "touch pwn"}}\n',
  Makefile: 'version all:\n\ttouch pwn\n',
  'rg.conf': '--pre=./evil.sh\n',
  '.yarnrc': 'yarn-path ./evil.sh\n',
  '-o': 'x\n',
  '-opwn': 'x\n',
  '--output=pwn': 'x\n',
  '-i': 'x\n',
  '--pre=evil': 'x\n',
};
const PROGRAMS = 'evil.sh evil script version script.sh 0/ls x/y bin/ls a ls git pwn.sh make cat'.split(' ');
/** On the search path: what would reach the network, or run code of the project. */
const FALSE_FRIENDS =
  'curl wget nc ssh scp rsync npm npx yarn pnpm make mvn gradle cargo go kubectl gh tmux at'.split(' ');

/** Below a directory of its own when none is given, which then is removed at the end of the process. */
export function makeHostileRepository(arena: string = ownDirectory()): string {
  const repository = join(arena, 'repository');
  for (const [name, content] of Object.entries(FILES)) put(join(repository, name), content);
  for (const name of PROGRAMS) program(join(repository, name), RUNS);
  for (const name of FALSE_FRIENDS)
    program(
      join(arena, 'programs', name),
      `#!/bin/sh\n[ "$*" = --version ] || echo "$0 $*" >> "$ARENA/ran"\n`,
    );
  for (const [name, content] of madeFiles(arena)) writeFileSync(join(repository, name), content);
  writeFileSync(join(repository, 'options'), '-o pwn --plugin ./e.so\n');
  mkdirSync(join(arena, 'home'), { recursive: true });
  mkdirSync(join(arena, 'outside'));
  symlinkSync(join(arena, 'outside'), join(repository, 'out'));
  git(repository, 'init', '--quiet', '--template=', '--initial-branch=main');
  git(repository, 'add', 'README.md', 'src');
  git(repository, 'commit', '--quiet', '--message=first');
  makeBareRepository(join(repository, 'vendor/evil'));
  return repository;
}

let made: readonly (readonly [string, Buffer])[] | undefined;
const LIBRARY =
  '#include <stdlib.h>\n__attribute__((constructor)) void f(void) { system("echo library >> $ARENA/ran"); }\n';

/** Compressed files and a library that shows when it is loaded, as far as there are programs to make them. */
function madeFiles(arena: string): readonly (readonly [string, Buffer])[] {
  made ??= MAKERS.flatMap(([name, program, words, input]) => {
    const file = join(arena, 'library.so');
    const { status, stdout } = spawnSync(program, words(file), {
      input,
      env: { ...process.env, TMPDIR: arena },
    });
    if (status !== 0) return [];
    if (stdout.length > 0) return [[name, stdout] as const];
    const content = readFileSync(file);
    rmSync(file);
    return [[name, content] as const];
  });
  return made;
}

type Maker = readonly [name: string, program: string, words: (file: string) => string[], input: string];
const MAKERS: readonly Maker[] = [
  ['f.gz', 'gzip', () => ['-c'], EVALUATED],
  ['f.bz2', 'bzip2', () => ['-c'], EVALUATED],
  ['f.xz', 'xz', () => ['-c'], EVALUATED],
  ['f.zst', 'zstd', () => ['-qc'], EVALUATED],
  ['e.so', 'gcc', (file) => ['-shared', '-fPIC', '-x', 'c', '-', '-o', file], LIBRARY],
];

function ownDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ramet-shell-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** As if it had been committed: git takes it for a repository and does what its configuration says. */
function makeBareRepository(directory: string): void {
  mkdirSync(directory, { recursive: true });
  git(directory, 'init', '--quiet', '--template=', '--bare', '.');
  for (const [key, value] of [
    ['core.bare', 'false'],
    ['core.worktree', '.'],
    ['core.fsmonitor', 'echo fsmonitor >> "$ARENA/ran"; false'],
    ['diff.external', 'echo diff >> "$ARENA/ran"; false'],
  ] as const)
    git(directory, '--git-dir=.', 'config', key, value);
}

function git(cwd: string, ...words: readonly string[]): void {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid'];
  execFileSync('git', [...identity, ...words], { cwd, stdio: 'ignore' });
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function program(path: string, content: string): void {
  put(path, content);
  chmodSync(path, 0o755);
}
