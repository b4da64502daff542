/**
 * Writes to files of memory (MEM-1, the exception of WORK-7): an agent may change the memory that is its own without a question,
 * from wherever it works, and what it changes goes through the store. Another agent's memory is no agent's to change. What the
 * main agent writes elsewhere in memory is a matter of rules and modes, as any file outside, and goes through the store too.
 */
import { resolve } from 'node:path';
import type { PermissionDecision } from '../../permission/assessment.ts';
import { isInside, landingPath, pathInside } from '../../system/landing-path.ts';
import type { Tool } from '../../tools/tool.ts';
import type { HostedAgent } from '../agent/agent.ts';
import type { MemoryRights } from '../agent/runtime.ts';
import type { MemoryTarget } from './permit.ts';

export interface MemoryPermit {
  readonly write: MemoryTarget;
  /** It is the agent's own memory. */
  readonly isOwn: boolean;
}

/** Null for a call that writes no memory; a text says why it may not. */
export function memoryPermit(agent: HostedAgent, tool: Tool, input: unknown): MemoryPermit | string | null {
  const rights = agent.runtime.memory;
  const { writes = [] } = tool.access?.(input) ?? {};
  const [path, ...more] = writes;
  if (rights === undefined || path === undefined) return null;
  const place = resolve(agent.directory.cwd, path);
  const write = writeAt(rights, place);
  if (write === null) return onlyForMemory(agent, rights, tool);
  if (typeof write === 'string' || more.length > 0) return `${tool.name} is refused: ${write}`;
  const isOwn = rights.foldersOf(agent).some(({ store, folder }) => {
    return store === write.store && isInside(resolve(store, write.file), resolve(store, folder));
  });
  if (isOwn || agent.spec.parent === null) return { write, isOwn };
  return `${tool.name} is refused: ${path} is memory that is not yours to change. Report what should be in it.`;
}

function onlyForMemory(agent: HostedAgent, rights: MemoryRights, tool: Tool): string | null {
  if (!rights.isOnlyForMemory(agent, tool)) return null;
  const places = rights.foldersOf(agent).map(({ store, folder }) => resolve(store, folder));
  return `${tool.name} is refused: you have it for your memory alone, in ${places.join(' and ')}.`;
}

const STORES = ['project', 'user'] as const;

/** Judged by where it leads: a link in memory leads nowhere else, and one elsewhere may lead there. */
function writeAt({ stores }: MemoryRights, place: string): MemoryTarget | string | null {
  const landing = landingPath(place);
  for (const name of STORES) {
    const store = stores[name];
    const root = landingPath(store) ?? store;
    const file = landing === null ? null : pathInside(landing, root);
    if (file === null && pathInside(place, store) === null) continue;
    if (file === null) return `${place} is a link that leads out of memory`;
    if (!file.endsWith('.md') || file.split('/').some((name) => name.startsWith('.')))
      return `${place} is no file of memory: those end in .md`;
    return { store, name, file };
  }
  return null;
}

/** Nobody is asked about an agent's own memory, unless a rule wants it. Rules that deny and plan mode hold. */
export function settledForMemory(decision: PermissionDecision, isOwn: boolean): PermissionDecision {
  if (!isOwn || decision.kind === 'allow') return decision;
  const open = decision.kind === 'ask' ? decision.question : decision.open;
  return open === undefined || open.byRule !== undefined ? decision : { kind: 'allow', confinement: 'none' };
}
