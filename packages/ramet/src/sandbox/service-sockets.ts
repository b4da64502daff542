/**
 * Sockets and pipes through which services of the machine take orders (WORK-7): a container with any directory of the
 * host in it, a unit of systemd, a program that the bus starts. What they do, they do outside the fence and often with
 * more rights. A read-only mount does not close a socket, so nothing lies behind these names in a worktree's shell.
 *
 * Only what has a name can be hidden: abstract sockets and ports stay as they are.
 */
import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../system/landing-path.ts';

export interface ServiceReach {
  readonly env: Readonly<Record<string, string>>;
  /** Sockets, or directories of them, that the user wants to be reached. */
  readonly kept: readonly string[];
  /** Where services keep them. */
  readonly run?: readonly string[];
}

const RUN = [...new Set(['/run', '/var/run'].flatMap((path) => realPlace(path) ?? []))];

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

/** The mounts that hide those which are there. */
export function hiddenServices({ env, kept, run = RUN }: ServiceReach): string[] {
  const open = kept.flatMap((path) => realPlace(path) ?? []);
  const found = [...namedSockets(env, run), ...hiddenPipes(run)].flatMap((path) => realPlace(path) ?? []);
  const hidden = [...new Set(found)].filter((path) => !open.some((place) => isInside(path, place)));
  return hidden.flatMap((path) => ['--ro-bind', '/dev/null', path]);
}

/** The same for what the services of users listen to: any name is possible there, and all of it goes. */
export function hiddenRuntimes({ kept, run = RUN }: ServiceReach): string[] {
  const user = String(process.getuid?.() ?? 0);
  // Those of all users listen to root.
  const folders = run
    .flatMap((place) => [...(user === '0' ? [join(place, 'user')] : []), join(place, 'user', user)])
    .filter((path) => look(path)?.isDirectory() === true);
  const open = kept.flatMap((path) => realPlace(path) ?? []);
  const back = open.filter((path) => folders.some((folder) => path !== folder && isInside(path, folder)));
  return [...folders.flatMap((path) => ['--tmpfs', path]), ...back.flatMap((path) => ['--bind', path, path])];
}

/** A pipe can be written where files are read-only. */
export function hiddenPipes(run: readonly string[] = RUN): string[] {
  const places = run.flatMap((place) => ORDERS.map((name) => join(place, name)));
  return places.filter((path) => look(path)?.isFIFO() === true);
}

function namedSockets(env: Readonly<Record<string, string>>, run: readonly string[]): string[] {
  const below = (names: string): string[] =>
    run.flatMap((place) => names.split(' ').map((name) => join(place, name)));
  const home = env.HOME ?? '';
  const ofUser = home.startsWith('/') ? OF_USER.map((name) => join(home, name)) : [];
  const hosts = [env.DOCKER_HOST, env.CONTAINER_HOST];
  const named = hosts.flatMap((text) => /^unix:\/\/(\/.+)/.exec(text ?? '')?.[1] ?? []);
  const managers = below('systemd')
    .flatMap(entries)
    .filter((path) => /\/io\.systemd\.[^/]+$/.test(path));
  // Screen and Emacs run what they are told to.
  const sessions = [...below(`screen/S-${env.USER ?? 'root'}`), `/tmp/emacs${process.getuid?.() ?? 0}`];
  const inside = [...below(FOLDERS), ...ELSEWHERE, ...ofUser, ...sessions].flatMap(entries);
  const all = [...below(SOCKETS), ...named, ...managers, ...inside];
  return all.filter((path) => {
    const found = look(path);
    return found?.isSocket() === true || found?.isFIFO() === true;
  });
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

function realPlace(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
