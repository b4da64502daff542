/**
 * The life of a child (AGENT-4): it waits for a place, runs, ends, and its parent is told. Whatever happens, its place
 * is given back, its scope released, and exactly one result comes of it.
 *
 * Invariants
 * 1. A parent's abort reaches the child, never the reverse.
 * 2. A child that somebody waits for answers its call; one in the background is told of in one notification.
 */
import { describeError } from '../schema/errors.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../schema/usage.ts';
import type { Agent } from './agent.ts';
import type { AgentEvent, AgentResult } from './agent-event.ts';
import type { AgentHandle } from './agent-handle.ts';
import { agentMessageText } from './agent-message.ts';
import type { AgentFamily } from './family.ts';
import { compareFork } from './fork-cost.ts';
import type { ForkOverrides } from './fork-overrides.ts';
import { CANCELLED, STOPPED } from './notices.ts';
import { notificationText, type ReportFacts } from './report.ts';

export interface ChildOptions {
  /** Ends the child while somebody waits for it. */
  signal: AbortSignal;
  run_in_background?: boolean | undefined;
  overrides?: ForkOverrides;
}

export function startChild(
  family: AgentFamily,
  parent: Agent,
  child: Agent,
  options: ChildOptions,
): AgentHandle {
  const abort = new AbortController();
  const detached = Promise.withResolvers<void>();
  const link = linkAbort(abort, options);
  const usages: Usage[] = [];
  const { spec } = child;
  let inBackground = options.run_in_background === true;
  let ended = false;
  const handle: AgentHandle = {
    id: spec.id,
    parent: parent.spec.id,
    type: spec.type,
    name: spec.name,
    description: spec.origin?.description ?? '',
    get inBackground() {
      return inBackground;
    },
    detached: detached.promise,
    steer: (text) =>
      child.receive('message', null, agentMessageText({ kind: 'user', from: null, name: null }, text)),
    cancel() {
      // One that has done nothing has nothing to sum up.
      if (child.requests === 0) abort.abort(STOPPED);
      child.receive('cancel', null, CANCELLED);
      child.children.cancelAll();
    },
    stop: (reason) => abort.abort(reason),
    detach() {
      // Whoever waits for one that has ended is about to be answered.
      if (inBackground || ended) return;
      inBackground = true;
      link.cut();
      child.record({ type: 'agent.detached' });
      detached.resolve();
    },
    result: Promise.resolve().then(async () => {
      const result = await live(family, child, abort.signal, usages);
      ended = true;
      link[Symbol.dispose]();
      const facts = factsOf(child, result, usages);
      if (inBackground) await notify(family, parent, facts);
      // Not before its parent has been told: an agent ends when it has no children left and no news.
      parent.children.delete(spec.id);
      family.parts.onEvent(spec, { type: 'agent_ended', result });
      return { ...result, ...(facts.advice !== undefined && { advice: facts.advice }) };
    }),
  };
  Object.freeze(handle);
  family.admit(child, handle);
  parent.children.add(handle);
  family.parts.onEvent(spec, startedEvent(child));
  return handle;
}

/** One listener each, taken away when the child ends: a session of ten thousand children keeps none. */
function linkAbort(
  abort: AbortController,
  { signal, overrides, run_in_background }: ChildOptions,
): AbortLink {
  const own = overrides?.abortController?.signal;
  const waited = run_in_background === true ? undefined : signal;
  const follow = (source: AbortSignal | undefined): (() => void) => {
    if (source === undefined) return () => {};
    const pass = (): void => abort.abort(source.reason);
    if (source.aborted) pass();
    source.addEventListener('abort', pass, { once: true });
    return () => source.removeEventListener('abort', pass);
  };
  const [cutWaited, cutOwn] = [follow(waited), follow(own)];
  return {
    cut: cutWaited,
    [Symbol.dispose]() {
      cutWaited();
      cutOwn();
    },
  };
}

interface AbortLink extends Disposable {
  /** The child no longer ends with the call that asked for it. */
  cut(): void;
}

async function live(
  family: AgentFamily,
  child: Agent,
  signal: AbortSignal,
  usages: Usage[],
): Promise<AgentResult> {
  const onEvent = (event: AgentEvent): void => {
    family.stalls.noteLife(child);
    if (event.type === 'assistant') usages.push(event.usage);
    family.parts.onEvent(child.spec, event);
  };
  try {
    if (!(await placeFor(family, child, signal))) return await neverBegun(child, signal);
    family.stalls.noteLife(child);
    let result = await family.parts.executor.run(child, { signal, onEvent });
    // What was said to it while it ended: it was told of as running, so it hears that.
    while (result.status === 'done' && child.inbox.hasMessages && !signal.aborted) {
      result = joinRuns(result, await family.parts.executor.run(child, { signal, onEvent }));
    }
    return result;
  } catch (error) {
    return brokenResult(error);
  } finally {
    // At once: from here on a message to it lets it go on anew.
    family.forget(child);
    family.stalls.forget(child);
    child.place?.release();
    await child[Symbol.asyncDispose]().catch((error) =>
      child.warn('not_released', `something of the agent was not released: ${describeError(error)}`),
    );
  }
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

async function placeFor(family: AgentFamily, child: Agent, signal: AbortSignal): Promise<boolean> {
  const { places } = family;
  if (places.tryTake()) return true;
  child.setStatus('queued', 'place');
  if (!(await places.take(signal))) {
    child.place = null;
    return false;
  }
  child.setStatus('running', null);
  return true;
}

async function neverBegun(child: Agent, signal: AbortSignal): Promise<AgentResult> {
  const by = typeof signal.reason === 'string' ? signal.reason : 'abort';
  const status = by === STOPPED ? 'cancelled' : 'interrupted';
  const ending = { status, cause: by, message: `${status} (${by}) before it began` } as const;
  child.record({ type: 'agent.ended', ...ending });
  await child.runtime.journal.commit('written').catch(() => {}); // a broken journal is told by whoever runs on
  return { ...ending, text: '', turns: 0, usage: NO_USAGE, costUsd: 0, durationMs: 0 };
}

/** The loop returns failures; what it throws is a broken invariant of ours. */
function brokenResult(error: unknown): AgentResult {
  const ending = { status: 'failed', cause: 'internal', message: describeError(error) } as const;
  return { ...ending, text: '', turns: 0, usage: NO_USAGE, costUsd: null, durationMs: 0 };
}

function factsOf(child: Agent, result: AgentResult, usages: readonly Usage[]): ReportFacts {
  const { spec, runtime } = child;
  const { origin } = spec;
  const facts: ReportFacts = {
    ...result,
    agent: spec.id,
    type: spec.type,
    name: spec.name,
    description: origin?.description ?? '',
  };
  if (origin?.kind !== 'fork' || usages.length === 0) return facts;
  const { inheritedTokens = 0, freshTokens = 0 } = origin;
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

function startedEvent({ spec, conversation }: Agent): AgentEvent {
  const { description = '', background = false } = spec.origin ?? {};
  const { model } = conversation.head;
  return { type: 'agent_started', agentType: spec.type, name: spec.name, description, background, model };
}
