/**
 * A session: one run of Ramet on a repository. It wires the rooms together and runs the main agent; it holds
 * no logic of its own. `await using session = await openSession({...})` releases everything, in order.
 */
import { join, sep } from 'node:path';
import type { Agent } from '../engine/agent.ts';
import type { AgentEvent, AgentResult } from '../engine/agent-event.ts';
import type { CompactionOutcome } from '../engine/compaction.ts';
import { type RunOptions, runAgent } from '../engine/loop.ts';
import type { AgentSpec, SessionRuntime } from '../engine/runtime.ts';
import { findSession, latestSession, type SessionEntry } from '../journal/session-list.ts';
import { createSession, openReader, resumeSession } from '../journal/sessions.ts';
import { CacheMap } from '../model/cache-map.ts';
import type { ModelProvider } from '../model/provider.ts';
import { withRecipe } from '../model/recipe.ts';
import { selectProvider } from '../model/select-provider.ts';
import { askingOnce } from '../permission/asking-once.ts';
import { describeError, UserMistake } from '../schema/errors.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import type { SessionMode } from '../schema/status.ts';
import { createRedactor } from '../tools/redact.ts';
import { childEnvironment } from '../workspace/child-environment.ts';
import { createFileLedger } from '../workspace/file-ledger.ts';
import type { Repository } from '../workspace/repository.ts';
import { continueAgent, readSurroundings, type Surroundings, startAgent, takePrompt } from './main-agent.ts';
import {
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
  resolveOptions,
  type SessionOptions,
} from './options.ts';
import { openRules, recallRules } from './permission-rules.ts';
import { findPlace, type Place } from './place.ts';
import { changeModel, changePermissionMode } from './session-changes.ts';
import { sessionSettings } from './session-settings.ts';

/** An agent's event with the agent it is of. */
export type SessionEvent = AgentEvent & { agentId: AgentId; parentAgentId: AgentId | null };

export interface CompactRequest {
  signal?: AbortSignal;
  /** What the summary is to pay attention to. */
  instructions?: string;
  onEvent?: (event: AgentEvent) => void;
}

export interface Session extends AsyncDisposable {
  readonly id: SessionId;
  readonly agent: Pick<AgentSpec, 'id' | 'parent' | 'type' | 'name' | 'permissionMode' | 'cwd'>;
  readonly tools: readonly string[];
  /** The model in force: the fallback once it was taken. */
  readonly model: string;
  readonly repository: Repository | null;
  /** What the user should know of the settings, one line each. */
  readonly notices: readonly string[];
  /**
   * Carries out a prompt; null goes on with an interrupted turn. Never throws for what a model or tool does:
   * the result says how it ended.
   */
  run(prompt: string | null, options?: Partial<RunOptions>): AsyncGenerator<SessionEvent, AgentResult>;
  /** Goes on with another model, by id or tier; between turns only. */
  setModel(model: string): void;
  /** From the next tool call on, and when the session is resumed. */
  setPermissionMode(mode: SessionMode): void;
  /**
   * Replaces the older part of the conversation by a summary, between two prompts. What a model does wrong is in the
   * outcome, and the conversation then stays as it was; rejects when it is aborted or a prompt is being carried out.
   */
  compact(options?: CompactRequest): Promise<CompactionOutcome>;
}

export async function openSession(options: SessionOptions = {}): Promise<Session> {
  const settings = resolveOptions(options, await sessionSettings(options));
  const provider =
    options.provider ?? withRecipe(await selectProvider(settings.env, settings.settings.provider));
  return options.resume === undefined
    ? openNew(settings, findPlace(settings), provider)
    : reopen(settings, options.resume, provider);
}

/** The journal is made last: a process killed before has left nothing, one killed after has left its prompt. */
async function openNew(settings: ResolvedOptions, place: Place, provider: ModelProvider): Promise<Session> {
  refuseUnenforceableBudget(newSessionModel(settings, provider), settings);
  const permissions = openRules(settings, place);
  const redact = createRedactor(settings.env);
  const surroundings = await readSurroundings(place, environmentOfChildren(settings), redact);
  const journal = await createSession({ ...settings, ...place });
  const runtime = runtimeOf(settings, place, { journal, provider, redact, permissions });
  return sessionOf(startAgent(runtime, place, settings), place, surroundings, settings);
}

async function reopen(settings: ResolvedOptions, wanted: string, provider: ModelProvider): Promise<Session> {
  const here = findPlace(settings);
  const entry = wanted === 'latest' ? latestHere(here) : findSession(here.project, wanted);
  if (entry === null) {
    const reason = 'there is no session of this working tree to continue: start one with -p PROMPT';
    throw new UserMistake('no_session', reason);
  }
  const permissions = openRules(settings, here);
  // The conversation speaks of the directory it began in, and goes on there.
  const place = entry.cwd === '' ? here : findPlace({ ...settings, cwd: entry.cwd });
  const { journal, reader } = await resumeSession({
    ...settings,
    project: here.project,
    session: entry.session,
  });
  try {
    recallRules(permissions, reader);
    const redact = createRedactor(settings.env);
    const runtime = runtimeOf(settings, here, { journal, provider, redact, permissions });
    const agent = continueAgent(runtime, reader, place, settings);
    const begun = agent.conversation.messages.length > 0;
    return sessionOf(
      agent,
      place,
      begun ? null : await readSurroundings(place, runtime.childEnvironment, redact),
      settings,
    );
  } catch (error) {
    await journal.close();
    throw error;
  } finally {
    reader.close();
  }
}

/** The newest session of this working tree that has something to go on from. */
function latestHere({ project, cwd, repository }: Place): SessionEntry | null {
  const root = repository?.root ?? cwd;
  return latestSession(project, (entry) => isWithin(entry.cwd, root) && hasPrompt(project, entry.session));
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root + sep);
}

function hasPrompt(project: string, session: SessionId): boolean {
  const reader = openReader({ project, session });
  try {
    return Iterator.from(reader.events()).some(({ event }) => event.type === 'message.appended');
  } finally {
    reader.close();
  }
}

function environmentOfChildren({ env, settings }: ResolvedOptions): Record<string, string> {
  return childEnvironment(env, settings.env?.childVariables);
}

function runtimeOf(
  settings: ResolvedOptions,
  { project }: Place,
  parts: Pick<SessionRuntime, 'journal' | 'provider' | 'redact' | 'permissions'>,
): SessionRuntime {
  return {
    ...parts,
    cacheMap: new CacheMap(),
    prices: settings.prices,
    clock: settings.clock,
    retry: settings.retry,
    files: createFileLedger(settings.clock),
    childEnvironment: environmentOfChildren(settings),
    outputDirectory: join(project, parts.journal.session),
    broker: askingOnce(settings.broker),
  };
}

function sessionOf(
  agent: Agent,
  place: Place,
  surroundings: Surroundings | null,
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
    notices: settings.notices,
    get model() {
      return agent.conversation.head.model;
    },
    async *run(prompt, options = {}) {
      if (running) throw new UserMistake('session_busy', 'this session is still running its last prompt');
      running = true;
      try {
        takePrompt(agent, prompt, place, surroundings);
        const events = runAgent(agent, { signal: new AbortController().signal, ...options });
        const result = yield* attributed(events, spec);
        told = result.message;
        return result;
      } finally {
        running = false;
      }
    },
    setModel: (name) => changeModel(agent, name, settings),
    setPermissionMode: (mode) => changePermissionMode(agent, mode),
    async compact({ signal = new AbortController().signal, instructions, onEvent } = {}) {
      if (running) throw new UserMistake('session_busy', 'this session is still running its last prompt');
      running = true;
      try {
        const { compact } = await import('../engine/compaction.ts');
        return await compact(agent, { trigger: 'request', signal, instructions, emit: onEvent });
      } finally {
        running = false;
      }
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

async function* attributed(
  events: AsyncGenerator<AgentEvent, AgentResult>,
  { id, parent }: AgentSpec,
): AsyncGenerator<SessionEvent, AgentResult> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    yield { ...next.value, agentId: id, parentAgentId: parent };
  }
}
