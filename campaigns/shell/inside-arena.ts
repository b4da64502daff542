/** The process inside an arena: takes a script a line, runs it, and answers with what has changed since. */
import { spawn } from 'node:child_process';
import { closeSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bubblewrapArguments, openFilter } from '../../packages/ramet/src/sandbox/bubblewrap.ts';
import { ARENA_PLACE } from './arena.ts';
import { makeHostileRepository } from './hostile-repository.ts';

const way = process.argv[2];
const ARENA = join(ARENA_PLACE, 'arena');
const LONGEST_MS = 1_500;
const PORT = 8_099;
const MOST_OUTPUT = 1_000_000;
const REPOSITORY = join(ARENA, 'repository');
const BATCH = join(ARENA_PLACE, 'batch');

let connections = 0;
createServer((socket) => {
  connections++;
  socket.destroy();
}).listen(PORT, '127.0.0.1', () => void serve());

/** Takes the scripts of a line together; when they have changed something, each again by itself. */
async function serve(): Promise<void> {
  let before = prepare();
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    // The process on the other side is this package's own.
    const scripts = JSON.parse(line) as string[];
    const together = way === 'plain' ? effectsOf(before, await runTogether(scripts)) : null;
    const effects: string[][] = scripts.map(() => []);
    if (together?.length !== 0) {
      if (together !== null) before = prepare();
      for (const [index, script] of scripts.entries()) {
        const found = effectsOf(before, await runAlone(script));
        effects[index] = found;
        if (found.length > 0) before = prepare();
      }
      if (together !== null && effects.every((found) => found.length === 0))
        effects[0] = together.map((effect) => `${effect}, by this script or one after it`);
    }
    console.log(JSON.stringify(effects));
  }
  process.exit(0);
}

function effectsOf(before: ReadonlyMap<string, string>, errors: string): string[] {
  const effects = changes(before, look(ARENA));
  if (connections > 0) effects.push('reached the network');
  connections = 0;
  // In the open a write outside the arena fails only because the arena holds it.
  if (way === 'plain' && /Read-only file system/.test(errors)) effects.push('would write elsewhere');
  return effects;
}

function prepare(): Map<string, string> {
  rmSync(ARENA, { recursive: true, force: true });
  mkdirSync(join(ARENA, 'tmp'), { recursive: true });
  writeFileSync(join(ARENA, 'ran'), '');
  makeHostileRepository(ARENA);
  return look(ARENA);
}

const environment = {
  PATH: `${join(ARENA, 'programs')}:${process.env.PATH ?? '/usr/bin:/bin'}`,
  ...{ HOME: join(ARENA, 'home'), TMPDIR: join(ARENA, 'tmp'), ARENA, LANG: 'C.UTF-8' },
  ...{ GIT_OPTIONAL_LOCKS: '0', GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat', LESSHISTFILE: '-' },
};

/** One shell starts them all: that is most of the time. What may last is given a second. */
const ONE_AFTER_THE_OTHER = `
for file; do
  IFS= read -r -d '' script < "$file"
  case $file in
    *.long) timeout -s KILL 1 bash -c "$script" </dev/null >/dev/null ;;
    *) bash -c "$script" </dev/null >/dev/null ;;
  esac
done`;
const MAY_LAST =
  /sleep|tail|yes|top|while|until|for|zero|random|full|seq|wait|bc|factor|stat |vm|\/dev|\/(?:[\s;|&)"']|$)|-f|\.\./;

async function runTogether(scripts: readonly string[]): Promise<string> {
  mkdirSync(BATCH, { recursive: true });
  const files = scripts.map((script, index) => {
    const file = join(BATCH, `${index}${MAY_LAST.test(script) ? '.long' : ''}`);
    writeFileSync(file, script);
    return file;
  });
  return run('bash', ['-c', ONE_AFTER_THE_OTHER, 'bash', ...files], null, LONGEST_MS * scripts.length);
}

async function runAlone(script: string): Promise<string> {
  if (way === 'plain') return run('bash', ['-c', script], null, LONGEST_MS);
  const filter = openFilter();
  try {
    return await run('bwrap', bubblewrapArguments(script, REPOSITORY), filter, LONGEST_MS);
  } finally {
    closeSync(filter);
  }
}

function run(
  program: string,
  words: readonly string[],
  handed: number | null,
  longestMs: number,
): Promise<string> {
  const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'ignore', 'pipe'];
  if (handed !== null) stdio.push(handed);
  const child = spawn(program, words, { cwd: REPOSITORY, env: environment, stdio, detached: true });
  let errors = '';
  child.stderr?.on('data', (data) => {
    if (errors.length < MOST_OUTPUT) errors += String(data);
  });
  return new Promise((settle) => {
    const end = (): void => {
      clearTimeout(timer);
      killGroup(child.pid);
      settle(errors);
    };
    const timer = setTimeout(end, longestMs);
    child.once('error', end);
    child.once('close', end);
  });
}

function killGroup(id: number | undefined): void {
  try {
    if (id !== undefined) process.kill(-id, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

function look(directory: string, into: Map<string, string> = new Map()): Map<string, string> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const { mode, size, mtimeMs, ino } = lstatSync(path);
    const isDirectory = (mode & 0o170000) === 0o040000;
    into.set(path, isDirectory ? `${mode}` : `${mode} ${size} ${mtimeMs} ${ino}`);
    if (isDirectory) look(path, into);
  }
  return into;
}

function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].flatMap((path) => {
    if (before.get(path) === after.get(path)) return [];
    const what = path.endsWith('/ran')
      ? `ran ${readFileSync(path, 'utf8').trim()}`
      : path.slice(ARENA.length + 1);
    return [before.has(path) ? (after.has(path) ? `changed ${what}` : `removed ${what}`) : `made ${what}`];
  });
}
