/**
 * The shell of an agent with a worktree of its own, in bubblewrap (WORK-7): everything can be read, and written only
 * the worktree, what its commits need of the shared git directory, temporary files and caches of tools. The network and
 * other processes stay as they are: this is a fence around files, not a cage. That it holds is proved for each
 * worktree before the first command.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface ShellBounds {
  /** Written by temporary files and tools, as far as it exists. */
  readonly shared: readonly string[];
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
    ...mounts('--bind', bounds.shared),
    ...mounts('--ro-bind', bounds.guarded),
    ...mounts('--bind', [...bounds.own, ...bounds.made]),
    ...DROPPED,
    ...['--chdir', cwd, '--', 'bash', '-c', command, ...words],
  ];
}

function mounts(how: string, paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => existsSync(path)).flatMap((path) => [how, path, path]);
}

const PROOF_LIMIT_MS = 10_000;
/** Asks only: nothing is written to find out. */
const PROOF = 'test -w "$0" || exit 1; for each in "$@"; do test -w "$each" && exit 2; done; exit 0';

/** Whether a shell in these bounds can write its own directory and nothing that is guarded. */
export function proveBounds(
  program: string,
  bounds: ShellBounds,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  const guarded = bounds.guarded.filter((path) => existsSync(path));
  const words = isolatedArguments(bounds, cwd, PROOF, cwd, ...guarded);
  return new Promise((settle) => {
    execFile(program, words, { env, timeout: PROOF_LIMIT_MS, killSignal: 'SIGKILL' }, (error) =>
      settle(error === null),
    );
  });
}

/** Caches and stores of tools below a home directory: what installs and builds write besides the project. */
const TOOL_FOLDERS = [
  ...['.cache', '.npm', '.node-gyp', '.yarn', '.pnpm-store', '.local/share/pnpm', '.bun', '.deno', '.cargo'],
  ...['.rustup', 'go/pkg', '.gradle', '.m2', '.ivy2', '.sbt', '.nuget', '.dotnet', '.gem', '.bundle'],
  ...['.composer', '.pub-cache', '.conda', '.mix', '.hex', '.stack', '.cabal', '.ccache', '.local/state'],
];

export function sharedFolders(env: Readonly<Record<string, string>>): string[] {
  const home = env.HOME;
  const folders = home === undefined || home === '' ? [] : TOOL_FOLDERS.map((name) => join(home, name));
  return [...temporaryFolders(env), `/run/user/${process.getuid?.() ?? 0}`, ...folders, ...given(env)];
}

export function temporaryFolders(env: Readonly<Record<string, string>>): string[] {
  const named = [env.TMPDIR, env.TMP, env.TEMP].flatMap((path) => (path?.startsWith('/') ? [path] : []));
  return ['/tmp', '/var/tmp', '/dev/shm', ...named];
}

/** Where variables say that tools keep their caches. */
function given(env: Readonly<Record<string, string>>): string[] {
  const names = ['XDG_CACHE_HOME', 'npm_config_cache', 'CARGO_HOME', 'RUSTUP_HOME', 'GOCACHE', 'GOMODCACHE'];
  return names.flatMap((name) => (env[name]?.startsWith('/') ? [env[name]] : []));
}
