/**
 * Resumes an agent that has ended with a message (AGENT-3): it is rebuilt from the journal, byte for byte, gets the
 * message and runs in the background. Between its runs it costs disk, not memory.
 */
import { freezeBlock } from '../../conversation/frozen-block.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { CONVERSATION_LOST } from '../../journal/projections/cut-off-agents.ts';
import { recordedAgent } from '../../journal/projections/recorded-agents.ts';
import { RametError } from '../../schema/errors.ts';
import type { EventOf } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import type { SessionRuntime } from '../agent/runtime.ts';
import { closedAnswers, sayClosed } from '../calls/finish-calls.ts';
import type { AgentHandle } from '../children/child-handle.ts';
import type { AgentFamily } from '../children/family.ts';
import { startChild } from '../children/run-child.ts';
import { housingIn, lastWorktree, resumedHousing, settleIn } from '../isolation/resume-workspace.ts';
import { LOST_FOR_GOOD } from './give-up.ts';
import { type LostNotification, lostNotifications } from './lost-children.ts';
import { RecordedChildren } from './recorded-children.ts';
import { type StartedAgent, specOfRecorded, whyNotResumed } from './recorded-spec.ts';
import { resumeAgent } from './resume.ts';
import { ancestorsOf } from './rights-above.ts';

interface EndedAgent {
  id: AgentId;
  started: EventOf<'agent.started'>;
  ended: EventOf<'agent.ended'> | null;
}

/** An agent that `asker` has no running child of that name for, with one line on it; null when there never was one. */
export function describeOther(
  family: AgentFamily,
  asker: AgentId,
  nameOrId: string,
): { id: AgentId; line: string } | null {
  const reader = family.parts.openReader();
  try {
    const agent = findEnded(family, reader, nameOrId);
    if (agent === null) return null;
    const { id, started, ended } = agent;
    if (family.find(id) !== undefined)
      return { id, line: `Agent ${id} is running and reports to the agent that started it.` };
    const { status = 'interrupted', cause = null } = ended ?? {};
    const told = started.parent === asker ? ' You already have its report.' : '';
    return { id, line: `Agent ${id} has ended: ${[status, cause].filter(Boolean).join(': ')}.${told}` };
  } finally {
    reader.close();
  }
}

export async function resumeEnded(
  family: AgentFamily,
  from: Agent,
  to: string,
  text: string,
): Promise<ToolOutcome> {
  const done = await continueEnded(family, from, to, (agent) => {
    agent.say('prompt', [freezeBlock({ type: 'text', text })]);
  });
  if ('problem' in done) return failure(done.problem);
  if ('running' in done) return tellRunning(done.running, from.spec.id, to, text);
  return {
    content: `Agent ${done.handle.id} had ended. It resumes in the background with your message. A <task-notification> will tell you the result.`,
  };
}

type Continued = { handle: AgentHandle } | { running: Agent } | { problem: string };

/** Resumes it for `from`, in the background; `tell` says what it begins with. One that runs already is left alone. */
export async function continueEnded(
  family: AgentFamily,
  from: Agent,
  to: string,
  tell: (agent: Agent) => void,
): Promise<Continued> {
  const { runtime, spec } = hosted(from);
  // What it did last is read from disk.
  await runtime.journal.commit('written');
  const reader = family.parts.openReader();
  try {
    const ended = findEnded(family, reader, to);
    if (ended === null) return { problem: unknownReceiver(family, reader, from.spec.id, to) };
    const leaving = family.team?.worktrees?.leaving(ended.id) ?? null;
    if (leaving !== null) {
      await leaving;
      return await continueEnded(family, from, to, tell);
    }
    const found = { ...ended, above: ancestorsOf(reader, ended.started, spec.id) };
    await family.parts.refreshDefinitions?.(found.started.agentType);
    const problem = whyNot(family, from, found);
    if (problem !== null) return { problem: `${to} cannot be resumed: ${problem}.` };
    const lost = await lostNews(family, runtime, reader, found.id);
    const past = recordedAgent((id) => family.places.of(reader, id), found.id);
    const { cwd } = from.directory;
    const kept = family.team?.worktrees?.of(found.id) ?? null;
    const worktree = lastWorktree(found.started.origin, past);
    const housing = kept === null ? await resumedHousing(runtime, worktree, cwd) : housingIn(kept, cwd);
    const changes = { call: null, background: true };
    // Hundreds of blocks, each of which would take and leave the lock of a reader.
    const agent = reader.together(() =>
      resumeAgent(
        runtime,
        reader,
        (kept) => ({ ...specOfRecorded(family, from, found, kept, changes), ...housing }),
        found.id,
        past,
      ),
    );
    const answers = await closedAnswers(agent);
    // From here on nothing is awaited; until here, another call may have resumed it.
    const running = family.find(found.id);
    if (running !== undefined) return { running };
    // It was given back meanwhile.
    if (kept !== null && family.team?.worktrees?.of(found.id) !== kept)
      return await continueEnded(family, from, to, tell);
    settleIn(agent, past, cwd, kept !== null);
    sayClosed(agent, answers);
    tell(agent);
    for (const news of lost) agent.receive('notification', news.from, news.text);
    const { signal } = new AbortController();
    return { handle: startChild(family, from, agent, { signal, run_in_background: true }) };
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    return { problem: `${to} cannot be resumed: ${error.message}.` };
  } finally {
    reader.close();
  }
}

export function tellRunning(receiver: Agent, from: AgentId, to: string, text: string): ToolOutcome {
  receiver.receive('message', from, text);
  return { content: `Sent to ${to}. It reads the message after its current tool call.` };
}

function whyNot(family: AgentFamily, from: Agent, agent: EndedAgent & StartedAgent): string | null {
  const lasting = whyNotResumed(family, agent);
  if (lasting !== null) return lasting;
  if (agent.ended?.cause === CONVERSATION_LOST) return LOST_FOR_GOOD;
  if (from.spec.readOnly === true && agent.started.origin?.readOnly !== true)
    return 'it may change things, and you only read';
  const budget = (from.here.spending ?? family.parts.spending).state(from.runtime.clock.now());
  return budget.level === 'over' ? `the budget is spent: ${budget.what}` : null;
}

/** The last agent of that id or name: names may be given again. */
function findEnded({ places }: AgentFamily, reader: JournalReader, nameOrId: string): EndedAgent | null {
  const { agent: id = null, event: started } = places.startOf(reader, nameOrId) ?? {};
  if (id === null || started?.type !== 'agent.started') return null;
  return { id, started, ended: places.lastOf(reader, id, 'agent.ended') };
}

function startedAgents(reader: JournalReader): Omit<EndedAgent, 'ended'>[] {
  return Array.from(reader.events({ type: 'agent.started' })).flatMap(({ agent: id, event }) =>
    id !== null && event.type === 'agent.started' && event.parent !== null ? [{ id, started: event }] : [],
  );
}

/** Most agents have started none, and then the record is not read for them. */
async function lostNews(
  family: AgentFamily,
  runtime: SessionRuntime,
  reader: JournalReader,
  id: AgentId,
): Promise<LostNotification[]> {
  if (!family.places.isParent(reader, id)) return [];
  const recorded = RecordedChildren.read(reader);
  return lostNotifications(family, runtime, id, { recorded, reader });
}

function unknownReceiver(family: AgentFamily, reader: JournalReader, from: AgentId, to: string): string {
  // Of members the team knows who still reads.
  const team = family.team?.receivers?.(from) ?? null;
  const others = startedAgents(reader).filter(({ started }) => team === null || !started.origin?.member);
  const known = new Set(others.map(({ id, started }) => started.name ?? id));
  const names = [...(team ?? ['main']), ...[...known].slice(-MOST_NAMES)].join(', ');
  const running = family.running.length;
  return `There is no agent "${visibleLine(to.slice(0, 100))}". The agents are ${names}; ${running} of them are running.`;
}

const MOST_NAMES = 40;
