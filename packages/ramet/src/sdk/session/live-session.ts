/** An open session: carries out prompts one at a time, and ends everything it started when it is released. */
import { runAgent } from '../../engine/loop/loop.ts';
import { closeCalls, contextUse } from '../../engine/opening.ts';
import type { Agent } from '../../engine/shapes.ts';
import { describeError, UserMistake } from '../../schema/errors.ts';
import { emitting } from '../../schema/generators.ts';
import type { SessionEndReason } from '../../schema/status.ts';
import { SessionBackground } from '../background/session-background.ts';
import { cleanLater, retainLater } from '../leftovers.ts';
import { ownSessions } from '../stop-requests.ts';
import { checkCall, checkPrompt, checkRewind, isTextAlone } from './check-calls.ts';
import { forked, spawned, steered, tellChild } from './children.ts';
import type { LiveParts } from './live-parts.ts';
import { isInterrupted, refuseWithoutPrompt, takePrompt } from './main/main-agent.ts';
import { beginPrompt, changeModel, changePermissionMode } from './prompts/begin-prompt.ts';
import { abortAtEnd, interruptedWork, linkSignal, whileOpen } from './prompts/interruption.ts';
import type { GivenPrompt } from './prompts/prompt-input.ts';
import { SessionHooks } from './session-hooks.ts';
import type {
  AskedOptions,
  ForkOptions,
  PromptContent,
  PromptOptions,
  RunEvent,
  RunResult,
  Session,
  SpawnOptions,
} from './session-type.ts';

/** Why a session that is stopped from within ends: its agents are interrupted, and can be resumed. */
const SESSION_STOPPED = 'session_stopped';

export function liveSession(parts: LiveParts): Session {
  const { agent, family, runtime, bus, place, settings, types } = parts;
  types.watch((message) => agent.warn('agent_definition', message));
  let told: string | null = null;
  /** Whether the reader of a run gets what the main agent does, and whether anything was asked of the session. */
  let [isRead, isRun] = [false, false];
  let [current, closed]: [Promise<void> | null, Promise<void> | null] = [null, null];
  const stopping = new AbortController();
  const earlier = interruptedWork(parts);
  const background = SessionBackground.of(parts);
  const hooks = new SessionHooks(parts);
  let abort = abortAtEnd(parts);
  const cleaning = cleanLater(settings, place, runtime);
  const retaining = retainLater(settings, place);
  const open = (): LiveParts => whileOpen(parts, stopping.signal);
  /** One at a time: a prompt, a run of tasks, or a compaction. */
  const alone = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    open();
    if (current !== null)
      throw new UserMistake('session_busy', 'this session is still running its last prompt');
    const done = Promise.withResolvers<void>();
    current = done.promise;
    try {
      return await work();
    } finally {
      current = null;
      done.resolve();
    }
  };
  const untilStopped = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]);
  async function carryOut(given: PromptContent | null, options: PromptOptions): Promise<RunResult> {
    if (given === null) refuseWithoutPrompt(agent);
    const { prompt, attachments, answer }: GivenPrompt = isTextAlone(given, options)
      ? { prompt: given, attachments: [], answer: undefined }
      : await (await import('./prompts/prompt-input.ts')).readInput(agent, given, options, untilStopped);
    // Who sends a prompt does not wait for a pause that an earlier one has met.
    if (prompt !== null) runtime.rate.lookNow();
    background?.promptBegins(given);
    abort = abortAtEnd(parts);
    const unlink = linkSignal(agent, abort, { ...options, signal: untilStopped(options.signal) });
    try {
      await earlier.beforePrompt(prompt, abort.signal);
      parts.team?.look();
      const opening = await hooks.beforePrompt(prompt, abort.signal);
      if (prompt !== null) await types.refresh(null);
      const news = prompt === null ? null : newsFor(parts, agent);
      const own = { ...options, attachments: [...opening, ...attachments], answer };
      using begun = await beginPrompt(parts, prompt, own, abort.signal);
      const typed = background?.isTyped(begun.prompt);
      takePrompt(agent, { ...begun, typed }, place, { surroundings: parts.surroundings, news });
      if (answer === undefined) await background?.adopt();
      const ended = await runAgent(agent, { ...options, answer, signal: abort.signal });
      const result = await earlier.afterRun(ended, { ...options, prompt, signal: abort.signal });
      told = result.message;
      return answer && result.status === 'done' ? { ...result, value: answer.valueOf(result.text) } : result;
    } finally {
      unlink();
      hooks.promptWaits();
    }
  }
  async function close(isHurried = false, reason?: SessionEndReason): Promise<void> {
    await background?.close(isHurried);
    runtime.sandbox.close();
    cleaning[Symbol.dispose]();
    retaining[Symbol.dispose]();
    parts.team?.closing();
    // It was given nothing, or a file, a command, or a prompt or child that was refused: it has nothing to continue.
    const isUnused = agent.conversation.messages.length === 0 && family.running.length === 0;
    if (isUnused && !isRun && !isInterrupted(agent))
      agent.record({ type: 'agent.ended', status: 'done', cause: null, message: null });
    await agent[Symbol.asyncDispose]();
    parts.team?.[Symbol.dispose]();
    await hooks.end(reason);
    await parts.teamSync?.close({ isHurried });
    await leaveWorktrees(parts);
    family[Symbol.dispose]();
    types[Symbol.dispose]();
    await parts.extra[Symbol.asyncDispose]();
    parts.stops[Symbol.dispose]();
    runtime.rate.close();
    runtime.health?.close();
    runtime.files.close();
    runtime.provider.close();
    // A journal that could not be written says so again when it is closed; a result may have told it already.
    const closing = runtime.journal.close().catch((error) => {
      if (describeError(error) !== told) throw error;
    });
    await closing.finally(leaveOwn);
  }
  /** A run under way is interrupted first: it needs what is closed next. */
  const closeOnce: Session['close'] = (options = {}) => {
    checkCall('close', options);
    const endRun = async (): Promise<void> => {
      stopping.abort(SESSION_STOPPED);
      await current;
    };
    closed ??= endRun().then(() => close(false, options.reason));
    return closed;
  };
  const leaveOwn = ownSessions.enter(runtime.journal.file, {
    async stop(hurry) {
      stopping.abort(SESSION_STOPPED);
      await Promise.race([current, hurry]);
      closed ??= close(true);
      await closed;
    },
  });
  const session: Session = {
    id: runtime.journal.session,
    get agent() {
      const { id, parent, type, name } = agent.spec;
      const permissionMode = agent.state.permissionMode ?? agent.spec.permissionMode;
      return Object.freeze({ id, parent, type, name, permissionMode, cwd: agent.directory.cwd });
    },
    ...{ tools: agent.spec.tools.map(({ name }) => name), repository: place.repository },
    get mcpServers() {
      return parts.extra.servers();
    },
    get team() {
      return parts.team?.view;
    },
    ...(parts.coordinator && { coordinator: parts.coordinator.view }),
    ...(background && { background: background.view }),
    notices: [...settings.notices, ...types.notices()],
    get model() {
      return agent.conversation.head.model;
    },
    get agents() {
      return family.running;
    },
    get hasNews() {
      return agent.inbox.size > 0;
    },
    get isInterrupted() {
      return isInterrupted(agent);
    },
    resumeAgents() {
      if (current === null) abort = abortAtEnd(parts);
      return earlier.resumeAgents(abort.signal);
    },
    run: (prompt, options = {}) =>
      emitting<RunEvent, RunResult>(
        (emit) =>
          alone(async () => {
            checkPrompt(prompt, options);
            // Before the main agent runs: the agents of an earlier process resume first.
            const leave = bus.subscribe(emit);
            isRead = true;
            const result = await carryOut(prompt, options).finally(() => {
              isRead = false;
              leave();
            });
            emit({ ...result, type: 'result', agentId: agent.spec.id, parentAgentId: null });
            background?.turnEnded(result);
            return result;
          }),
        () => abort.abort('abandoned'),
      ),
    ask: async (prompt: PromptContent | null, options: AskedOptions = {}) =>
      (await import('./prompts/prompt-input.ts')).ask(session, prompt, options),
    subscribe: (listener) => {
      if (typeof listener !== 'function')
        throw new UserMistake(
          'bad_listener',
          'subscribe takes a function: session.subscribe((event) => ...)',
        );
      return bus.subscribe((event) => {
        const isOther = event.agentId !== agent.spec.id || event.type === 'status_changed';
        return isOther || !isRead ? listener(event) : undefined;
      });
    },
    stream: (id) => read(family.find(id)),
    answerSoFar: (id) => family.find(id)?.here.answer.text ?? '',
    steer: (text) => steered(agent, text),
    tell: async (to, text) => tellChild(open(), to, text),
    // With a schema, both resolve with another handle for the same child, whose result has the value too.
    fork: async (prompt: string, options?: ForkOptions) => forked(open(), prompt, options),
    spawn: async (request: SpawnOptions) => spawned(open(), request),
    operate: (order = {}) =>
      alone(async () => {
        if (parts.watch !== undefined)
          throw new UserMistake('watches_a_run', 'this session watches a run: run tasks in another session');
        (await import('../operator/check-order.ts')).checkOrder(order);
        const { runAlone } = await import('../operator/start-alone.ts');
        isRun = true;
        const own = { ...parts, resumeAgents: earlier.resumeAgents };
        return runAlone(session, own, { ...order, signal: untilStopped(order.signal) });
      }),
    attach: async (paths, options = {}) => {
      checkCall('attach', options, paths);
      return alone(async () => (await sharing()).attachFiles(agent, paths, untilStopped(options.signal)));
    },
    command: async (command, options = {}) => {
      checkCall('command', options, command);
      const { signal, onOutput } = options;
      return alone(async () =>
        (await sharing()).shareCommand(agent, command, untilStopped(signal), onOutput),
      );
    },
    undo: async (options = {}) => {
      checkCall('undo', options);
      return alone(async () => (await goingBack()).undoHere(parts, options));
    },
    rewind: async (request) => {
      checkRewind(request);
      return alone(async () => (await goingBack()).rewind(parts, request));
    },
    context: () => contextUse(agent),
    setModel: (name) => changeModel(open().agent, name, settings),
    setPermissionMode: (mode) => changePermissionMode(open().agent, mode, settings),
    tryNow: () => runtime.rate.lookNow(),
    remember: async (note, options = {}) => {
      checkCall('remember', options, note);
      return (await sharing()).remember(open(), note, { ...options, signal: untilStopped(options.signal) });
    },
    compact: (options = {}) =>
      alone(async () => {
        checkCall('compact', options);
        const { signal, instructions, onEvent } = options;
        await closeCalls(agent);
        const { compact } = await import('../../engine/later.ts');
        const leave = onEvent === undefined ? () => {} : bus.subscribe(onEvent);
        const request = { trigger: 'request', instructions, signal: untilStopped(signal) } as const;
        return hooks.compacted(await compact(agent, request).finally(leave), request.signal);
      }),
    ...{ close: closeOnce, [Symbol.asyncDispose]: () => closeOnce() },
  };
  return session;
}

/** What the agent should know before a prompt; before its first one also what its tools want to be said. */
function newsFor(
  { told, types, extra, settings, runtime, team, coordinator }: LiveParts,
  { conversation, spec }: Agent,
): string | null {
  const isFirst = conversation.messages.length === 0;
  const about = isFirst ? extra.about(spec.tools, 'main') : null;
  const skills = isFirst ? runtime.redact(settings.mainType?.skills ?? '') : '';
  const role = team?.news() ?? coordinator?.news();
  return [skills, about, told.news(types.definitions), role].filter(Boolean).join('\n') || null;
}

const goingBack = (): Promise<typeof import('./prompts/going-back.ts')> => import('./prompts/going-back.ts');

/** Loaded with the first file that is attached, or the first command. */
function sharing(): Promise<typeof import('./prompts/user-share.ts')> {
  return import('./prompts/user-share.ts');
}

/** Before the journal is closed: their ends are recorded. */
async function leaveWorktrees({ agent, team }: LiveParts): Promise<void> {
  await team?.leaveWorktrees();
  if (agent.directory.workspace !== null)
    await (await import('../../engine/later.ts')).releaseWorkspace(agent);
  await agent.runtime.workspaces[Symbol.asyncDispose]();
}

/** What a child writes is told as it comes, until what this returns is called. */
function read(child: Agent | undefined): () => void {
  let isRead = child !== undefined;
  if (child !== undefined) child.here.readers += 1;
  return () => {
    if (child !== undefined && isRead) child.here.readers -= 1;
    isRead = false;
  };
}
