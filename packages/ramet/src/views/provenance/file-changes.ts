/** Who changed which file through Write and Edit, over the latest sessions of a repository. What cannot be read is left out. */

import { damageLine } from '../../journal/integrity.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { listSessions } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { describeError, JournalError } from '../../schema/errors.ts';
import type { Digest } from '../../schema/events.ts';
import type { AgentId, SessionId } from '../../schema/ids.ts';

/** Further back, what is not committed is most likely not theirs. */
const LOOKED_AT = 50;
const READ = ['agent.started', 'message.appended', 'file.changed'] as const;

export interface AttributedChange {
  session: SessionId;
  agent: AgentId;
  /** What the agent is for, or the prompt that it carried out; null where the journal does not tell. */
  purpose: string | null;
  time: number;
  /** The tool call that did it. */
  call: string;
  path: string;
  before: string | null;
  after: string | null;
}

/** In the order of time. `tell` gets one line for each session that cannot be read whole. */
export function fileChanges(
  project: string,
  wanted: { path?: string; session?: SessionId; agent?: AgentId | null },
  tell: (line: string) => void = () => {},
): AttributedChange[] {
  return listSessions(project)
    .filter(({ session }) => wanted.session === undefined || session === wanted.session)
    .slice(0, LOOKED_AT)
    .flatMap(({ session }) => changesIn(project, session, tell))
    .filter(({ path }) => wanted.path === undefined || path === wanted.path)
    .filter(({ agent }) => !wanted.agent || agent === wanted.agent)
    .sort((a, b) => a.time - b.time);
}

function changesIn(project: string, session: SessionId, tell: (line: string) => void): AttributedChange[] {
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      const changes = readChanges(session, reader);
      const line = damageLine(session, reader.damage);
      if (line !== null) tell(line);
      return changes;
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    tell(`session ${session} cannot be read: ${describeError(error)}`);
    return [];
  }
}

function readChanges(session: SessionId, reader: JournalReader): AttributedChange[] {
  const described = new Map<AgentId, string>();
  const prompts = new Map<AgentId, Digest | undefined>();
  const trying = new Set<AgentId>();
  const changes: AttributedChange[] = [];
  for (const { agent, time, event } of reader.events({ types: READ })) {
    if (agent === null) continue;
    if (event.type === 'agent.started' && event.origin !== undefined) {
      described.set(agent, event.origin.description);
      if (event.origin.source === 'speculation') trying.add(agent);
    }
    // What the user wrote stands behind what every prompt brings along.
    if (event.type === 'message.appended' && event.cause === 'prompt')
      prompts.set(agent, event.blocks.at(-1));
    if (event.type === 'message.appended' && event.adopted !== undefined) {
      const { agent: by, files } = event.adopted;
      const purpose = described.get(by) ?? null;
      for (const { path, before, after } of files)
        changes.push({ session, agent: by, purpose, time, call: '', path, before, after });
    }
    // What is tried out ahead, in a worktree that goes, is nobody's change until it is adopted.
    if (event.type !== 'file.changed' || trying.has(agent)) continue;
    const { call, path, before, after } = event;
    const purpose = described.get(agent) ?? textOf(prompts.get(agent), reader);
    changes.push({ session, agent, purpose, time, call, path, before, after });
  }
  return changes;
}

function textOf(digest: Digest | undefined, reader: JournalReader): string | null {
  if (digest === undefined) return null;
  const block: unknown = JSON.parse(Buffer.from(reader.block(digest)).toString());
  const isText =
    typeof block === 'object' && block !== null && 'text' in block && typeof block.text === 'string';
  return isText ? String(block.text) : null;
}
