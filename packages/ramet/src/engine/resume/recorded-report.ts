/** What there is to report of an agent that an earlier process ran: read from the journal, it has no memory of its own. */
import { contentOf, thawBytes } from '../../conversation/frozen-block.ts';
import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { foldAgent } from '../../journal/projections/apply-event.ts';
import { agentStatuses, statusBoardOf } from '../../journal/projections/status.ts';
import type { AgentId } from '../../schema/ids.ts';
import { itemsOf } from '../../system/persistent.ts';
import type { ReportFacts } from '../children/report.ts';
import type { RecordedChild } from './recorded-children.ts';

const KILLED = {
  status: 'interrupted',
  cause: 'process_ended',
  message: 'its process ended; SendMessage continues it',
} as const;

export function recordedReport(
  reader: JournalReader,
  { id, started, ended }: Pick<RecordedChild, 'id' | 'started' | 'ended'>,
): ReportFacts {
  const [overview] = agentStatuses(statusBoardOf(reader.events({ agent: id })), { writerAlive: false });
  if (overview === undefined) throw new Error(`agent ${id} has started and is nowhere`);
  const { type, name, model, turns, usage, costUsd, startedAt, lastEventAt } = overview;
  const { status, cause, message } = ended ?? KILLED;
  const worktree = recordedWorktree(reader, id);
  return {
    ...(worktree !== null && { worktree }),
    agent: id,
    type,
    name,
    model,
    description: started.origin?.description ?? '',
    status,
    cause,
    message,
    text: ended === null ? '' : recordedText(reader, id),
    turns,
    usage,
    costUsd,
    // By the wall clock, which may have been set back meanwhile.
    durationMs: Math.max(0, lastEventAt - startedAt),
  };
}

/** Where its work is: as it was given back, or as it was made if its process was killed before. */
export function recordedWorktree(reader: JournalReader, id: AgentId): WorktreeResult | null {
  let last: WorktreeResult | null = null;
  const types = ['worktree.created', 'worktree.released'] as const;
  for (const { event } of reader.events({ agent: id, types })) {
    if (event.type === 'worktree.created') {
      const { type: _, how: __, dirty: ___, ms: ____, ...worktree } = event;
      last = { ...worktree, kept: true, reasons: [] };
    }
    if (event.type !== 'worktree.released') continue;
    const { type: _, ...released } = event;
    last = released;
  }
  return last;
}

/** The text of its last answer. */
export function recordedText(reader: JournalReader, id: AgentId): string {
  const { messages } = foldAgent(reader.events({ agent: id }), id);
  const blocks = itemsOf(messages).findLast(({ role }) => role === 'assistant')?.blocks ?? [];
  const texts = blocks.map((digest) => thawBytes(reader.block(digest))).filter(({ type }) => type === 'text');
  return texts.map((block) => String(contentOf(block).text)).join('');
}
