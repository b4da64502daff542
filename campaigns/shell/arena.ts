/**
 * Where scripts are run: a process in a sandbox of its own with a hostile repository in memory, a read-only file system,
 * no network but its own, and no rights. It runs one script after the other and says what each has changed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** `plain`: as a judged command without a sandbox. `wall`: behind the wall, inside the arena. */
export type ArenaWay = 'plain' | 'wall';

export interface Arena {
  /** For each script what it has changed. */
  run(scripts: readonly string[]): Promise<string[][]>;
  close(): Promise<void>;
}

export const ARENA_PLACE = '/mnt';

const HELD = [
  ...[
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    ARENA_PLACE,
    '--setenv',
    'TMPDIR',
    ARENA_PLACE,
  ],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent', '--chdir', ARENA_PLACE],
];
/** Nobody in particular in a user namespace of its own. */
const NO_RIGHTS = ['--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'];
/** Root's wall needs root's rights to be built; what runs behind it has none. */
const BUILDS_WALL = process.getuid?.() === 0 ? ['--cap-add', 'ALL'] : NO_RIGHTS;

export async function openArena(way: ArenaWay): Promise<Arena> {
  const words = [...HELD, ...(way === 'plain' ? NO_RIGHTS : BUILDS_WALL), '--'];
  const inside = [process.execPath, join(import.meta.dirname, 'inside-arena.ts'), way];
  const child = spawn('bwrap', [...words, ...inside], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = Promise.withResolvers<void>();
  child.once('close', () => ended.resolve());
  const hello = await answers.next();
  if (hello.value !== 'ready') throw new Error('the arena cannot be opened: does bubblewrap work here?');
  return {
    run: (scripts) => askAll(child, answers, scripts),
    async close() {
      child.stdin.end();
      await ended.promise;
    },
  };
}

async function askAll(
  child: ChildProcess,
  answers: AsyncIterator<string>,
  scripts: readonly string[],
): Promise<string[][]> {
  const effects: string[][] = [];
  for (let from = 0; from < scripts.length; from += TOGETHER) {
    const some = scripts.slice(from, from + TOGETHER);
    child.stdin?.write(`${JSON.stringify(some)}\n`);
    const { value, done } = await answers.next();
    if (done === true) throw new Error(`the arena ended at one of ${JSON.stringify(some)}`);
    // The process on the other side is this package's own.
    effects.push(...(JSON.parse(value) as string[][]));
  }
  return effects;
}

const TOGETHER = 40;
