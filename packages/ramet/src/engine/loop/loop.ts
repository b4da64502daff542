/**
 * The turn loop: every agent runs this one. It asks the model, carries out the tools, and repeats this until there is
 * an answer, a limit, an error or an abort. What it records meanwhile is told to the sink of its session, in order, and nobody
 * who reads it holds up the run. Failures are values: it resolves with an AgentResult and does not reject.
 *
 * Invariants
 * 1. Whenever it ends, the conversation is valid: every tool call in it is answered by the next message, but for the
 *    last message's while they wait for agents that were interrupted with this one (`runtime.ts`).
 * 2. A response is on disk before anything it asks for changes anything.
 * 3. No path leads from an error to `done` (AGENT-5).
 */
import { contentOf, type FrozenBlock } from '../../conversation/frozen-block.ts';
import { TASK_FAILED } from '../../model/provider.ts';
import { elapsedOf } from '../../schema/clock.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import { Cancelled, LimitReached, ModelError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import { isSearching } from '../agent/agent-content.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { NOT_RUN, OUTPUT_CUT, SEARCH_STOPPED } from '../agent/notices.ts';
import { finishCalls, hasOpenCalls, type OpenCalls, openCallsOf, ordered } from '../calls/finish-calls.ts';
import { keepFiles, refuseCalls, runCalls } from '../calls/tool-runner.ts';
import {
  type CrowdedRun,
  compactWhenDue,
  isOverflow,
  overflowMessage,
  recoverFromOverflow,
} from '../compaction/make-room.ts';
import { recordResponse } from '../exchange/exchange.ts';
import type { ExchangeOptions, ModelExchange } from '../exchange/model-exchange.ts';
import { switchModel } from '../exchange/switch-model.ts';
import { batchEnded, tellFailure } from '../hooks/run-hooks.ts';
import { shorterByPictures, sparingPictures } from './refused-picture.ts';
import {
  afterAnswer,
  budgetSpent,
  closedEnding,
  type Ending,
  endingOf,
  haltedByHook,
  newRunState,
  notice,
  OUT_OF_TIME,
  type RunOptions,
  type RunState,
  sayWithNews,
  startDeadline,
} from './run-state.ts';
import {
  keepsResponse,
  type NextStep,
  nextStep,
  progressOfAnswer,
  taskFailure,
  unknownStop,
} from './stop-reason.ts';

export async function runAgent(agent: Agent, options: RunOptions): Promise<AgentResult> {
  const { clock, journal } = agent.runtime;
  const { permitWaits } = agent.here;
  const [startedAt, waitedBefore] = [elapsedOf(clock), permitWaits.totalMs];
  const { budget } = agent.spec;
  const run = newRunState(agent);
  if (agent.state.openStop === 'pause_turn') Object.assign(run, { text: lastText(agent), cut: true });
  let ending: Ending;
  using deadline = startDeadline(clock, budget.seconds, options.signal);
  const { signal } = deadline;
  try {
    ending = await takeTurns(agent, run, { ...options, signal });
  } catch (error) {
    const late = signal.reason === OUT_OF_TIME;
    ending = late ? budgetSpent(run.spending.state(clock.now())) : endingOf(error, signal);
  }
  agent.record({ type: 'agent.ended', ...ending });
  // What answers a call is told to nobody outside before its parent syncs: each child need not.
  await journal.commit(agent.spec.origin?.call ? 'written' : 'synced').catch((error) => {
    ending = endingOf(error, options.signal);
  });
  await tellFailure(agent, { ...ending, text: run.text }, options.signal);
  return {
    ...ending,
    text: run.text,
    turns: run.turns,
    usage: run.spending.totalUsage,
    costUsd: run.spending.totalCostUsd,
    // A person's time is none of the agent's.
    durationMs: elapsedOf(clock) - startedAt - (permitWaits.totalMs - waitedBefore),
    model: agent.conversation.head.model,
  };
}

async function takeTurns(agent: Agent, run: RunState, options: RunOptions): Promise<Ending> {
  if (options.signal.aborted) await leaveAsFound(agent, options.signal);
  // A run that only waits, for open calls or for agents, says nothing else.
  if (agent.state.ended) agent.record({ type: 'status.changed', status: 'running', cause: null });
  const open = openCallsOf(agent);
  if (open !== null) await finishOpenCalls(agent, run, open, options);
  else if (isSearching(agent.conversation.messages)) stopLostSearch(agent, run);
  else if (agent.inbox.size > 0) sayWithNews(agent, run, 'delivery', []);
  const ended = await afterOldAnswer(agent, run, options);
  if (ended !== null) return ended;
  for (;;) {
    if (options.signal.aborted) throw new Cancelled();
    // An answer that was cut off is continued first: a summary would come in between.
    if (!run.cut) await compactWhenDue(agent, crowded(run, options));
    const done = await askOrMakeRoom(agent, run, options);
    if (done === null) continue;
    const step = nextStep(done.response, run);
    takeResponse(agent, run, done, step);
    progressOfAnswer(agent, step, textOf(done));
    warnOfStop(agent, done);
    if (step.kind === 'fail' && step.cause === 'context_window') {
      if (await madeRoom(agent, run, options, step.message)) continue;
    } else run.recovered = false;
    const ending = await carryOut(agent, run, step, options);
    if (ending !== null) return ending;
  }
}

/** Rules have taken the tool out of the prompt since the provider paused: to continue would be to search. */
function stopLostSearch(agent: Agent, run: RunState): void {
  const { tools } = agent.conversation.head;
  if (tools.some((tool) => contentOf(tool).input_schema === undefined)) return;
  agent.warn('search_stopped', 'a web search that was paused is not continued: no rule allows it any more');
  sayWithNews(agent, run, 'notice', [notice(SEARCH_STOPPED)]);
}

/**
 * For a run that is over before it begins, because its agents resumed first and met a provider that refuses: its calls
 * stay open and its news untold, so the next resume continues both.
 */
async function leaveAsFound({ children }: Agent, { reason }: AbortSignal): Promise<never> {
  await children.stopAwaited(String(reason));
  throw new Cancelled();
}

function warnOfStop(agent: Agent, { response }: ModelExchange): void {
  const message = unknownStop(response);
  if (message === null) return;
  agent.warn('unknown_stop_reason', message);
}

/** An answer that an earlier process had received and had only to report: it is judged as any other. */
async function afterOldAnswer(agent: Agent, run: RunState, options: RunOptions): Promise<Ending | null> {
  const answered = agent.conversation.messages.at(-1)?.role === 'assistant' && !hasOpenCalls(agent);
  if (!answered || agent.state.openStop === 'pause_turn' || isSearching(agent.conversation.messages))
    return null;
  run.text = lastText(agent);
  const failed = agent.state.openStop === TASK_FAILED;
  return failed ? { status: 'failed', ...taskFailure(run.text) } : afterAnswer(agent, run, options);
}

/** Null when the request was refused and the conversation is another now, so that it fits: it is to be asked again. */
async function askOrMakeRoom(
  agent: Agent,
  run: RunState,
  options: RunOptions,
): Promise<ModelExchange | null> {
  const sent: ExchangeOptions = {
    ...{ turn: run.turns + 1, maxTokens: run.maxTokens },
    ...{ signal: options.signal, partial: options.partial ?? false },
    onSpent: (usage, costUsd) => run.spending.add(usage, costUsd),
  };
  try {
    return await exchangeOrFallBack(agent, sent);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    if (await madeRoom(agent, run, options, error.message)) return null;
    const done = await shorterByPictures(agent, exchange, sent, error);
    if (done !== null) return done;
    throw new ModelError(error.code, error.family, overflowMessage(agent, error.message), { cause: error });
  }
}

const exchange = (agent: Agent, sent: ExchangeOptions): Promise<ModelExchange> =>
  agent.runtime.host.exchange(agent, sent);

/** With the fallback model when the other stays unavailable (MODEL-2). */
async function exchangeOrFallBack(agent: Agent, options: ExchangeOptions): Promise<ModelExchange> {
  try {
    return await sparingPictures(agent, exchange, options);
  } catch (error) {
    const { fallbackModel } = agent.spec;
    const { model } = agent.conversation.head;
    const failed = error instanceof ModelError || error instanceof LimitReached;
    const unavailable = failed && error.family === 'retryable';
    if (!unavailable || fallbackModel === null || fallbackModel === model) throw error;
    agent.warn('fallback_model', `${error.message}; continuing with ${fallbackModel}`);
    switchModel(agent, 'fallback', fallbackModel);
    return sparingPictures(agent, exchange, options);
  }
}

async function madeRoom(agent: Agent, run: RunState, options: RunOptions, message: string): Promise<boolean> {
  if (run.recovered || run.turns > agent.spec.maxTurns) return false;
  run.recovered = true;
  return recoverFromOverflow(agent, crowded(run, options), message);
}

function crowded({ spending, turns }: RunState, { signal }: RunOptions): CrowdedRun {
  return { spending, turn: turns + 1, signal };
}

/** The answer that a killed process had received, in several messages where its turn was paused. */
function lastText({ conversation: { messages } }: Agent): string {
  const before = messages.findLastIndex(({ role }) => role !== 'assistant');
  const blocks = messages.slice(before + 1).flatMap((message) => message.blocks);
  return blocks.map((block) => (block.type === 'text' ? String(contentOf(block).text) : '')).join('');
}

function takeResponse(agent: Agent, run: RunState, done: ModelExchange, step: NextStep): void {
  const keep = keepsResponse(step);
  recordResponse(agent, done, keep);
  run.turns += 1;
  const text = keep ? textOf(done) : '';
  run.text = run.cut ? run.text + text : text || run.text;
  const isPaused = keep && done.response.stopReason === 'pause_turn';
  run.cut = step.kind === 'ask_again' && (isPaused || step.notice === OUTPUT_CUT);
}

function textOf({ response }: ModelExchange): string {
  return response.blocks.map(({ value }) => ('text' in value ? value.text : '')).join('');
}

/** Does what the response asks for; returns how the agent ends, or null when it continues. */
async function carryOut(
  agent: Agent,
  run: RunState,
  step: NextStep,
  options: RunOptions,
): Promise<Ending | null> {
  const closed = closedEnding(run, agent.spec.maxTurns);
  const budget = run.spending.state(agent.runtime.clock.now());
  if (step.kind === 'run_tools' && (closed !== null || budget.level === 'over')) {
    agent.say('tool_results', refuseCalls(step.calls, closed === null ? NOT_RUN.budget : NOT_RUN.turns));
  }
  if (closed !== null) return closed;
  if (step.kind === 'fail') return { status: 'failed', cause: step.cause, message: failureText(agent, step) };
  if (step.kind === 'finish') return afterAnswer(agent, run, options);
  if (budget.level === 'over') return budgetSpent(budget);
  if (step.kind === 'ask_again') {
    run.repeats += 1;
    run.maxTokens = step.maxTokens ?? run.maxTokens;
    if (step.notice !== undefined || !isSearching(agent.conversation.messages))
      sayWithNews(agent, run, 'notice', step.notice ? [notice(step.notice)] : []);
    return null;
  }
  run.repeats = 0;
  await answerCalls(agent, run, step.calls, options);
  // Children spend, and time goes by, while calls are carried out: nothing more is asked for then.
  const after = run.spending.state(agent.runtime.clock.now());
  if (agent.here.halt !== null) return haltedByHook(agent);
  return after.level === 'over' ? budgetSpent(after) : null;
}

function failureText(agent: Agent, { cause, message }: Extract<NextStep, { kind: 'fail' }>): string {
  return cause === 'context_window' ? overflowMessage(agent, message) : message;
}

async function answerCalls(
  agent: Agent,
  run: RunState,
  calls: readonly ToolUseBlock[],
  { signal }: RunOptions,
): Promise<void> {
  const results = await runCalls({ agent, signal }, calls);
  await takeResults(agent, run, { calls, results, signal });
}

async function finishOpenCalls(
  agent: Agent,
  run: RunState,
  open: OpenCalls,
  { signal }: RunOptions,
): Promise<void> {
  const results = await finishCalls({ agent, signal }, open);
  await takeResults(agent, run, { calls: open.calls, results, signal });
}

interface AnsweredCalls {
  calls: readonly ToolUseBlock[];
  results: ReadonlyMap<string, FrozenBlock>;
  signal: AbortSignal;
}

/**
 * Says the results, or leaves the calls open when one of them waits for an agent that was interrupted with this one.
 */
async function takeResults(agent: Agent, run: RunState, answered: AnsweredCalls): Promise<void> {
  const { calls, results, signal } = answered;
  keepFiles(agent, calls);
  const isOpen = calls.some(({ id }) => !results.has(id));
  if (isOpen) return;
  const told = await batchEnded(agent, calls, results, signal);
  // Agents that were interrupted with this one resume with it, and then a notice of it is no longer true: messages stay
  // in the inbox.
  if (signal.aborted) agent.say('tool_results', ordered(calls, results));
  else sayWithNews(agent, run, 'tool_results', [...ordered(calls, results), ...told.map(notice)]);
}
