/**
 * Which processes there are, and what the system tells about each. Every call looks again. Null: the system does not tell,
 * the process has ended, or it belongs to another user.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export function processIds(): number[] | null {
  const ids =
    namesIn('/proc')
      ?.filter((name) => /^\d+$/.test(name))
      .map(Number) ?? [];
  // This one is always there.
  return ids.length === 0 ? null : ids;
}

export interface OpenFile {
  descriptor: number;
  /** Its path, or what the system calls a socket or a pipe. */
  target: string;
}

export function openFiles(pid: number): OpenFile[] | null {
  const names = namesIn(`/proc/${pid}/fd`);
  return (
    names?.flatMap((name) => {
      // It may be closed meanwhile.
      const target = linkOf(pid, `fd/${name}`);
      return target === null ? [] : [{ descriptor: Number(name), target }];
    }) ?? null
  );
}

/** `NAME=value`, as it was started with. */
export function environmentOf(pid: number): string[] | null {
  return textOf(pid, 'environ')?.split('\0') ?? null;
}

/**
 * Whether it is becoming another program right now. Until that is done the system shows it without any variable, as one that
 * has cleared them all.
 */
export function isStarting(pid: number): boolean {
  const isBlank = textOf(pid, 'environ') === '' && textOf(pid, 'cmdline') === '';
  // What belongs to the system itself has no program.
  return isBlank && linkOf(pid, 'exe') !== null;
}

export function workingDirectoryOf(pid: number): string | null {
  return linkOf(pid, 'cwd');
}

/** Two processes with the same text see the same mounts. */
export function mountNamespaceOf(pid: number | 'self'): string | null {
  return linkOf(pid, 'ns/mnt');
}

function linkOf(pid: number | 'self', name: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
}

function textOf(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}
