/** The state of one run, what the agent is told during it, and how it can end. */
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import type { Clock } from '../../schema/clock.ts';
import { Cancelled, describeError, ProviderAway, RametError } from '../../schema/errors.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { Agent } from '../agent/agent.ts';
import { isBackground } from '../agent/agent-spec.ts';
import {
  answerRefused,
  budgetNearlySpent,
  CLOSING_TURN,
  filesChanged,
  hookText,
  idleAlthough,
  keptByHook,
  notProved,
  STOPPED,
} from '../agent/notices.ts';
import type { AnswerSchema } from '../answer/answer-schema.ts';
import type { BudgetState, Spending } from '../budget/budget.ts';

/** Why a signal is aborted whose time is up; children in the foreground see the same reason. */
export const OUT_OF_TIME = 'out_of_time';

export interface RunOptions {
  signal: AbortSignal;
  /** Whether text is told as it streams. */
  partial?: boolean;
  /** Whether the answer is given only once all agents in the background have been told of; true when absent. */
  waitForChildren?: boolean;
  /** What the answer of this run must be, whatever the agent's own must. */
  answer?: AnswerSchema | undefined;
}

export interface RunState {
  readonly spending: Spending;
  turns: number;
  repeats: number;
  maxTokens: number;
  text: string;
  /** The last answer was cut off or paused, so the next one continues its text. */
  cut: boolean;
  toldToFinish: boolean;
  /** The conversation was compacted because it did not fit, and no response has come since. */
  recovered: boolean;
  /** How many answers were not what was asked for. */
  refusedAnswers: number;
  /** How often a hook has kept it from ending. */
  timesKeptByHook: number;
  /** After how many turns the work was cancelled; null otherwise. */
  cancelledAt: number | null;
}

export type Ending = { status: AgentStatus; cause: string | null; message: string | null };

const DONE: Ending = { status: 'done', cause: null, message: null };

export function newRunState({ here, spec }: Agent): RunState {
  return {
    ...here.beginRun(),
    repeats: 0,
    maxTokens: spec.maxTokens,
    text: '',
    cut: false,
    toldToFinish: false,
    recovered: false,
    refusedAnswers: 0,
    timesKeptByHook: 0,
    cancelledAt: null,
  };
}

/** Of an agent that was told to end, by what it was told. */
export function endingOfAbort({ reason }: AbortSignal): Ending {
  const by = typeof reason === 'string' ? reason : 'abort';
  const status = by === STOPPED ? 'cancelled' : 'interrupted';
  return { status, cause: by, message: `${status} (${by})` };
}

/** Of a run that did not come to an answer. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (error instanceof Cancelled || signal.aborted) return endingOfAbort(signal);
  if (error instanceof ProviderAway) {
    return { status: 'interrupted', cause: error.code, message: error.message };
  }
  const cause = error instanceof RametError ? error.code : 'internal';
  return { status: 'failed', cause, message: describeError(error) };
}

export function budgetSpent({ limit, what }: BudgetState): Ending {
  const status = limit === 'seconds' ? 'timed_out' : 'failed';
  return { status, cause: 'budget', message: `the budget is spent: ${what}` };
}

/** How the run ends once it had its closing turn; null while turns are left. */
export function closedEnding(run: RunState, maxTurns: number): Ending | null {
  if (run.cancelledAt !== null && run.turns > run.cancelledAt) {
    return { status: 'cancelled', cause: 'on_request', message: 'the work was cancelled' };
  }
  if (run.turns <= maxTurns) return null;
  return {
    status: 'failed',
    cause: 'max_turns',
    message: `the limit of ${maxTurns} turn${maxTurns === 1 ? '' : 's'} is reached`,
  };
}

/**
 * Ends a run when its time is up, also in the middle of a request or a tool (RES-2). Looked at between turns alone, the
 * limit would not hold where it is needed most: with a model that never answers, or a command that never ends.
 */
interface Deadline extends Disposable {
  /** Aborts with the signal it was made of, or when the time is up. */
  readonly signal: AbortSignal;
}

export function startDeadline(clock: Clock, seconds: number | undefined, signal: AbortSignal): Deadline {
  if (seconds === undefined) return { signal, [Symbol.dispose]() {} };
  const controller = new AbortController();
  const over = new AbortController();
  const pass = (): void => controller.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  void clock.sleep(seconds * 1_000, over.signal, { keepsAlive: false }).then(() => {
    if (!over.signal.aborted) controller.abort(OUT_OF_TIME);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', pass);
      over.abort();
    },
  };
}

/** How often an answer that is not what was asked for is sent back. */
const MOST_REFUSED_ANSWERS = 2;

/** Sends `blocks` together with everything that is due at this boundary: messages, file changes, notices. */
export function sayWithNews(
  agent: Agent,
  run: RunState,
  cause: 'tool_results' | 'notice' | 'delivery',
  blocks: readonly FrozenBlock[],
): void {
  const { items } = agent.inbox;
  if (items.some(({ kind }) => kind === 'cancel')) run.cancelledAt ??= run.turns;
  const news = items.flatMap((item) => item.blocks);
  const open = items.some(({ kind }) => kind === 'notification') ? agent.here.duty?.openWork() : null;
  const due = [...dueNotices(agent, run), ...(open ? [notice(open)] : [])];
  const all = [...blocks, ...fileNotices(agent), ...due, ...news];
  if (all.length === 0) return;
  const delivers = items.map(({ item }) => item);
  agent.say(cause, all, 0, { delivers });
}

/** What commands of others have changed of what it has read (WORK-1). Alone it is no reason to continue. */
function fileNotices(agent: Agent): FrozenBlock[] {
  const changes = agent.files.takeNews();
  return changes.length === 0 ? [] : [notice(filesChanged(changes))];
}

/** What the engine has to tell the model with its next message. */
function dueNotices(agent: Agent, run: RunState): FrozenBlock[] {
  if (run.turns === agent.spec.maxTurns) return [notice(CLOSING_TURN)];
  const budget = run.spending.state(agent.runtime.clock.now());
  if (run.toldToFinish || budget.level !== 'near') return [];
  run.toldToFinish = true;
  return [notice(budgetNearlySpent(budget.what))];
}

export function notice(text: string): FrozenBlock {
  return freezeBlock({ type: 'text', text });
}

/**
 * How the agent ends with its answer, or null when it continues. An answer is the end only if it is what was asked for,
 * no message has arrived meanwhile, and no agent in the background is still working (AGENT-3, AGENT-7).
 */
export async function afterAnswer(agent: Agent, run: RunState, options: RunOptions): Promise<Ending | null> {
  if (agent.here.duty !== null && (await isHeldToDuty(agent, run, options))) return null;
  if (agent.inbox.size === 0 && options.waitForChildren !== false && agent.runtime.host.mayHaveNews(agent)) {
    await agent.runtime.host.news(agent, options.signal);
  }
  if (agent.inbox.size > 0) {
    // It does not hear about agents that were interrupted together with it: they resume when it does.
    if (options.signal.aborted) throw new Cancelled();
    const budget = run.spending.state(agent.runtime.clock.now());
    if (budget.level === 'over') return budgetSpent(budget);
    sayWithNews(agent, run, 'delivery', []);
    return null;
  }
  return checkAnswer(agent, run, options);
}

/** Whether a coordinator has to answer again. What has arrived meanwhile is told first. */
async function isHeldToDuty(agent: Agent, run: RunState, { signal }: RunOptions): Promise<boolean> {
  if (agent.inbox.size > 0 || signal.aborted) return false;
  const objection = (await agent.here.duty?.objection(run.text)) ?? null;
  if (objection === null) return false;
  sayWithNews(agent, run, 'notice', [notice(objection)]);
  return true;
}

/** The part of `AgentHost` that waits. The agent does not count as running meanwhile (LAUNCH-3). */
export async function newsHere(agent: Agent, signal: AbortSignal): Promise<void> {
  const { inbox, children } = agent;
  // A member of a team that goes idle says nothing.
  const waiting = async (): Promise<void> => {
    do await inbox.arrival(signal);
    while (inbox.size === 0 && children.anyInBackground && !signal.aborted);
  };
  await (agent.here.capacity?.whileWaiting(signal, waiting) ?? waiting());
}

/** Whether the answer is the one that was asked for, and what it tells of is there (AGENT-5, AGENT-6). */
async function checkAnswer(
  agent: Agent,
  run: RunState,
  { signal, answer = agent.spec.answer }: RunOptions,
): Promise<Ending | null> {
  const { evidence } = agent.spec;
  const checked = answer?.check(run.text);
  if (checked?.ok === false) return sendBack(agent, run, 'schema', checked.problem);
  if (evidence !== undefined) {
    const { missingEvidence } = await import('../answer/missing-evidence.ts');
    const missing = await missingEvidence(agent, evidence, signal);
    if (missing !== null) return sendBack(agent, run, 'no_artifact', missing);
  }
  const mark = checked === undefined ? await agent.here.duty?.mark(run.text) : null;
  run.text = checked?.json ?? (mark ? `${run.text}\n\n${mark}` : run.text);
  return (await isKeptByHook(agent, run, signal))
    ? null
    : agent.here.halt === null
      ? DONE
      : haltedByHook(agent);
}

/** A member answers to nobody when it goes idle, so nobody would see that a hook never lets it go. */
const MOST_TIMES_KEPT = 8;

/** Whether a hook has something left for the agent to do. The limit of turns ends that too. */
async function isKeptByHook(agent: Agent, run: RunState, signal: AbortSignal): Promise<boolean> {
  const { hooks } = agent.runtime;
  const { parent, origin, name } = agent.spec;
  const isMember = origin?.member === true;
  const event = parent === null ? 'Stop' : isMember ? 'TeammateIdle' : 'SubagentStop';
  if (isBackground(agent) || hooks?.has(agent, event) !== true) return false;
  const said = { stop_hook_active: run.timesKeptByHook > 0, last_assistant_message: run.text };
  const fields = isMember ? { ...said, teammate_name: name } : said;
  const { block, stop, contexts } = await hooks.run(agent, event, fields, signal);
  if (signal.aborted) throw new Cancelled();
  agent.here.halt ??= stop ?? null;
  if (agent.here.halt !== null || (block === undefined && contexts.length === 0)) return false;
  if (isMember && run.timesKeptByHook === MOST_TIMES_KEPT) {
    const said = block ?? contexts.join(' ');
    agent.warn('idle_hook_ignored', agent.runtime.redact(idleAlthough(name ?? '', MOST_TIMES_KEPT, said)));
    return false;
  }
  run.timesKeptByHook += 1;
  const texts = [
    ...(block === undefined ? [] : [keptByHook(event, block)]),
    ...contexts.map((text) => hookText(event, text)),
  ].map(agent.runtime.redact);
  sayWithNews(agent, run, 'notice', texts.map(notice));
  return true;
}

/** Of a run that a hook has ended. */
export function haltedByHook(agent: Agent): Ending {
  const why = agent.here.halt ?? '';
  agent.here.halt = null;
  return { status: 'cancelled', cause: 'hook', message: `a hook ended the run: ${why}` };
}

function sendBack(
  agent: Agent,
  run: RunState,
  cause: 'schema' | 'no_artifact',
  problem: string,
): Ending | null {
  if (run.refusedAnswers === MOST_REFUSED_ANSWERS) return { status: 'failed', cause, message: problem };
  run.refusedAnswers += 1;
  const said = cause === 'schema' ? answerRefused(problem) : notProved(problem);
  sayWithNews(agent, run, 'notice', [notice(said)]);
  return null;
}
