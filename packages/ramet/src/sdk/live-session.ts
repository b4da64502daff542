/** An open session: carries out prompts one at a time, and ends everything it started when it is released. */
import type { Agent } from '../engine/agent.ts';
import type { AgentEvent, AgentResult } from '../engine/agent-event.ts';
import type { AgentHandle } from '../engine/agent-handle.ts';
import { type RunOptions, runAgent } from '../engine/loop.ts';
import { type SpawnOrder, spawnAgent } from '../engine/spawn.ts';
import { describeError, UserMistake } from '../schema/errors.ts';
import { type Surroundings, takePrompt } from './main-agent.ts';
import type { ResolvedOptions } from './options.ts';
import type { Place } from './place.ts';
import { changeModel, changePermissionMode } from './session-changes.ts';
import { attributed, type SessionEvent } from './session-event.ts';
import type { SharedParts } from './session-runtime.ts';
import type { Session } from './session-type.ts';

export interface LiveParts extends SharedParts {
  agent: Agent;
  place: Place;
  settings: ResolvedOptions;
  /** Null when the conversation has begun. */
  surroundings: Surroundings | null;
}

export function liveSession(parts: LiveParts): Session {
  const { agent, family, runtime, bus, place, settings } = parts;
  let told: string | null = null;
  let running = false;
  const begin = (): void => {
    if (running) throw new UserMistake('session_busy', 'this session is still running its last prompt');
    running = true;
  };
  return {
    id: runtime.journal.session,
    agent: agent.spec,
    tools: agent.spec.tools.map(({ name }) => name),
    repository: place.repository,
    notices: settings.notices,
    get model() {
      return agent.conversation.head.model;
    },
    get agents() {
      return family.running;
    },
    get hasNews() {
      return agent.inbox.size > 0;
    },
    async *run(prompt, options = {}) {
      begin();
      try {
        takePrompt(agent, prompt, place, parts.surroundings);
        const result = yield* joined(parts, options);
        told = result.message;
        return result;
      } finally {
        running = false;
      }
    },
    subscribe: (listener) => bus.subscribe(listener),
    steer: (text) => agent.receive('message', null, text),
    fork: (prompt, { description = 'fork', name, ...overrides } = {}) =>
      started(parts, { prompt, description, name, overrides }),
    spawn: (request) => started(parts, request),
    setModel: (name) => changeModel(agent, name, settings),
    setPermissionMode: (mode) => changePermissionMode(agent, mode),
    async compact({ signal = new AbortController().signal, instructions, onEvent } = {}) {
      begin();
      try {
        const { compact } = await import('../engine/compaction.ts');
        return await compact(agent, { trigger: 'request', signal, instructions, emit: onEvent });
      } finally {
        running = false;
      }
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      family[Symbol.dispose]();
      runtime.rate.close();
      runtime.provider.close();
      // A journal that could not be written says so again when it is closed; a result may have told it already.
      await runtime.journal.close().catch((error) => {
        if (describeError(error) !== told) throw error;
      });
    },
  };
}

async function* joined(
  { agent, bus }: LiveParts,
  { signal, ...options }: Partial<RunOptions>,
): AsyncGenerator<SessionEvent, AgentResult> {
  const abort = new AbortController();
  const follow = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  try {
    const events = attributedEvents(runAgent(agent, { ...options, signal: abort.signal }), agent);
    return yield* bus.during(events, () => abort.abort('abandoned'));
  } finally {
    signal?.removeEventListener('abort', follow);
  }
}

async function* attributedEvents(
  events: AsyncGenerator<AgentEvent, AgentResult>,
  { spec }: Agent,
): AsyncGenerator<SessionEvent, AgentResult> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    yield attributed(next.value, spec);
  }
}

/** Children of the library end with the session, or when they are stopped. */
async function started(
  { agent, family }: LiveParts,
  order: Omit<SpawnOrder, 'call' | 'signal'>,
): Promise<AgentHandle> {
  const outcome = await spawnAgent(family, agent, { ...order, call: null });
  if ('problem' in outcome) throw new UserMistake('no_agent', `no agent was started: ${outcome.problem}`);
  return outcome.handle;
}
