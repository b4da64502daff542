/**
 * Resumes the agents that an earlier process of the session left, each from its last complete turn (AGENT-5): those
 * that were at work when it was killed and, if the interrupted work itself is resumed, those that were interrupted
 * together with their parent, or by a provider. Agents below them come first, so that a parent finds the agents it
 * waits for. If the parent knows of an interruption by the provider, the agent resumes in the background.
 *
 * Invariants
 * 1. An agent resumes once: a running agent is left alone, and an agent whose parent is not alive is not resumed.
 * 2. An agent that is interrupted again before its parent resumes ends the run: the parent's call stays open.
 * 3. A message about an agent that is no longer true is taken back before its parent gets it; what is true is delivered
 *    once.
 */
import { setImmediate } from 'node:timers/promises';
import type { JournalReader } from '../../journal/journal.ts';
import type { AgentState } from '../../journal/projections/agent-state.ts';
import { isCutOff } from '../../journal/projections/cut-off-agents.ts';
import { recordedAgent, recordedAgents } from '../../journal/projections/recorded-agents.ts';
import { RametError } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { addCost, addUsage, NO_USAGE } from '../../schema/usage.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import { agentResumed } from '../agent/notices.ts';
import type { CarriedSpending } from '../budget/budget.ts';
import { hasOpenCalls, type OpenCalls, openCallsOf } from '../calls/finish-calls.ts';
import { recallExpectations } from '../children/expectations.ts';
import type { AgentFamily } from '../children/family.ts';
import { startedText } from '../children/report.ts';
import { startChild } from '../children/run-child.ts';
import { lastWorktree, resumedHousing, settleIn } from '../isolation/resume-workspace.ts';
import { conversationLost, giveUp, isLost, isToBeGivenUp } from './give-up.ts';
import { lostNotifications } from './lost-children.ts';
import { type RecordedChild, RecordedChildren } from './recorded-children.ts';
import { specOfRecorded, whyNotResumed } from './recorded-spec.ts';
import { resumeAgent, tellOfLostEnd } from './resume.ts';

export interface ResumeAgentsOptions {
  /** The main agent does something else: what a person interrupted with its last work stays interrupted. */
  prompted: boolean;
  /** Aborted when the run is over already: then no more agents resume, and those that have are stopped. */
  signal: AbortSignal;
}

/** Returns how many agents resume. */
export async function resumeAgents(
  family: AgentFamily,
  main: Agent,
  { prompted, signal }: ResumeAgentsOptions,
): Promise<number> {
  await main.runtime.journal.commit('written');
  const reader = family.parts.openReader();
  try {
    const recorded = RecordedChildren.read(reader);
    const resumption: Resumption = {
      family,
      reader,
      recorded,
      prompted,
      endIsMissing: main.state.recordIsShort,
      signal,
      main: main.spec.id,
      stateOf: states(reader),
    };
    return await resumeChildrenOf(main, resumption);
  } finally {
    reader.close();
  }
}

/** The first is read by itself, so that its request goes out while the journal is read for all the others. */
function states(reader: JournalReader): Resumption['stateOf'] {
  let others: Map<AgentId, AgentState> | null = null;
  let isFirst = true;
  return (id) => {
    if (isFirst) {
      isFirst = false;
      return recordedAgent((agent) => reader.events({ agent }), id);
    }
    others ??= recordedAgents(reader.events());
    return others.get(id);
  };
}

interface Resumption {
  readonly family: AgentFamily;
  readonly reader: JournalReader;
  readonly recorded: RecordedChildren;
  readonly prompted: boolean;
  /** The journal had lost its end: each is told before it does anything. */
  readonly endIsMissing: boolean;
  readonly signal: AbortSignal;
  readonly main: AgentId;
  stateOf(id: AgentId): AgentState | undefined;
}

async function resumeChildrenOf(parent: Agent, resumption: Resumption): Promise<number> {
  const { family, recorded, reader, signal } = resumption;
  parent.here.openBill();
  let count = 0;
  const goneOn = new Set<AgentId>();
  const open = openCallsOf(parent);
  for (const child of recorded.of(parent.spec.id)) {
    if (signal.aborted) return count;
    const way = wayOn(child, parent, open, resumption);
    if (way === null) continue;
    const resumed = await resumeOrWarn(child, way, parent, resumption);
    if (resumed > 0) goneOn.add(child.id);
    count += resumed;
    // What was started gets to its request before the next one is read.
    await setImmediate();
  }
  if (signal.aborted) return count;
  const source = { recorded, reader, goneOn };
  for (const news of await lostNotifications(family, parent.runtime, parent.spec.id, source)) {
    parent.receive('notification', news.from, news.text);
  }
  return count;
}

/** How an agent resumes. */
interface WayOn {
  /** What it was when it was left. */
  readonly from: 'running' | 'interrupted';
  /** Its parent was told that it is interrupted, and waits for it no more. */
  readonly isStranded: boolean;
}

/** Null when the agent does not resume. */
function wayOn(
  child: RecordedChild,
  parent: Agent,
  open: OpenCalls | null,
  { family, recorded, main, prompted, endIsMissing }: Resumption,
): WayOn | null {
  if (isToBeGivenUp(child)) return { from: 'interrupted', isStranded: true };
  if (family.find(child.id) !== undefined || whyNotResumed(family, child) !== null) return null;
  const { ended } = child;
  const hasNewPrompt = prompted && parent.spec.id === main;
  const expected = isExpected(child, parent, open);
  // The call that waits for it may be in what was lost.
  if (ended === null) return expected || endIsMissing ? { from: 'running', isStranded: !expected } : null;
  if (ended.status !== 'interrupted' || (hasNewPrompt && !isCutOff(ended))) return null;
  const from = 'interrupted';
  if (expected) return { from, isStranded: false };
  // A parent that has continued without it may have done its work: then a prompt is no reason to do it again.
  const isLeft = hasNewPrompt && recorded.hasParentResponded(child);
  return isCutOff(ended) && !isLeft ? { from, isStranded: true } : null;
}

/** Whether its parent waits for it, or has yet to hear of its end. */
function isExpected(
  { id, ended, background, started }: RecordedChild,
  parent: Agent,
  open: OpenCalls | null,
): boolean {
  if (background) return ended === null || hasNewsOf(parent, id);
  const call = started.origin?.call;
  if (typeof call === 'string') return isOpen(open, call);
  // No one waits for agents of a program that is gone; they still resume, and its next run finds them by name. What was
  // interrupted while a run waited for it is continued like a turn; a member of a team wakes for its own reasons.
  return ended === null || (ended.status === 'interrupted' && started.origin?.member !== true);
}

function hasNewsOf({ inbox }: Agent, id: AgentId): boolean {
  return inbox.items.some((item) => item.kind === 'notification' && item.from === id);
}

function isOpen(open: OpenCalls | null, call: string): boolean {
  if (open === null || open.results.has(call)) return false;
  return open.calls.some(({ id }) => id === call);
}

/** An agent that cannot be read back is reported as interrupted, or as failed if that is for good; the others resume. */
async function resumeOrWarn(
  child: RecordedChild,
  way: WayOn,
  parent: Agent,
  resumption: Resumption,
): Promise<number> {
  try {
    return await resumeChild(child, way, parent, resumption);
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    if (isLost(error)) {
      takeBack(parent, child.id);
      giveUp(parent, { child, isStranded: way.isStranded, below: resumption.recorded.of(child.id) });
    }
    parent.warn('agent_not_continued', `agent ${child.id} is not resumed: ${error.message}`);
    return 0;
  }
}

async function resumeChild(
  child: RecordedChild,
  { from, isStranded }: WayOn,
  parent: Agent,
  resumption: Resumption,
): Promise<number> {
  if (isToBeGivenUp(child)) throw conversationLost();
  const { family, reader } = resumption;
  const { runtime } = hosted(parent);
  const recorded = resumption.stateOf(child.id);
  if (recorded === undefined || recorded.messages.length === 0) {
    // Killed before anything but its start was recorded: the call that asked for it begins again.
    if (!resumption.endIsMissing && child.ended === null) return 0;
    throw conversationLost();
  }
  if (recorded.prefix === null) throw conversationLost();
  if (child.started.origin?.servers !== undefined)
    await family.parts.refreshDefinitions?.(child.started.agentType);
  const expected = await recallExpectations(child.started.origin);
  const worktree = lastWorktree(child.started.origin, recorded);
  const housing = await resumedHousing(runtime, worktree, parent.directory.cwd);
  const changes = isStranded ? { call: null, background: true } : {};
  const agent = resumeAgent(
    runtime,
    reader,
    (past) => ({ ...specOfRecorded(family, parent, child, past, changes), ...expected, ...housing }),
    child.id,
    recorded,
  );
  agent.here.carried = { ...recorded.spent, below: spentBelow(child.id, resumption) };
  takeBack(parent, child.id);
  agent.record({ type: 'agent.resumed', from });
  if (isStranded) agent.record({ type: 'agent.detached' });
  if (resumption.endIsMissing) tellOfLostEnd(agent);
  settleIn(agent, recorded, parent.directory.cwd);
  const below = await resumeChildrenOf(agent, resumption);
  const handle = startChild(family, parent, agent, { run_in_background: child.background || isStranded });
  if (isStranded && !isAtRest(parent))
    parent.receive('notification', null, agentResumed(startedText(handle)));
  // The agents below it resumed first, and may have found that the provider refuses.
  if (resumption.signal.aborted) handle.stop(String(resumption.signal.reason));
  return below + 1;
}

/** An agent with nothing to do hears of the other's end alone: a turn just to be told would be for nothing. */
function isAtRest(agent: Agent): boolean {
  const { conversation, state, inbox } = agent;
  return !conversation.awaitsAnswer && state.openStop === null && !hasOpenCalls(agent) && inbox.size === 0;
}

function spentBelow(id: AgentId, resumption: Resumption): CarriedSpending['below'] {
  let below: CarriedSpending['below'] = { usage: NO_USAGE, costUsd: 0 };
  for (const child of resumption.recorded.of(id)) {
    const own = resumption.stateOf(child.id)?.spent;
    for (const spent of [own, spentBelow(child.id, resumption)]) {
      if (spent === undefined) continue;
      below = {
        usage: addUsage(below.usage, spent.usage),
        costUsd: addCost(below.costUsd, spent.costUsd),
      };
    }
  }
  return below;
}

function takeBack(parent: Agent, id: AgentId): void {
  parent.takeFromInbox((item) => item.kind === 'notification' && item.from === id, null);
}
