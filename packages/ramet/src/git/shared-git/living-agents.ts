/**
 * Which agents live in a checkout, of all processes: one empty file each in a folder of the project, its name the note
 * (compare `process-register.ts`). The shim counts them; a caller that must be sure checks whether their processes
 * live. An agent is entered when it first uses a tool that can change something.
 */
import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { isProcessAlive, thisProcess } from '../../system/processes/process-identity.ts';
import { removeNote } from '../../system/processes/process-register.ts';

const NOTE = /^(\d+)@([\w-]+|\?) ([\w.-]+)$/;

function agentsDirectory(state: string): string {
  return join(state, 'agents');
}

/** When an agent last committed while it was alone, by the time of a file: what it had changed by then is settled. */
export function settledDirectory(state: string): string {
  return join(state, 'settled');
}

/** What it returns takes the note away. */
export function enterCheckout(state: string, agent: AgentId): () => void {
  const { pid, started } = thisProcess();
  const file = join(agentsDirectory(state), `${pid}@${started ?? '?'} ${agent}`);
  try {
    closeSync(openSync(file, 'w', 0o600));
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    for (const directory of [agentsDirectory(state), settledDirectory(state)])
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'w', 0o600));
  }
  return () => removeNote(file);
}

/** Agents that live there, `except` apart; notes of processes that are gone are removed on the way. */
export function livingAgents(state: string, except: AgentId): AgentId[] {
  const directory = agentsDirectory(state);
  const living = new Set<AgentId>();
  for (const name of namesIn(directory)) {
    const [, pid, started, agent] = NOTE.exec(name) ?? [];
    if (agent === undefined) continue;
    if (!isProcessAlive({ pid: Number(pid), started: started === '?' ? null : (started ?? null) }))
      removeNote(join(directory, name));
    else if (agent !== except) living.add(agent);
  }
  return [...living].toSorted();
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
