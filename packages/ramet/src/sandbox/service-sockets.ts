/**
 * Sockets and pipes through which services of the machine take orders (WORK-7): a container with any directory of the
 * host in it, a unit of systemd, a program that the bus starts. What they do, they do outside the fence and often with
 * more rights. A read-only mount does not close a socket, so nothing lies behind these names in a worktree's shell.
 *
 * Only what has a name can be hidden: abstract sockets and ports stay as they are.
 */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { existingPath, isInside } from '../system/landing-path.ts';
import {
  mountNamespaceOf,
  openFiles,
  processIds,
  workingDirectoryOf,
} from '../system/processes/process-table.ts';
import { anchorsOf, isInAny, realPlaces } from './anchors.ts';
import { hiddenLogins } from './hidden-logins.ts';
import { watchPlaces } from './start-places.ts';

export interface ServiceReach {
  readonly env: Readonly<Record<string, string>>;
  /** Sockets, or directories of them, that the user wants to be reached. */
  readonly kept: readonly string[];
  /** The folder of logins, which is hidden too. */
  readonly logins?: string | undefined;
  /** Where services keep them. */
  readonly run?: readonly string[];
  /** The environment that Ramet was started with. */
  readonly started?: Readonly<Record<string, string | undefined>>;
}

/** In /proc/net/unix: the flag of a socket that accepts connections, and the type that needs none. */
const [ACCEPTS, DATAGRAM] = ['00010000', '0002'];

/** Users with smaller numbers are services. */
const FIRST_PERSON = 1_000;

/** Found out once: looking through all processes takes a while. */
const folders = new Map<string, string | null>();

const RUN = [...new Set(realPlaces(['/run', '/var/run']))];

/** Process 1 takes orders from these. */
const ORDERS = ['initctl', 'systemd/initctl/fifo'];

const SOCKETS =
  'docker.sock containerd/containerd.sock podman/podman.sock crio/crio.sock cri-dockerd.sock dbus/system_bus_socket ' +
  'systemd/private snapd.socket snapd-snap.socket multipass_socket';

/** Of these every socket. */
const FOLDERS = 'docker docker/containerd containerd podman crio dbus libvirt incus buildkit k3s/containerd';

const ELSEWHERE = [
  '/var/lib/lxd',
  '/var/lib/incus',
  '/var/snap/lxd/common/lxd',
  '/var/snap/multipass/common',
];

/** Below a home directory, of services that run for one user. */
const OF_USER = ['.screen', '.docker/run', '.docker/desktop', '.colima/default', '.rd', '.lima/default/sock'];

/** Takes no orders to run something, or is reached under its abstract name anyway. */
const HARMLESS = ['/tmp/.X11-unix'];

/** They run what they are told to, and stay for long. As the system names processes: at most 15 letters. */
const TAKES_ORDERS =
  /^(?:tmux|screen|zellij|dtach|abduco|emacs|nvim|vim|kitty|wezterm|code|ssh|dbus|watchman|supervisord)/i;

/**
 * If a socket goes while bubblewrap starts, the command fails, or an empty file is made in its place. Programs that are
 * tested open and close sockets all the time, so one this young is left alone.
 */
const SETTLED_MS = 600_000;

/** The same for programs that take orders. */
const SOON_MS = 2_000;

/** What a worktree's shell can write. */
interface WritablePlaces {
  /** Of the agents alone: a socket there is theirs. */
  readonly own: readonly string[];
  /** Of the agents and everybody. */
  readonly shared: readonly string[];
}

interface HiddenServices {
  readonly mounts: string[];
  /** Directories that an agent could rename, and with them what is in them; mounted, they stay where they are. */
  readonly anchors: string[];
}

/** The mounts that hide those which are there. */
export function hiddenServices(reach: ServiceReach, { own, shared }: WritablePlaces): HiddenServices {
  const { env, kept, run = RUN, started = process.env } = reach;
  const logins = hiddenLogins(reach.logins);
  const named = realPlaces([...namedSockets(env, started, run), ...hiddenPipes(run)]);
  const listening = listeningOutside({ env, run, shared: realPlaces(shared) });
  const spared = realPlaces([...kept, ...own]);
  const hidden = [...new Set([...named, ...listening])].filter((path) => !isInAny(path, spared));
  watchPlaces(hidden);
  return {
    mounts: [...hidden.flatMap((path) => ['--ro-bind', '/dev/null', path]), ...logins.mounts],
    anchors: anchorsOf([...hidden, ...logins.places], shared),
  };
}

/** The same for what the services of users listen to: any name is possible there, and all of it goes. */
export function hiddenRuntimes({ kept, run = RUN }: ServiceReach): string[] {
  const user = String(process.getuid?.() ?? 0);
  // Those of all users listen to root.
  const folders = run
    .flatMap((place) => [...(user === '0' ? [join(place, 'user')] : []), join(place, 'user', user)])
    .filter((path) => look(path)?.isDirectory() === true);
  const open = realPlaces(kept);
  const back = open.filter((path) => folders.some((folder) => path !== folder && isInside(path, folder)));
  return [...folders.flatMap((path) => ['--tmpfs', path]), ...back.flatMap((path) => ['--bind', path, path])];
}

/** A pipe can be written where files are read-only. */
export function hiddenPipes(run: readonly string[] = RUN): string[] {
  const places = run.flatMap((place) => ORDERS.map((name) => join(place, name)));
  return places.filter((path) => look(path)?.isFIFO() === true);
}

function namedSockets(
  env: ServiceReach['env'],
  started: NonNullable<ServiceReach['started']>,
  run: readonly string[],
): string[] {
  const below = (names: string): string[] =>
    run.flatMap((place) => names.split(' ').map((name) => join(place, name)));
  const home = env.HOME ?? '';
  const ofUser = home.startsWith('/') ? OF_USER.map((name) => join(home, name)) : [];
  const hosts = [env.DOCKER_HOST, env.CONTAINER_HOST];
  const named = hosts.flatMap((text) => /^unix:\/\/(\/.+)/.exec(text ?? '')?.[1] ?? []);
  const managers = below('systemd')
    .flatMap(entries)
    .filter((path) => /\/io\.systemd\.[^/]+$/.test(path));
  // They run what they are told to.
  const user = String(process.getuid?.() ?? 0);
  const screens = [...run.map((place) => join(place, 'screen')), '/tmp/screens', '/tmp/uscreens'];
  const sessions = [
    ...screens.map((place) => join(place, `S-${env.USER ?? 'root'}`)),
    ...[started.SCREENDIR ?? '', `/tmp/emacs${user}`, join(started.TMUX_TMPDIR ?? '/tmp', `tmux-${user}`)],
  ];
  const server = [tmuxOf(started.TMUX ?? ''), started.EMACS_SOCKET_NAME ?? ''];
  const inside = [...below(FOLDERS), ...ELSEWHERE, ...ofUser, ...sessions.filter(isAbsolute)].flatMap(
    entries,
  );
  const all = [...below(SOCKETS), ...named, ...server.filter(isAbsolute), ...managers, ...inside];
  return all.filter((path) => {
    const found = look(path);
    return found?.isSocket() === true || found?.isFIFO() === true;
  });
}

/** The variable of a tmux has its socket and its process; a relative name is one from the directory of that process. */
function tmuxOf(variable: string): string {
  const [socket = '', process = ''] = variable.split(',');
  return resolve((/^\d+$/.test(process) && workingDirectoryOf(Number(process))) || '/', socket);
}

interface Listener {
  readonly path: string;
  /** Of the socket; the file has another number. */
  readonly inode: string;
}

/**
 * Sockets of this user that a program outside of all worktrees listens to, wherever they are: a tmux, an editor, a
 * daemon of a build. What such a program does for an agent it does outside the fence. `run` and `/var` belong to
 * the machine: there only known services are hidden.
 */
function listeningOutside({
  env,
  run,
  shared,
}: Omit<ServiceReach, 'kept'> & { shared: readonly string[] }): string[] {
  const home = existingPath(env.HOME ?? '') ?? '/';
  const machine = [...(run ?? RUN), '/var'];
  const keys = [env.SSH_AUTH_SOCK ?? '', join(home, '.gnupg')].filter(isAbsolute);
  const open = realPlaces([...HARMLESS, ...keys]);
  const isOfUser = (path: string): boolean =>
    !isInAny(path, run ?? RUN) &&
    (!isInAny(path, machine) || isInAny(path, home === '/' ? shared : [home, ...shared]));
  const found = listeners().filter(
    ({ path }) => isOfUser(path) && !isInAny(path, open) && ageOf(path) >= SOON_MS,
  );
  if (found.length === 0) return [];
  const holders = socketHolders();
  return found.flatMap(({ path, inode }) => {
    const { isAway = false, takesOrders = false } = holders.get(inode) ?? {};
    return !isAway && (takesOrders || ageOf(path) >= SETTLED_MS) ? [path] : [];
  });
}

/** Those that have a file in this process's view. */
function listeners(): Listener[] {
  const line = /^[0-9a-f]+: \S+ \S+ (\S+) (\S+) \S+ +(\d+) ([^@\n].*)$/gim;
  const found = [...(textOf('/proc/net/unix') ?? '').matchAll(line)].flatMap(
    ([, flags, type, inode = '', name = '']) =>
      flags === ACCEPTS || type === DATAGRAM ? [{ inode, name }] : [],
  );
  return found.flatMap(({ inode, name }) => {
    const folder = isAbsolute(name) ? '/' : folderOf(inode);
    const path = folder === null ? null : existingPath(resolve(folder, name));
    return path === null ? [] : [{ path, inode }];
  });
}

/** Of a socket of the user, in milliseconds; below 0 for what is none. What comes from the future is old. */
function ageOf(path: string): number {
  const found = look(path);
  const [user, owner] = [process.getuid?.() ?? 0, found?.uid ?? -1];
  if (found?.isSocket() !== true || !(owner === user || (user === 0 && owner >= FIRST_PERSON))) return -1;
  const age = Date.now() - found.mtimeMs;
  return age < 0 ? SETTLED_MS : age;
}

interface SocketHolder {
  /** In another mount namespace: a command of an agent, a container. */
  readonly isAway: boolean;
  readonly takesOrders: boolean;
}

function socketHolders(): Map<string, SocketHolder> {
  const here = mountNamespaceOf('self');
  const held = (processIds() ?? []).flatMap((pid) => {
    const space = mountNamespaceOf(pid);
    const takesOrders = TAKES_ORDERS.test(textOf(`/proc/${pid}/comm`) ?? '');
    const holder = { isAway: space !== null && space !== here, takesOrders };
    return socketsOf(pid).map((inode) => [inode, holder] as const);
  });
  // A socket that several hold is an agent's if one of them is.
  return new Map(held.toSorted(([, one], [, other]) => Number(one.isAway) - Number(other.isAway)));
}

/** Where the process is that listens to a socket with a relative name. */
function folderOf(inode: string): string | null {
  const known = folders.get(inode);
  if (known !== undefined) return known;
  const owner = processIds()?.find((pid) => socketsOf(pid).includes(inode));
  const folder = owner === undefined ? null : workingDirectoryOf(owner);
  folders.set(inode, folder);
  return folder;
}

function socketsOf(pid: number): string[] {
  return (openFiles(pid) ?? []).flatMap(({ target }) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // Not there, or not for this user to look into.
  }
}

function look(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
