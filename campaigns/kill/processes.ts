/** Processes of this machine: which ones belong to a place, and ending one by its id. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

export function endProcess(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/**
 * The processes below a process that run Node with a script of their own: agents that have a process. A command that is
 * about to be started has the command line of who starts it.
 */
export function agentProcesses(host: number): number[] {
  const own = commandLine(host);
  return allProcesses().filter((pid) => parentOf(pid) === host && isNode(pid) && commandLine(pid) !== own);
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Those that were started in a directory or below it. */
export function processesIn(directory: string): number[] {
  return allProcesses().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
    } catch {
      return false; // it ended meanwhile, or is not ours
    }
  });
}

export function describeProcess(pid: number): string {
  return `${pid} ${commandLine(pid)}`;
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function parentOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch {
    return null;
  }
}

function isNode(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
