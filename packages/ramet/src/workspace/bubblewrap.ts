/**
 * Bubblewrap, started directly: everything of the file system can be read and nothing of it written, no other process
 * can be seen, and no network reached. Whether it works here is found out by trying, and proved: a write must fail.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { describeError } from '../schema/errors.ts';
import { signalGroup } from './process-group.ts';

export type BubblewrapState =
  | { works: true; program: string }
  /** What is amiss, and what to do about it; null where there is nothing to do. */
  | { works: false; reason: string; remedy: string | null };

const PROGRAM = 'bwrap';
/** It takes some ten milliseconds; who needs seconds would hold every command up. */
const TIME_LIMIT_MS = 2_000;

/**
 * A root user would have the right to mount it writable again, so all rights go. Of the new `/dev` only that sandbox
 * knows: its `shm` is the scratch space that `sort` and heredocs need. Everything in it ends with it, and it with us.
 */
const HELD = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--setenv', 'TMPDIR', '/dev/shm'],
  ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--cap-drop', 'ALL', '--die-with-parent'],
];

/** Behind these, services write for whoever asks: what is only read must not reach them either. */
const SERVICES = [
  ...['/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock'],
  ...['/run/dbus/system_bus_socket', '/run/systemd/private'],
  ...['bus', 'systemd/private', 'docker.sock', 'podman/podman.sock'].map(
    (name) => `/run/user/${process.getuid?.() ?? 0}/${name}`,
  ),
];

/** The arguments with which it runs `command` in a shell. */
export function bubblewrapArguments(command: string, cwd: string, ...words: readonly string[]): string[] {
  const hidden = SERVICES.filter((path) => existsSync(path)).flatMap((path) => [
    '--ro-bind',
    '/dev/null',
    path,
  ]);
  return [...HELD, ...hidden, '--chdir', cwd, '--', 'bash', '-c', command, ...words];
}

export async function tryBubblewrap(
  env: Readonly<Record<string, string>>,
  { platform = process.platform, limitMs = TIME_LIMIT_MS }: { platform?: string; limitMs?: number } = {},
): Promise<BubblewrapState> {
  if (platform !== 'linux') return { works: false, reason: `there is none for ${platform}`, remedy: null };
  const program = findProgram(env.PATH ?? '');
  if (program === null) {
    return { works: false, reason: 'bubblewrap (bwrap) is not on the PATH', remedy: 'install bubblewrap' };
  }
  const directory = mkdtempSync(join(tmpdir(), 'ramet-sandbox-'));
  try {
    const file = join(directory, 'written');
    const end = await runProbe(program, file, env, limitMs);
    if (end.problem !== null) return { works: false, reason: end.problem, remedy: ALLOW_NAMESPACES };
    if (end.output.trim() === 'held' && !existsSync(file)) return { works: true, program };
    const reason = `${program} does not keep files from being written`;
    return { works: false, reason, remedy: 'install bubblewrap, and put it first on the PATH' };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const ALLOW_NAMESPACES = 'allow unprivileged user namespaces on this machine';

/** Only absolute places: what a relative one means depends on the directory, and that is the repository's. */
function findProgram(path: string): string | null {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, PROGRAM)).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** `problem` is null when it ran to its end. */
function runProbe(
  program: string,
  file: string,
  env: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<{ problem: string | null; output: string }> {
  const words = bubblewrapArguments('{ : > "$0"; } 2>/dev/null || echo held', '/', file);
  const child = spawn(program, words, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (data) => (output += String(data)));
  child.stderr.on('data', (data) => (errors += String(data)));
  return new Promise((settle) => {
    const finish = (problem: string | null): void => {
      clearTimeout(timer);
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      settle({ problem, output });
    };
    const timer = setTimeout(() => finish(`bubblewrap does not start within ${limitMs} ms`), limitMs);
    child.once('error', (error) => finish(`bubblewrap cannot be started: ${describeError(error)}`));
    child.once('close', (code) =>
      finish(code === 0 ? null : `bubblewrap cannot start: ${firstLine(errors) || `exit code ${code}`}`),
    );
  });
}

function firstLine(text: string): string {
  return (text.trim().split('\n')[0] ?? '').replace(/^bwrap: /, '').slice(0, 200);
}
