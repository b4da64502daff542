/** Tells hooks of changes of memory, one for each file. They have happened: a hook can tell others, and undo them by command. */
import { join } from 'node:path';
import type { MemoryChange } from '../../memory/files/memory-history.ts';
import { type StoreName, scopeOfFile } from '../../memory/files/memory-places.ts';
import { lineDiff } from '../../system/text/line-diff.ts';
import type { Agent } from '../agent/agent.ts';

export interface WrittenMemory {
  readonly store: string;
  readonly name: StoreName;
  readonly change: MemoryChange;
}

export async function memoryWritten(
  agent: Agent,
  { store, name, change }: WrittenMemory,
  signal: AbortSignal,
): Promise<void> {
  const { hooks } = agent.runtime;
  if (hooks?.has(agent, 'MemoryWritten') !== true) return;
  for (const { path, before, after } of change.files) {
    const fields = {
      scope: scopeOfFile(path, name).split(' ', 1)[0],
      memory_of: scopeOfFile(path, name),
      file_path: join(store, path),
      source: change.kind,
      change: `${name[0]}${change.id}`,
      turn: change.turn,
      ...linesOf(before ?? '', after ?? ''),
    };
    await hooks.run(agent, 'MemoryWritten', fields, signal);
  }
}

function linesOf(before: string, after: string): { lines_added: number; lines_removed: number } {
  const lines = lineDiff(before, after);
  const count = (kind: string): number => lines.filter((line) => line.kind === kind).length;
  return { lines_added: count('added'), lines_removed: count('removed') };
}
