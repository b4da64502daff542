/**
 * The life of a child (AGENT-4): it waits for capacity, runs, ends, and its parent is told. Whatever happens, its share
 * of the capacity is returned, its scope released, and exactly one result comes of it.
 *
 * Invariants
 * 1. A parent's abort reaches the child, never the reverse.
 * 2. A child in the foreground answers its call; one in the background is reported in one notification.
 */
import type { WorktreeResult } from '../../git/worktrees/workspace/agent-workspace.ts';
import { describeError } from '../../schema/errors.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';
import { type Agent, hosted, startOf } from '../agent/agent.ts';
import { snapshotOf } from '../agent/agent-content.ts';
import { type AgentEvent, type AgentResult, startedEvent } from '../agent/agent-event.ts';
import type { AgentExecutor } from '../agent/executor.ts';
import { hookText, STOPPED } from '../agent/notices.ts';
import { compareFork } from '../budget/fork-cost.ts';
import { hostOf } from '../host-duties.ts';
import type { FamilyTeam } from '../team/family-team.ts';
import { type AgentHandle, ChildHandle, type ChildOptions } from './child-handle.ts';
import type { AgentFamily } from './family.ts';
import { notificationText, type ReportFacts } from './report.ts';

/** By then those who start together have asked; commands come after the first answer, and wait for it anyway. */
const TRIAL_AFTER_MS = 100;

const NOTHING: WorktreeWarnings = { tellRest: () => Promise.resolve() };

export function startChild(
  family: AgentFamily,
  parent: Agent,
  child: Agent,
  options: ChildOptions,
): AgentHandle {
  // Before it runs: its loop takes over what it carries.
  const started = startOfLife(child);
  const member = family.team?.begin(child) ?? null;
  const handle = new ChildHandle(child, parent.spec.id, options, async (own, signal) => {
    const usages: Usage[] = [];
    const warnings = worktreeWarnings(child, (code, message) => child.warn(code, message));
    const onAnswer = (usage: Usage): void => {
      usages.push(usage);
      void warnings.tellRest();
    };
    const ended = await live(family, child, signal, onAnswer);
    if (ended.status === 'done') own.rests();
    await warnings.tellRest();
    const worktree = await givenBack(child, member !== null && ended.status === 'done' ? family.team : null);
    const result = worktree === null ? ended : { ...ended, worktree };
    own.ended();
    const facts = factsOf(child, result, usages);
    const isTold = own.inBackground && !(member !== null && result.status === 'done');
    if (isTold) await notify(family, parent, facts);
    // Not before its parent has been told: an agent ends when it has no children left and no news.
    parent.children.delete(own.id);
    if (own.inBackground && !isTold) parent.inbox.stir();
    member?.ended(result);
    if (member === null && result.status !== 'interrupted') family.team?.left(own.id);
    family.parts.emit(child.spec, { ...result, type: 'agent_ended' });
    return { ...result, ...(facts.advice !== undefined && { advice: facts.advice }) };
  });
  family.admit(child, handle);
  parent.children.add(handle);
  family.parts.emit(child.spec, started);
  return handle;
}

async function live(
  family: AgentFamily,
  child: Agent,
  signal: AbortSignal,
  onAnswer: (usage: Usage) => void,
): Promise<AgentResult> {
  try {
    if (!(await capacityFor(family, child, signal))) return await neverBegun(child, signal);
    family.stalls.noteLife(child);
    watchLife(family, child, onAnswer);
    const executor = executorOf(family, child) ?? (await ownProcess(family));
    const host = hostOf(child);
    const refusal = await startHooks(child, signal);
    if (refusal !== null) return await notBegun(child, 'cancelled', 'hook', refusal);
    let result = await executor.run(snapshotOf(child), host, { signal });
    // A message that arrived while it ended: its sender was told that it runs, so it gets that.
    while (result.status === 'done' && child.inbox.hasMessages && !signal.aborted) {
      result = joinRuns(result, await executor.run(snapshotOf(child), host, { signal }));
    }
    return result;
  } catch (error) {
    return brokenResult(error);
  } finally {
    // At once: from here on a message resumes it.
    family.forget(child);
    family.stalls.forget(child);
    child.here.capacity?.release();
    await child[Symbol.asyncDispose]().catch((error) =>
      child.warn('not_released', `something of the agent was not released: ${describeError(error)}`),
    );
  }
}

/** What hooks tell an agent with its task, once: a resumed one knows it. Resolves with why it must not begin. */
async function startHooks(child: Agent, signal: AbortSignal): Promise<string | null> {
  const { hooks, redact } = child.runtime;
  if (child.state.requests > 0 || hooks?.has(child, 'SubagentStart') !== true) return null;
  const { contexts, stop } = await hooks.run(child, 'SubagentStart', {}, signal);
  if (stop !== undefined) return redact(`a hook ended the agent at its start: ${stop}`);
  for (const text of contexts) child.receive('notification', null, redact(hookText('SubagentStart', text)));
  return null;
}

/** What a child tells shows that it is alive, but for what others find out about it, and that it waits. */
function watchLife(family: AgentFamily, child: Agent, onAnswer: (usage: Usage) => void): void {
  const { here } = child;
  const { sink } = here;
  here.sink = (event) => {
    const { type } = event;
    const isSign = type !== 'warning' && type !== 'stalled' && type !== 'status_changed';
    if (isSign && family.find(child.spec.id) === child) family.stalls.noteLife(child);
    if (type === 'assistant') onAnswer(event.usage);
    sink?.(event);
  };
}

/** After its commands have ended: they may be in it. A member that goes idle keeps it. */
async function givenBack(child: Agent, team: FamilyTeam | null): Promise<WorktreeResult | null> {
  if (child.directory.workspace === null) return null;
  const kept = (await team?.worktrees?.keep(child)) ?? null;
  if (kept !== null) return kept;
  const { releaseWorkspace } = await import('../isolation/change-directory.ts');
  return releaseWorkspace(child);
}

/** Null for one that runs in a process of its own. */
function executorOf({ parts }: AgentFamily, { spec }: Agent): AgentExecutor | null {
  return spec.executor === 'process' && parts.ownProcess !== undefined ? null : parts.executor;
}

async function ownProcess({ parts }: AgentFamily): Promise<AgentExecutor> {
  return (await parts.ownProcess?.()) ?? parts.executor;
}

function joinRuns(first: AgentResult, second: AgentResult): AgentResult {
  return {
    ...second,
    turns: first.turns + second.turns,
    usage: addUsage(first.usage, second.usage),
    costUsd: addCost(first.costUsd, second.costUsd),
    durationMs: first.durationMs + second.durationMs,
  };
}

async function capacityFor(family: AgentFamily, child: Agent, signal: AbortSignal): Promise<boolean> {
  const { capacity } = family;
  if (capacity.tryTake()) return true;
  child.setStatus('queued', 'capacity');
  if (!(await capacity.take(signal))) {
    child.here.capacity = null;
    return false;
  }
  child.setStatus('running', null);
  return true;
}

async function neverBegun(child: Agent, signal: AbortSignal): Promise<AgentResult> {
  const by = typeof signal.reason === 'string' ? signal.reason : 'abort';
  const status = by === STOPPED ? 'cancelled' : 'interrupted';
  return notBegun(child, status, by, `${status} (${by}) before it began`);
}

async function notBegun(
  child: Agent,
  status: 'cancelled' | 'interrupted',
  cause: string,
  message: string,
): Promise<AgentResult> {
  const ending = { status, cause, message };
  child.record({ type: 'agent.ended', ...ending });
  await child.runtime.journal.commit('written').catch(() => {}); // agents that still run report a broken journal
  return { ...ending, text: '', turns: 0, usage: NO_USAGE, costUsd: 0, durationMs: 0 };
}

/** The loop returns failures; what it throws is a broken invariant of ours. */
function brokenResult(error: unknown): AgentResult {
  const ending = { status: 'failed', cause: 'internal', message: describeError(error) } as const;
  return { ...ending, text: '', turns: 0, usage: NO_USAGE, costUsd: null, durationMs: 0 };
}

function factsOf(child: Agent, result: AgentResult, usages: readonly Usage[]): ReportFacts {
  const { spec, runtime } = hosted(child);
  const { origin } = spec;
  const facts: ReportFacts = {
    ...result,
    agent: spec.id,
    type: spec.type,
    name: spec.name,
    description: origin?.description ?? '',
  };
  // One that is continued was compared when it first ended: a fresh agent could not have been.
  if (origin?.inheritedTokens === undefined || usages.length === 0) return facts;
  const { inheritedTokens, freshTokens = 0 } = origin;
  const {
    advice,
    forkTokens,
    freshTokens: fresh,
    forkUsd,
    freshUsd,
  } = compareFork({
    inheritedTokens,
    freshTokens,
    usages,
    model: child.conversation.head.model,
    prices: runtime.prices,
  });
  child.record({ type: 'fork.compared', forkTokens, freshTokens: fresh, forkUsd, freshUsd });
  return { ...facts, ...(advice !== null && { advice }) };
}

async function notify(family: AgentFamily, parent: Agent, facts: ReportFacts): Promise<void> {
  const { redact, outputDirectory } = parent.runtime;
  const text = await notificationText(facts, {
    redact,
    outputDirectory,
    cap: family.parts.limits.reportBytes,
  });
  parent.receive('notification', facts.agent, text);
}

/** The start as it is on record, but with the model that a resumed agent has now. */
function startOfLife({ spec, conversation, here, state }: Agent): AgentEvent {
  const { carried } = here;
  const start = { ...startOf(spec), model: conversation.head.model };
  return startedEvent(start, {
    ...(state.progress !== null && { progress: state.progress }),
    ...(carried !== null && {
      carried: { turns: carried.turns, usage: carried.usage, costUsd: carried.costUsd },
    }),
  });
}

/**
 * What the user is told about an agent's own worktree. Whether a sandbox holds its commands (WORK-9) takes a process to
 * find out: requests of agents that start together go first, and it is told at the latest when the agent has ended.
 */
interface WorktreeWarnings {
  /** Finds out now what is not known yet; resolves when everything is told. */
  tellRest(): Promise<void>;
}

export function worktreeWarnings(
  { directory, runtime }: Pick<Agent, 'directory' | 'runtime'>,
  tell: (code: string, message: string) => void,
): WorktreeWarnings {
  const { workspace, isOwn } = directory;
  if (!isOwn) return NOTHING;
  for (const message of workspace?.warnings ?? []) tell('worktree_incomplete', message);
  const early = new AbortController();
  let told: Promise<void> | null = null;
  const tellRest = (): Promise<void> => {
    early.abort();
    told ??= runtime.sandbox.isolationNotice().then((message) => {
      if (message !== null) tell('no_sandbox', message);
    });
    return told;
  };
  void runtime.clock.sleep(TRIAL_AFTER_MS, early.signal, { keepsAlive: false }).then(tellRest);
  return { tellRest };
}
