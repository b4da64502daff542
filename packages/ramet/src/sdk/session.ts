/**
 * A session: one run of Ramet on a repository. It wires the rooms together and runs the main agent; it holds
 * no logic of its own. `await using session = await openSession({...})` releases everything, in order.
 */
import { join } from 'node:path';
import type { Agent } from '../engine/agent.ts';
import type { AgentEvent, AgentResult } from '../engine/agent-event.ts';
import type { CompactionOutcome } from '../engine/compaction.ts';
import { switchModel } from '../engine/fallback.ts';
import { type RunOptions, runAgent } from '../engine/loop.ts';
import type { AgentSpec, SessionRuntime } from '../engine/runtime.ts';
import type { Journal, JournalReader } from '../journal/journal.ts';
import { findSession, latestSession } from '../journal/session-list.ts';
import { createSession, resumeSession } from '../journal/sessions.ts';
import { CacheMap } from '../model/cache-map.ts';
import { selectProvider } from '../model/select-provider.ts';
import { askingOnce, denyingBroker } from '../permission/broker.ts';
import { describeError, UserMistake } from '../schema/errors.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import type { PermissionMode } from '../schema/status.ts';
import { createRedactor } from '../tools/redact.ts';
import { childEnvironment } from '../workspace/child-environment.ts';
import { createFileLedger } from '../workspace/file-ledger.ts';
import { type GitState, gitState } from '../workspace/git-state.ts';
import type { Repository } from '../workspace/repository.ts';
import { continueAgent, startAgent, takePrompt } from './main-agent.ts';
import {
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
  resolveOptions,
  type SessionOptions,
} from './options.ts';
import { openRules } from './permission-rules.ts';
import { findPlace, type Place } from './place.ts';

/** An agent's event with the agent it is of. */
export type SessionEvent = AgentEvent & { agentId: AgentId; parentAgentId: AgentId | null };

export interface Session extends AsyncDisposable {
  readonly id: SessionId;
  readonly agent: Pick<AgentSpec, 'id' | 'parent' | 'type' | 'name' | 'permissionMode' | 'cwd'>;
  readonly tools: readonly string[];
  /** The model in force: the fallback once it was taken. */
  readonly model: string;
  readonly repository: Repository | null;
  /**
   * Carries out a prompt; null goes on with an interrupted turn. Never throws for what a model or tool does:
   * the result says how it ended.
   */
  run(prompt: string | null, options?: Partial<RunOptions>): AsyncGenerator<SessionEvent, AgentResult>;
  /** Goes on with another model, by id or tier. Between turns only. */
  setModel(model: string): void;
  /** From the next tool call on, and when the session is resumed. */
  setPermissionMode(mode: PermissionMode): void;
  /**
   * Replaces the older part of the conversation by a summary, between two prompts. What a model does wrong is in the
   * outcome, and the conversation then stays as it was; rejects when it is aborted or a prompt is being carried out.
   */
  compact(options?: { signal?: AbortSignal; instructions?: string }): Promise<CompactionOutcome>;
}

export async function openSession(options: SessionOptions = {}): Promise<Session> {
  const settings = resolveOptions(options);
  const place = findPlace(settings);
  const provider = options.provider ?? selectProvider(settings.env);
  // What would be refused is refused before a journal exists: an empty session would be the latest one.
  if (options.resume === undefined) refuseUnenforceableBudget(newSessionModel(settings), settings);
  const permissions = openRules(options.permissions, place, settings.env);
  const resumed = options.resume === undefined ? null : await reopen(place.project, options.resume, settings);
  // Started here so that git works while the journal is created and instructions are read.
  const git = resumed === null && place.repository !== null ? stateOfGit(place.cwd, settings) : null;
  const journal = resumed?.journal ?? (await createSession({ ...settings, ...place }));
  const runtime: SessionRuntime = {
    journal,
    provider,
    cacheMap: new CacheMap(),
    prices: settings.prices,
    clock: settings.clock,
    retry: settings.retry,
    files: createFileLedger(settings.clock),
    childEnvironment: childEnvironment(settings.env),
    outputDirectory: join(place.project, journal.session),
    redact: createRedactor(settings.env),
    permissions,
    broker: askingOnce(options.broker ?? denyingBroker),
  };
  try {
    const agent =
      resumed === null
        ? startAgent(runtime, place, settings)
        : continueAgent(runtime, resumed.reader, place, settings);
    return sessionOf(agent, place, git, settings);
  } catch (error) {
    await journal.close();
    throw error;
  } finally {
    resumed?.reader.close();
  }
}

async function reopen(
  project: string,
  wanted: string,
  { clock }: ResolvedOptions,
): Promise<{ journal: Journal; reader: JournalReader }> {
  const entry = wanted === 'latest' ? latestSession(project) : findSession(project, wanted);
  if (entry !== null) return resumeSession({ project, session: entry.session, clock });
  throw new UserMistake(
    'no_session',
    'there is no session of this directory to continue: start one with -p PROMPT',
  );
}

function stateOfGit(directory: string, { env }: ResolvedOptions): Promise<GitState> {
  return gitState({ directory, env: childEnvironment(env) });
}

function sessionOf(
  agent: Agent,
  place: Place,
  git: Promise<GitState> | null,
  settings: ResolvedOptions,
): Session {
  const { spec, runtime } = agent;
  let told: string | null = null;
  let running = false;
  return {
    id: runtime.journal.session,
    agent: spec,
    tools: spec.tools.map(({ name }) => name),
    repository: place.repository,
    get model() {
      return agent.conversation.head.model;
    },
    async *run(prompt, options = {}) {
      await takePrompt(agent, prompt, place, git);
      const events = runAgent(agent, { signal: new AbortController().signal, ...options });
      running = true;
      try {
        for (let next = await events.next(); ; next = await events.next()) {
          if (next.done) {
            told = next.value.message;
            return next.value;
          }
          yield { ...next.value, agentId: spec.id, parentAgentId: spec.parent };
        }
      } finally {
        running = false;
      }
    },
    setModel(name) {
      const { model } = resolveOptions({ env: settings.env, model: name });
      if (model === null || model === agent.conversation.head.model) return;
      refuseUnenforceableBudget(model, settings);
      switchModel(agent, model);
    },
    setPermissionMode(mode) {
      spec.permissionMode = mode;
      agent.record({ type: 'permission.changed', mode });
    },
    async compact({ signal = new AbortController().signal, instructions } = {}) {
      if (running) throw new UserMistake('busy', 'a prompt is being carried out: compact when it has ended');
      const { compact } = await import('../engine/compaction.ts');
      return compact(agent, { trigger: 'request', signal, instructions });
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      runtime.provider.close();
      // A journal that could not be written says so again when it is closed; a result may have told it already.
      await runtime.journal.close().catch((error) => {
        if (describeError(error) !== told) throw error;
      });
    },
  };
}
