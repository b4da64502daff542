/**
 * The shell of an agent with a worktree of its own, in bubblewrap (WORK-7): everything can be read, and written only
 * the worktree, what its commits need of the shared git directory, temporary files and caches of tools, which are the
 * agents' own. The network and other processes stay as they are: this is a fence around files, not a cage. That it holds is proved for each
 * worktree before the first command.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { cacheMounts, type PrivateCache, prepareCaches } from './private-caches.ts';

export interface ShellBounds {
  /** Temporary files, as far as there is a place for them. */
  readonly shared: readonly string[];
  /** Caches of tools, each with what stands in its place. */
  readonly caches: readonly PrivateCache[];
  /** Not to be written, also where it lies in something shared. */
  readonly guarded: readonly string[];
  /** The agent's own, which is stronger than both. */
  readonly own: readonly string[];
  /** Of these the directories are made when they are not there. */
  readonly made: readonly string[];
}

/** Rights with which a root user could undo the mounts, or reach past them. */
const DROPPED = ['CAP_SYS_ADMIN', 'CAP_SYS_PTRACE', 'CAP_MKNOD'].flatMap((right) => ['--cap-drop', right]);

export function isolatedArguments(
  bounds: ShellBounds,
  cwd: string,
  command: string,
  ...words: readonly string[]
): string[] {
  for (const directory of bounds.made) mkdirSync(directory, { recursive: true });
  return [
    ...['--ro-bind', '/', '/', '--dev-bind', '/dev', '/dev', '--dev-bind', '/proc', '/proc'],
    ...hiddenServices(),
    ...mounts('--bind', bounds.shared),
    ...cacheMounts(bounds.caches),
    ...mounts('--ro-bind', bounds.guarded),
    ...mounts('--bind', [...bounds.own, ...bounds.made]),
    ...DROPPED,
    ...['--chdir', cwd, '--', 'bash', '-c', command, ...words],
  ];
}

/** Through its bus the user's services start programs for whoever asks. */
function hiddenServices(): string[] {
  const services = `/run/user/${process.getuid?.() ?? 0}`;
  return existsSync(services) ? ['--tmpfs', services] : [];
}

function mounts(how: string, paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => existsSync(path)).flatMap((path) => [how, path, path]);
}

const PROOF_LIMIT_MS = 10_000;
/** Asks only: nothing is written to find out. */
const PROOF = 'test -w "$0" || exit 1; for each in "$@"; do test -w "$each" && exit 2; done; exit 0';

/** Whether a shell in these bounds can write its own directory and nothing that is guarded. */
export async function proveBounds(
  program: string,
  bounds: ShellBounds,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  await prepareCaches(bounds.caches);
  const guarded = bounds.guarded.filter((path) => existsSync(path));
  const words = isolatedArguments(bounds, cwd, PROOF, cwd, ...guarded);
  return new Promise((settle) => {
    execFile(program, words, { env, timeout: PROOF_LIMIT_MS, killSignal: 'SIGKILL' }, (error) =>
      settle(error === null),
    );
  });
}

export function temporaryFolders(env: Readonly<Record<string, string>>): string[] {
  const named = [env.TMPDIR, env.TMP, env.TEMP].flatMap((path) => (path?.startsWith('/') ? [path] : []));
  return ['/tmp', '/var/tmp', '/dev/shm', ...named];
}
