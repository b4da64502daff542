/**
 * Ends every process that carries a mark in its environment: also one that left its group by a session of its own. One
 * that has cleared its environment is found by its fence, if it has one. Where the system does not tell, nothing is.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { existingPath } from '../landing-path.ts';
import { findProcess } from './process-identity.ts';
import { environmentOf, isStarting, mountNamespaceOf, processIds } from './process-table.ts';

const LONGEST_MS = 2_000;
const PAUSE_MS = 10;

/** `mark` is `NAME=value`, of a value that nobody else has. What is started meanwhile is found by the next look. */
export function endMarked(mark: string): Promise<void> {
  return endAll((pid) => environmentOf(pid)?.includes(mark) === true || (isStarting(pid) ? null : false));
}

/**
 * The same for those that have none of the variables whose names begin so, in the fence of that directory: only there
 * it is mounted. Those of others in the same fence have their variables.
 */
export async function endUnmarked(folder: string, variables: string): Promise<void> {
  const place = mountName(folder);
  const here = mountNamespaceOf('self');
  // Mounted for everybody, it tells nothing.
  if (place === null || here === null || hasMount('self', place)) return;
  await endAll((pid) => {
    // Most are not in a fence, and are asked nothing else.
    if ((mountNamespaceOf(pid) ?? here) === here) return false;
    if (!hasMount(pid, place)) return false;
    const known = environmentOf(pid);
    if (known === null || known.some((text) => text.startsWith(variables))) return false;
    // Whose it is shows in a moment. Looked at twice: it may have been starting when its variables were read.
    return isStarting(pid) || environmentOf(pid)?.some((text) => text.startsWith(variables)) ? null : true;
  });
}

/** Null: nobody can say yet. */
async function endAll(isMeant: (pid: number) => boolean | null): Promise<void> {
  for (let waited = 0; waited <= LONGEST_MS; waited += PAUSE_MS) {
    const open = (processIds() ?? []).filter((pid) => {
      if (pid === process.pid) return false;
      const meant = isMeant(pid);
      if (meant === false || !isAlive(pid)) return false;
      if (meant) kill(pid);
      return true;
    });
    if (open.length === 0) return;
    await sleep(PAUSE_MS);
  }
}

function isAlive(pid: number): boolean {
  return findProcess(pid)?.ended === false;
}

/** As the system writes it. */
function mountName(folder: string): string | null {
  const path = existingPath(folder);
  return (
    path?.replace(/[ \t\n\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`) ?? null
  );
}

function hasMount(process: number | 'self', place: string): boolean {
  try {
    const lines = readFileSync(`/proc/${process}/mountinfo`, 'utf8').split('\n');
    return lines.some((line) => line.split(' ', 5)[4] === place);
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}
