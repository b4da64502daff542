/**
 * The files of an agent for a call that changes memory: reading is as always, and a change goes through the store, which guards
 * against secrets, records where each line came from and loses no edit of a person.
 */
import { resolve } from 'node:path';
import type { FileAccess, FileRefusal, FileWritten } from '../../files/file-access.ts';
import type { MemoryChange } from '../../memory/files/memory-history.ts';
import { RametError } from '../../schema/errors.ts';
import { landingPath } from '../../system/landing-path.ts';
import { versionOf } from '../../system/regular-file.ts';
import type { Agent } from '../agent/agent.ts';
import { memoryWritten } from '../hooks/memory-hooks.ts';
import type { MemoryTarget } from './permit.ts';

type TextChange = (text: string) => { ok: true; text: string } | FileRefusal;

interface MemoryCall {
  readonly agent: Agent;
  readonly call: string;
  readonly signal: AbortSignal;
}

export function memoryFiles(asked: MemoryCall, write: MemoryTarget): FileAccess {
  const { agent, call } = asked;
  const plain = agent.files.for(call);
  const path = resolve(write.store, write.file);
  return {
    ...plain,
    update: (_, change) =>
      changeMemory(asked, write, (text) =>
        text === null
          ? { ok: false, reason: `${path} does not exist. Use Write to create it.` }
          : change(text),
      ),
    write: (_, content) =>
      changeMemory(asked, write, (text) =>
        text === null || isAsSeen(agent, path, text)
          ? { ok: true, text: content }
          : {
              ok: false,
              reason: `${path} is not as you have read it, or you have not read it. Read it again, then write it.`,
            },
      ),
  };
}

function isAsSeen({ files }: Agent, path: string, text: string): boolean {
  return files.lastSeen(landingPath(path) ?? path) === versionOf(Buffer.from(text));
}

async function changeMemory(
  { agent, call, signal }: MemoryCall,
  { store: root, name, file }: MemoryTarget,
  edit: (text: string | null) => ReturnType<TextChange>,
): Promise<FileWritten | FileRefusal> {
  const { MemoryStore } = await import('../../memory/files/memory-store.ts');
  using store = new MemoryStore(root, () => agent.runtime.clock.now());
  const path = resolve(root, file);
  let refused: FileRefusal | null = null;
  let after: string | null = null;
  const { session } = agent.runtime.journal;
  const source = { kind: 'agent', session, agent: agent.spec.id, turn: agent.state.spent.turns } as const;
  try {
    const change = await store.change(source, (read) => {
      const edited = edit(read(file));
      refused = edited.ok ? null : edited;
      after = edited.ok ? edited.text : null;
      return new Map(edited.ok ? [[file, edited.text]] : []);
    });
    if (refused !== null) return refused;
    saw(agent, call, path, after ?? '');
    if (change !== null) await memoryWritten(agent, { store: root, name, change }, signal);
    return { ok: true, path, created: isCreated(change) };
  } catch (error) {
    if (error instanceof RametError) return { ok: false, reason: error.message };
    throw error;
  }
}

function isCreated(change: MemoryChange | null): boolean {
  return change?.files[0]?.before === null;
}

/** It is no change of the checkout: `ramet memory undo` takes it back, and not `ramet undo`. */
function saw(agent: Agent, call: string, path: string, text: string): void {
  const version = versionOf(Buffer.from(text));
  const landing = landingPath(path) ?? path;
  agent.files.follow(landing, version);
  agent.record({ type: 'file.read', call, path: landing, version });
}
