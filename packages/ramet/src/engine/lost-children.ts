/**
 * The agents in the background of which an earlier process did not tell their parent (AGENT-5): it was killed while
 * they ran, or after they had ended and before that was told. Whoever resumes the parent tells it, once: what is told
 * is recorded, and found to be told the next time.
 */
import { contentOf, thawBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { agentStatuses, statusBoardOf } from '../journal/projections/status.ts';
import { transcriptOf } from '../journal/projections/transcript.ts';
import type { EventOf, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';
import type { Agent } from './agent.ts';
import type { AgentFamily } from './family.ts';
import { notificationText, type ReportFacts } from './report.ts';
import type { SessionRuntime } from './runtime.ts';

interface RecordedChild {
  readonly started: EventOf<'agent.started'>;
  prompts: number;
  background: boolean;
  ended: EventOf<'agent.ended'> | null;
  told: boolean;
}

export async function tellOfLostChildren(
  family: AgentFamily,
  parent: Agent,
  reader: JournalReader,
): Promise<void> {
  for (const { from, text } of await lostNotifications(family, parent.runtime, parent.spec.id, reader)) {
    parent.receive('notification', from, text);
  }
}

export async function lostNotifications(
  family: AgentFamily,
  { redact, outputDirectory }: Pick<SessionRuntime, 'redact' | 'outputDirectory'>,
  parent: AgentId,
  reader: JournalReader,
): Promise<{ from: AgentId; text: string }[]> {
  const keep = { redact, outputDirectory, cap: family.parts.limits.reportBytes };
  const lost = [...childrenOf(reader.events(), parent)].filter(
    ([id, { background, told }]) => background && !told && family.find(id) === undefined,
  );
  return Promise.all(
    lost.map(async ([from, child]) => ({
      from,
      text: await notificationText(factsOf(reader, from, child), keep),
    })),
  );
}

function childrenOf(events: Iterable<RecordedEvent>, parent: AgentId): Map<AgentId, RecordedChild> {
  const children = new Map<AgentId, RecordedChild>();
  for (const { agent, event } of events) {
    if (event.type === 'agent.started' && event.parent === parent && agent !== null) {
      const background = event.origin?.background ?? false;
      children.set(agent, { started: event, prompts: 0, background, ended: null, told: false });
    } else if (event.type === 'message.received' && event.kind === 'notification') {
      const about = children.get(event.from ?? '');
      if (about !== undefined) about.told = true;
    } else {
      const child = children.get(agent ?? '');
      if (child !== undefined) note(child, event);
    }
  }
  return children;
}

function note(child: RecordedChild, event: RecordedEvent['event']): void {
  if (event.type === 'agent.ended') child.ended = event;
  if (event.type === 'agent.detached') child.background = true;
  if (event.type !== 'message.appended') return;
  child.ended = null;
  if (event.cause !== 'prompt') return;
  child.prompts += 1;
  // Who has ended goes on in the background, and that is told of again.
  if (child.prompts > 1) Object.assign(child, { background: true, told: false });
}

const KILLED = {
  status: 'interrupted',
  cause: 'process_ended',
  message: 'the process that ran it was ended; SendMessage lets it go on',
} as const;

function factsOf(reader: JournalReader, id: AgentId, { started, ended }: RecordedChild): ReportFacts {
  const [overview] = agentStatuses(statusBoardOf(reader.events({ agent: id })), { writerAlive: false });
  if (overview === undefined) throw new Error(`agent ${id} has started and is nowhere`);
  const { type, name, turns, usage, costUsd, startedAt, lastEventAt } = overview;
  const { status, cause, message } = ended ?? KILLED;
  return {
    agent: id,
    type,
    name,
    description: started.origin?.description ?? '',
    status,
    cause,
    message,
    text: ended === null ? '' : lastText(reader, id),
    turns,
    usage,
    costUsd,
    durationMs: lastEventAt - startedAt,
  };
}

function lastText(reader: JournalReader, id: AgentId): string {
  const { messages } = transcriptOf(reader.events({ agent: id }), id);
  const blocks = messages.findLast(({ role }) => role === 'assistant')?.blocks ?? [];
  const texts = blocks.map((digest) => thawBytes(reader.block(digest))).filter(({ type }) => type === 'text');
  return texts.map((block) => String(contentOf(block).text)).join('');
}
