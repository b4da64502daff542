import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const MAY_WRITE = 0o3;

/** Whether a process has this file open to write, as far as the system tells; null where it tells nothing. */
export function isBeingWritten(file: string): boolean | null {
  const processes = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  if (processes.length === 0) return null;
  return processes.some((id) => namesIn(join('/proc', id, 'fd')).some((number) => writes(id, number, file)));
}

function writes(id: string, number: string, file: string): boolean {
  try {
    if (readlinkSync(join('/proc', id, 'fd', number)) !== file) return false;
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(join('/proc', id, 'fdinfo', number), 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & MAY_WRITE) !== 0;
  } catch {
    return false; // It was closed meanwhile.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Not there, or not for this user to look into.
  }
}
