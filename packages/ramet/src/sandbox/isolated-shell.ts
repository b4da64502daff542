/**
 * The shell of an agent with a worktree of its own, in bubblewrap (WORK-7): everything can be read, and written only
 * the worktree, what its commits need of the shared git directory, temporary files and caches of tools, which are the
 * agents' own. The network and other processes stay as they are: this is a fence around files, not a cage. That it
 * holds is proved for each worktree before the first command.
 */
import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Arrangement } from '../system/processes/process-group.ts';
import { anchorsOf } from './anchors.ts';
import { startClean } from './inherited-descriptors.ts';
import { ownUsers } from './own-users.ts';
import { hiddenRuntimes, hiddenServices, type ServiceReach } from './service-sockets.ts';
import { makeFolders } from './start-places.ts';

/** Below a home directory; `=` marks those that work without being written, `!` those that are not worth a copy. */
const FOLDERS =
  '!.cache !.local/state .npm .node-gyp .yarn .pnpm-store .local/share/pnpm/store .bun/install .deno =.cargo/registry ' +
  '=.cargo/git =go/pkg .gradle .m2 .ivy2 .sbt .nuget =.gem =.bundle .composer .pub-cache =.conda .mix .hex =.stack =.cabal .ccache';

/** Where variables say that tools keep them. */
const VARIABLES = ['XDG_CACHE_HOME', 'npm_config_cache', 'GOCACHE', 'GOMODCACHE', 'GRADLE_USER_HOME'];

/** What the user has set up in them, and programs of his: seen, and never written. */
const KEPT =
  'bin config config.toml init.d gradle.properties settings.xml settings-security.xml toolchains.xml NuGet';

/** The directory of tmux's sockets, with the number of the user. */
const TMUX = 'tmux-';

const SMALL_MEGABYTES = 100;

/** A tree that takes longer to measure is not small. */
const MEASURE_MS = 1_000;

const COPY_MS = 30_000;

export interface ShellBounds {
  /** Temporary files, as far as there is a place for them. */
  readonly shared: readonly string[];
  /** Caches of tools, each with its replacement. */
  readonly caches: readonly PrivateCache[];
  /** Not to be written, also where it lies in something shared. */
  readonly guarded: readonly string[];
  /** The agent's own, which is stronger than both. */
  readonly own: readonly string[];
  /** Of these the directories are made when they are not there. */
  readonly made: readonly string[];
  /** Not to be written although it lies in its own. The directories are made when they are not there. */
  readonly closed?: readonly string[];
  readonly services?: ServiceReach;
}

/** Rights with which a root user could undo the mounts, or reach past them. */
const DROPPED = ['CAP_SYS_ADMIN', 'CAP_SYS_PTRACE', 'CAP_MKNOD'].flatMap((right) => ['--cap-drop', right]);

/** What bubblewrap is started with. */
export interface IsolatedStart {
  readonly arguments: string[];
  readonly arrangement?: Arrangement;
}

export function isolatedStart(
  bounds: ShellBounds,
  cwd: string,
  command: string,
  ...words: readonly string[]
): IsolatedStart {
  const { closed = [], services = { env: {}, kept: [] } } = bounds;
  for (const directory of closed) openAgain(dirname(directory));
  makeFolders([...bounds.made, ...closed]);
  const users = ownUsers();
  const agents = [
    ...bounds.own,
    ...bounds.made,
    ...bounds.caches.filter(isPrepared).map(({ folder }) => folder),
  ];
  const hidden = hiddenServices(services, { own: agents, shared: bounds.shared });
  const anchors = anchorsOf([...bounds.guarded, ...agents, ...closed], bounds.shared, bounds.guarded);
  const all = [
    ...[...users.arguments, '--ro-bind', '/', '/', ...users.mounts],
    ...hiddenRuntimes(services),
    ...mounts('--bind', bounds.shared),
    ...mounts('--bind-try', [...anchors, ...hidden.anchors]),
    ...cacheMounts(bounds.caches),
    ...mounts('--ro-bind', bounds.guarded),
    ...mounts('--bind', bounds.own),
    ...mounts('--bind-try', bounds.made),
    ...mounts('--ro-bind', closed),
    ...hidden.mounts,
    ...DROPPED,
    ...['--chdir', cwd, '--', 'bash', '-c', command, ...words],
  ];
  return { arguments: all, ...(users.arrangement && { arrangement: users.arrangement }) };
}

/** Another agent may have closed what both may write: what lies in it could not be mounted. */
function openAgain(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true || stats.uid !== process.geteuid?.()) return;
  if ((stats.mode & 0o700) !== 0o700) chmodSync(folder, (stats.mode & 0o7777) | 0o700);
}

function mounts(how: string, paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => existsSync(path)).flatMap((path) => [how, path, path]);
}

export type BoundsProof = 'held' | 'open' | 'slow';

const PROOF_LIMIT_MS = 30_000;
/** Asks only: nothing is written to find out. The shell's parent is outside. */
const PROOF =
  'test -w "$0" || exit 1; for each in "$@"; do test -w "$each" && exit 2; test -w "/proc/$PPID/root$each" && exit 3; done; exit 0';

/** Whether a shell in these bounds can write its own directory and nothing that is guarded; `slow`: that is not known. */
export async function proveBounds(
  program: string,
  bounds: ShellBounds,
  cwd: string,
  env: Readonly<Record<string, string>>,
  { limitMs = PROOF_LIMIT_MS, signal }: { limitMs?: number | undefined; signal?: AbortSignal } = {},
): Promise<BoundsProof> {
  await prepareCaches(bounds.caches);
  const words = [cwd, ...bounds.guarded.filter((path) => existsSync(path)), ...(bounds.closed ?? [])];
  const limits = { timeout: limitMs, ...(signal && { signal }), killSignal: 'SIGKILL' } as const;
  const prove = () => runIsolated(program, isolatedStart(bounds, cwd, PROOF, ...words), { env, ...limits });
  let end = await prove();
  // Not a shell in it, but bubblewrap itself failed: a socket or a folder of others went while it started.
  for (let left = 2; left > 0 && end.stderr.startsWith('bwrap: '); left--) end = await prove();
  return end.status === 0 ? 'held' : end.cut || signal?.aborted === true ? 'slow' : 'open';
}

export interface IsolatedEnd {
  /** Null where it was ended, or could not be started. */
  status: number | null;
  /** Ended by the limit. */
  cut: boolean;
  stdout: string;
  stderr: string;
}

export function runIsolated(
  program: string,
  { arguments: words, arrangement }: IsolatedStart,
  options: SpawnOptions,
): Promise<IsolatedEnd> {
  const pipes = Array.from({ length: arrangement?.pipes ?? 0 }, () => 'pipe' as const);
  const first = startClean(program, words);
  const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, ...pipes];
  const child = spawn(first.program, first.arguments, { ...options, stdio });
  arrangement?.arrange(child);
  const end: IsolatedEnd = { status: null, cut: false, stdout: '', stderr: '' };
  child.stdout?.on('data', (data) => (end.stdout += String(data)));
  child.stderr?.on('data', (data) => (end.stderr += String(data)));
  return new Promise((settle) => {
    child.once('error', () => settle({ ...end, cut: child.killed }));
    child.once('close', (status) => settle({ ...end, status, cut: child.killed }));
  });
}

export function temporaryFolders(env: Readonly<Record<string, string>>): string[] {
  const named = [env.TMPDIR, env.TMP, env.TEMP].flatMap((path) => (path?.startsWith('/') ? [path] : []));
  return ['/tmp', '/var/tmp', '/dev/shm', ...named];
}

/**
 * Caches of tools for agents in worktrees (WORK-7). Code runs from them later, with the user's rights: a crate that
 * builds, an init script, a browser. So agents get their own, one for each repository: what they leave there reaches
 * other agents of the same repository and never the user's own tools.
 *
 * A small cache is copied when the first agent comes. A large one begins empty, or stays as it is and cannot be
 * written, where the tool can live with that.
 */
interface PrivateCache {
  /** Where the tool looks, a directory of the user. */
  readonly folder: string;
  /** What it finds there instead. */
  readonly copy: string;
  readonly whenLarge: 'empty' | 'read-only';
  /** Made for the user where it is not there: else the user's own could come after the agent's. */
  readonly made?: true;
}

export function privateCaches(env: Readonly<Record<string, string>>, project: string): PrivateCache[] {
  const home = env.HOME ?? '';
  const named = VARIABLES.map((name) => env[name] ?? '').filter((path) => path.startsWith('/'));
  const below = home.startsWith('/') ? FOLDERS.split(' ') : [];
  const entry = (folder: string, mark: string): PrivateCache => ({
    folder,
    copy: join(project, 'tool-caches', folder.replaceAll('/', '+')),
    whenLarge: mark === '=' ? 'read-only' : 'empty',
  });
  return [
    ...below.map((text) => entry(join(home, text.replace(/^[=!]/, '')), text[0] ?? '')),
    ...named.map((folder) => entry(folder, '')),
    ...terminalServers(env, project),
  ];
}

/** Who reaches the user's tmux types into his shells. Agents have one of their own, which the next command finds again. */
function terminalServers(env: Readonly<Record<string, string>>, project: string): PrivateCache[] {
  const folder = join(env.TMUX_TMPDIR ?? '/tmp', `${TMUX}${process.getuid?.() ?? 0}`);
  return [{ folder, copy: join(project, 'tool-caches', 'tmux'), whenLarge: 'empty', made: true }];
}

/** The mounts that put them in place; those that were not prepared are left as they are, not to be written. */
function cacheMounts(caches: readonly PrivateCache[]): string[] {
  return caches.filter(isPrepared).flatMap(({ folder, copy }) => {
    const place = realpathSync.native(folder);
    const kept = keptIn(folder).flatMap((name) => ['--ro-bind', join(place, name), join(place, name)]);
    return ['--bind', copy, place, ...kept];
  });
}

function isPrepared({ folder, copy }: PrivateCache): boolean {
  return existsSync(folder) && existsSync(copy);
}

function keptIn(folder: string): string[] {
  return KEPT.split(' ').filter((name) => existsSync(join(folder, name)));
}

/** An agent can leave something in the way that would keep the sandbox from starting: then there would be none. */
function clearWay({ folder, copy }: PrivateCache): void {
  if (!existsSync(copy)) return;
  chmodSync(copy, 0o700);
  for (const name of keptIn(folder)) {
    const [there, here] = [
      statSync(join(folder, name)),
      lstatSync(join(copy, name), { throwIfNoEntry: false }),
    ];
    if (here !== undefined && (here.isDirectory() !== there.isDirectory() || here.isSymbolicLink()))
      rmSync(join(copy, name), { recursive: true, force: true });
  }
}

/** Once a repository; several processes may do it at the same time. */
export async function prepareCaches(caches: readonly PrivateCache[]): Promise<void> {
  for (const cache of caches) {
    if (cache.made === true) makeFolder(cache.folder);
    if (!existsSync(cache.folder)) continue;
    if (!existsSync(cache.copy)) await prepare(cache);
    clearWay(cache);
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or nobody can have it.
  }
}

async function prepare({ folder, copy, whenLarge }: PrivateCache): Promise<void> {
  const begun = `${copy}.${randomBytes(4).toString('hex')}`;
  mkdirSync(begun, { recursive: true, mode: 0o700 });
  try {
    const small = !isDisposable(folder) && (await megabytes(folder)) <= SMALL_MEGABYTES;
    const copied =
      small && (await run('cp', ['-a', '--reflink=auto', `${folder}/.`, begun], COPY_MS)) !== null;
    if (!copied && small) rmSync(begun, { recursive: true, force: true });
    if (!copied && whenLarge === 'read-only') return;
    mkdirSync(begun, { recursive: true, mode: 0o700 });
    if (!existsSync(copy)) renameSync(begun, copy);
  } catch {
    // Another process was first, or there is no room: then the folder stays as it is, not to be written.
  } finally {
    rmSync(begun, { recursive: true, force: true });
  }
}

function isDisposable(folder: string): boolean {
  return ['.cache', 'state'].includes(basename(folder)) || basename(folder).startsWith(TMUX);
}

async function megabytes(folder: string): Promise<number> {
  const output = await run('du', ['-sxm', folder], MEASURE_MS);
  return output === null ? Number.POSITIVE_INFINITY : Number.parseInt(output, 10);
}

/** Null when it failed or took too long. */
function run(program: string, words: readonly string[], timeout: number): Promise<string | null> {
  return new Promise((settle) => {
    execFile(program, words, { timeout, killSignal: 'SIGKILL' }, (error, stdout) =>
      settle(error === null ? stdout : null),
    );
  });
}
