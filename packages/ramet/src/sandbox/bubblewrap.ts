/**
 * Bubblewrap, started directly: everything of the file system can be read and nothing of it written, no other process
 * can be seen, and neither a network nor a service reached. Whether it works here is found out by trying, and proved.
 */
import { spawn } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { describeError } from '../schema/errors.ts';
import { HANDED_DESCRIPTOR, signalGroup } from '../system/processes/process-group.ts';
import { hiddenLogins } from './hidden-logins.ts';
import { startClean } from './inherited-descriptors.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { hiddenPipes } from './service-sockets.ts';

const INSTALLERS: readonly (readonly [program: string, command: string])[] = [
  ['apt-get', 'apt-get install bubblewrap'],
  ['dnf', 'dnf install bubblewrap'],
  ['pacman', 'pacman -S bubblewrap'],
  ['zypper', 'zypper install bubblewrap'],
  ['apk', 'apk add bubblewrap'],
];

/** Settings of the kernel that forbid what bubblewrap needs, and with what value they do. */
const FORBIDDING: readonly (readonly [name: string, value: string, command: string])[] = [
  ['kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  ['user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
  [
    ...(['kernel/apparmor_restrict_unprivileged_userns', '1'] as const),
    'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ],
];

export type BubblewrapState =
  | { works: true; program: string }
  /** What is amiss, and what to do about it; null where there is nothing to do. `isSlow`: whether it works is not known. */
  | { works: false; reason: string; remedy: string | null; isSlow?: true };

const PROGRAM = 'bwrap';
/** It takes some ten milliseconds. On a machine with too much to do it takes seconds, and is no less a sandbox then. */
const TIME_LIMIT_MS = 30_000;

export const OVERLOADED =
  'the machine may be overloaded: start fewer agents and other programs at the same time';

/** Its own files lie over a directory that nobody reads; the first of these that there is. */
const SCRATCH = ['/dev/pts', '/dev/mqueue', '/mnt', '/media'].find(isDirectory) ?? '/dev/pts';

/** Every other device can be seen and not opened. */
const DEVICES = ['/dev/null', '/dev/zero', '/dev/urandom'].flatMap((path) => ['--dev-bind-try', path, path]);

/**
 * A root user would have the right to mount it writable again, so all rights go; what root may write in `/proc` by
 * being its owner is read-only. `sort` and heredocs need scratch space. All of it ends with the shell, and it with us.
 */
const HELD = [
  ...['--seccomp', String(HANDED_DESCRIPTOR), '--ro-bind', '/', '/', ...DEVICES],
  ...['--tmpfs', SCRATCH, '--setenv', 'TMPDIR', SCRATCH, '--proc', '/proc', '--remount-ro', '/proc'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--cap-drop', 'ALL', '--die-with-parent'],
];

/** The arguments with which it runs `command` in a shell; it reads the filter that `openFilter` opens. */
export function bubblewrapArguments(
  command: string,
  cwd: string,
  { words = [], logins }: { words?: readonly string[]; logins?: string | undefined } = {},
): string[] {
  const hidden = hiddenPipes().flatMap((path) => ['--ro-bind', '/dev/null', path]);
  const shell = startClean('bash', ['-c', command, ...words]);
  return [
    ...HELD,
    ...hidden,
    ...hiddenLogins(logins).mounts,
    '--chdir',
    cwd,
    '--',
    shell.program,
    ...shell.arguments,
  ];
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

let filterFile: number | undefined;

/** Opens the filter of system calls for one start; the caller closes it. */
export function openFilter(): number {
  filterFile ??= keepFilter();
  // A descriptor has one place from which it is read, and every start reads it whole.
  return openSync(`/proc/self/fd/${filterFile}`, 'r');
}

/** In a file that has no name any more, so nobody can change it and nothing is left behind. */
function keepFilter(): number {
  const filter = seccompFilter();
  if (filter === null) throw new Error(`there is no filter of system calls for ${process.arch}`);
  const directory = mkdtempSync(join(tmpdir(), 'ramet-sandbox-'));
  try {
    const file = join(directory, 'filter');
    writeFileSync(file, filter, { mode: 0o400 });
    return openSync(file, 'r');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export async function tryBubblewrap(
  env: Readonly<Record<string, string>>,
  {
    platform = process.platform,
    architecture = process.arch,
    limitMs = TIME_LIMIT_MS,
    signal,
  }: { platform?: string; architecture?: string; limitMs?: number | undefined; signal?: AbortSignal } = {},
): Promise<BubblewrapState> {
  if (platform !== 'linux') return { works: false, reason: `not available for ${platform}`, remedy: null };
  if (seccompFilter(architecture) === null) {
    return { works: false, reason: `not available for ${architecture}`, remedy: null };
  }
  const path = env.PATH ?? '';
  const program = findProgram(path, PROGRAM);
  if (program === null) {
    const remedy = installRemedy((name) => findProgram(path, name) !== null);
    return { works: false, reason: 'bubblewrap (bwrap) is not on the PATH', remedy };
  }
  const directory = mkdtempSync(join(tmpdir(), 'ramet-sandbox-'));
  try {
    const file = join(directory, 'written');
    const end = await runProbe(program, file, env, { limitMs, signal });
    if (end.isSlow) return { works: false, reason: end.problem, remedy: OVERLOADED, isSlow: true };
    if (end.problem !== null) return { works: false, reason: end.problem, remedy: namespaceRemedy() };
    if (end.output.trim() === 'held' && !existsSync(file)) return { works: true, program };
    const reason = `${program} does not hold what it runs`;
    return { works: false, reason, remedy: 'install bubblewrap, and put it first on the PATH' };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Only absolute places: what a relative one means depends on the directory, and that is the repository's. */
function findProgram(path: string, name: string): string | null {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, name)).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The file cannot be written, no right is left, and system calls are filtered. */
const PROOF = [
  '{ : > "$0"; } 2>/dev/null && exit 0',
  'while read -r name value; do case $name in',
  'CapEff:) rights=$value;; Seccomp:) filter=$value;; esac; done < /proc/self/status',
  '[ "$rights $filter" = "0000000000000000 2" ] && echo held; exit 0',
].join('\n');

type ProbeEnd = { isSlow: false; problem: string | null; output: string } | { isSlow: true; problem: string };

/** `problem` is null when it ran to its end. */
function runProbe(
  program: string,
  file: string,
  env: Readonly<Record<string, string>>,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal | undefined },
): Promise<ProbeEnd> {
  const words = bubblewrapArguments(PROOF, '/', { words: [file] });
  const filter = openFilter();
  const child = spawn(program, words, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe', filter] });
  closeSync(filter);
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (data) => (output += String(data)));
  child.stderr?.on('data', (data) => (errors += String(data)));
  return new Promise((settle) => {
    const end = (how: ProbeEnd): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      settle(how);
    };
    const finish = (problem: string | null): void => end({ isSlow: false, problem, output });
    const slow = `bubblewrap has not started after ${limitMs / 1_000} s`;
    const giveUp = (): void => end({ isSlow: true, problem: slow });
    const timer = setTimeout(giveUp, limitMs);
    signal?.addEventListener('abort', giveUp);
    child.once('error', (error) => finish(`bubblewrap cannot be started: ${describeError(error)}`));
    child.once('close', (code) =>
      finish(code === 0 ? null : `bubblewrap cannot start: ${firstLine(errors) || `exit code ${code}`}`),
    );
  });
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').replace(/^bwrap: /, '').slice(0, 200);
}

/**
 * What a person can do where bubblewrap is missing or may not start. Nothing is installed or changed here.
 *
 * `has` tells whether a program is there.
 */
export function installRemedy(has: (program: string) => boolean, root: boolean = isRoot()): string {
  const found = INSTALLERS.find(([program]) => has(program));
  return found === undefined ? 'install bubblewrap' : `install bubblewrap: ${asRoot(found[1], root)}`;
}

export function namespaceRemedy(
  setting: (name: string) => string | null = kernelSetting,
  root: boolean = isRoot(),
): string {
  const found = FORBIDDING.find(([name, value]) => setting(name) === value);
  const remedy = 'allow unprivileged user namespaces on this machine';
  return found === undefined ? remedy : `${remedy}: ${asRoot(found[2], root)}`;
}

function kernelSetting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return null;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asRoot(command: string, root: boolean): string {
  return root ? command : `sudo ${command}`;
}
