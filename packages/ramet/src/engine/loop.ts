/**
 * The turn loop: every agent runs this one. It asks the model, carries out the tools, and goes on until there
 * is an answer, a limit, an error or an abort. Failures are values: the generator returns an AgentResult and
 * does not throw.
 *
 * Invariants
 * 1. Whenever it ends, the conversation is valid: every tool call in it is answered by the next message.
 * 2. A response is on disk before anything it asks for changes anything.
 * 3. No path leads from an error to `done` (AGENT-5).
 */
import { contentOf, type FrozenBlock, freezeBlock } from '../conversation/frozen-block.ts';
import { RECIPE_FAILED } from '../model/recipe.ts';
import type { ToolUseBlock } from '../schema/content.ts';
import { Cancelled, describeError, RametError } from '../schema/errors.ts';
import type { AgentStatus } from '../schema/status.ts';
import type { Agent } from './agent.ts';
import type { AgentEvent, AgentResult } from './agent-event.ts';
import { type BudgetState, Spending } from './budget.ts';
import { emitting } from './emitting.ts';
import { type ModelExchange, recordResponse } from './exchange.ts';
import { exchangeOrFallBack } from './fallback.ts';
import { type CrowdedRun, compactWhenDue, isOverflow, recoverFromOverflow } from './make-room.ts';
import { budgetNearlySpent, CLOSING_TURN, NOT_RUN, OUTPUT_CUT } from './notices.ts';
import { type NextStep, nextStep, recipeFailure } from './stop-reason.ts';
import { refuseCalls, runCalls } from './tool-runner.ts';

export interface RunOptions {
  signal: AbortSignal;
  /** Whether text is yielded as it streams. */
  partial?: boolean;
}

type Ending = { status: AgentStatus; cause: string | null; message: string | null };
type Turns<Value> = AsyncGenerator<AgentEvent, Value>;

/** What changes while one prompt is worked on. */
interface RunState {
  readonly spending: Spending;
  turns: number;
  repeats: number;
  maxTokens: number;
  text: string;
  /** The last answer was cut off, so the next one continues its text. */
  cut: boolean;
  toldToFinish: boolean;
  /** The conversation was compacted because it did not fit, and no response has come since. */
  recovered: boolean;
}

const DONE: Ending = { status: 'done', cause: null, message: null };

export async function* runAgent(agent: Agent, options: RunOptions): Turns<AgentResult> {
  const { clock, journal } = agent.runtime;
  const startedAt = clock.now();
  const { budget, type, spending: parent } = agent.spec;
  agent.spending = new Spending(budget, startedAt, { label: `${type} agent`, parent });
  const run: RunState = {
    spending: agent.spending,
    turns: 0,
    repeats: 0,
    maxTokens: agent.spec.maxTokens,
    text: '',
    cut: false,
    toldToFinish: false,
    recovered: false,
  };
  // Stands when whoever consumes the events stops doing so.
  let ending: Ending = { status: 'interrupted', cause: 'abandoned', message: 'nobody waits for the result' };
  try {
    ending = yield* takeTurns(agent, run, options);
  } catch (error) {
    ending = endingOf(error, options.signal);
  } finally {
    agent.record({ type: 'agent.ended', ...ending });
    await journal.commit('synced').catch((error) => {
      ending = endingOf(error, options.signal);
    });
  }
  return {
    ...ending,
    text: run.text,
    turns: run.turns,
    usage: run.spending.usage,
    costUsd: run.spending.costUsd,
    durationMs: clock.now() - startedAt,
  };
}

async function* takeTurns(agent: Agent, run: RunState, options: RunOptions): Turns<Ending> {
  if (agent.openStop !== null && agent.openStop !== 'pause_turn') {
    run.text = lastText(agent);
    const failed = agent.openStop === RECIPE_FAILED;
    agent.openStop = null;
    return failed ? { status: 'failed', ...recipeFailure(run.text) } : DONE;
  }
  for (;;) {
    if (options.signal.aborted) throw new Cancelled();
    // An answer that was cut off is continued first: a summary would come in between.
    if (!run.cut) yield* compactWhenDue(agent, crowded(run, options));
    const done = yield* askOrMakeRoom(agent, run, options);
    if (done === null) continue;
    const step = nextStep(done.response, run);
    takeResponse(agent, run, done, step);
    yield assistantEvent(done);
    if (step.kind === 'fail' && step.cause === 'context_window') {
      if (yield* madeRoom(agent, run, options, step.message)) continue;
    } else run.recovered = false;
    const ending = yield* carryOut(agent, run, step, options);
    if (ending !== null) return ending;
  }
}

/** Null when the request did not fit and the conversation has been compacted: it is to be asked again. */
async function* askOrMakeRoom(agent: Agent, run: RunState, options: RunOptions): Turns<ModelExchange | null> {
  try {
    return yield* emitting((emit) =>
      exchangeOrFallBack(agent, {
        turn: run.turns + 1,
        maxTokens: run.maxTokens,
        signal: options.signal,
        partial: options.partial ?? false,
        emit,
        onSpent: (usage, costUsd) => run.spending.add(usage, costUsd),
      }),
    );
  } catch (error) {
    if (isOverflow(error) && (yield* madeRoom(agent, run, options, error.message))) return null;
    throw error;
  }
}

async function* madeRoom(agent: Agent, run: RunState, options: RunOptions, message: string): Turns<boolean> {
  if (run.recovered || run.turns > agent.spec.maxTurns) return false;
  run.recovered = true;
  return yield* recoverFromOverflow(agent, crowded(run, options), message);
}

function crowded({ spending, turns }: RunState, { signal }: RunOptions): CrowdedRun {
  return { spending, turn: turns + 1, signal };
}

/** The answer that a killed process had received and had only to report. */
function lastText({ conversation }: Agent): string {
  const blocks = conversation.messages.at(-1)?.blocks ?? [];
  return blocks.map((block) => (block.type === 'text' ? String(contentOf(block).text) : '')).join('');
}

function takeResponse(agent: Agent, run: RunState, done: ModelExchange, step: NextStep): void {
  const keep = step.kind === 'run_tools' || step.kind === 'finish' || step.keep;
  recordResponse(agent, done, keep);
  run.turns += 1;
  const text = keep ? textOf(done) : '';
  run.text = run.cut ? run.text + text : text || run.text;
  run.cut = step.kind === 'ask_again' && step.notice === OUTPUT_CUT;
}

function textOf({ response }: ModelExchange): string {
  return response.blocks.map(({ value }) => ('text' in value ? value.text : '')).join('');
}

/** Does what the response asks for; returns how the agent ends, or null when it goes on. */
async function* carryOut(
  agent: Agent,
  run: RunState,
  step: NextStep,
  options: RunOptions,
): Turns<Ending | null> {
  const closed = run.turns > agent.spec.maxTurns;
  const budget = run.spending.state(agent.runtime.clock.now());
  if (step.kind === 'run_tools' && (closed || budget.level === 'over')) {
    agent.say('tool_results', refuseCalls(step.calls, closed ? NOT_RUN.turns : NOT_RUN.budget));
  }
  if (closed) {
    const message = `the limit of ${agent.spec.maxTurns} turns is reached`;
    return { status: 'failed', cause: 'max_turns', message };
  }
  if (step.kind === 'fail') return { status: 'failed', cause: step.cause, message: step.message };
  if (step.kind === 'finish') return DONE;
  if (budget.level === 'over') return budgetSpent(budget);
  if (step.kind === 'ask_again') {
    run.repeats += 1;
    run.maxTokens = step.maxTokens ?? run.maxTokens;
    const notices = [...(step.notice ? [notice(step.notice)] : []), ...dueNotices(agent, run)];
    if (notices.length > 0) agent.say('notice', notices);
    return null;
  }
  run.repeats = 0;
  yield* answerCalls(agent, run, step.calls, options);
  return null;
}

async function* answerCalls(
  agent: Agent,
  run: RunState,
  calls: readonly ToolUseBlock[],
  { signal }: RunOptions,
): Turns<void> {
  const results = yield* emitting<AgentEvent, FrozenBlock[]>((emit) =>
    runCalls({ agent, signal, emit }, calls),
  );
  agent.say('tool_results', [...results, ...dueNotices(agent, run)]);
}

/** What the engine has to tell the model with its next message. */
function dueNotices(agent: Agent, run: RunState): FrozenBlock[] {
  if (run.turns === agent.spec.maxTurns) return [notice(CLOSING_TURN)];
  const budget = run.spending.state(agent.runtime.clock.now());
  if (run.toldToFinish || budget.level !== 'near') return [];
  run.toldToFinish = true;
  return [notice(budgetNearlySpent(budget.what))];
}

function notice(text: string): FrozenBlock {
  return freezeBlock({ type: 'text', text });
}

function assistantEvent({ response, usage, costUsd }: ModelExchange): AgentEvent {
  return {
    type: 'assistant',
    messageId: response.id,
    model: response.model,
    stopReason: response.stopReason,
    blocks: response.blocks.map(({ value }) => value),
    usage,
    costUsd,
  };
}

function budgetSpent({ limit, what }: BudgetState): Ending {
  const status = limit === 'seconds' ? 'timed_out' : 'failed';
  return { status, cause: 'budget', message: `the budget is spent: ${what}` };
}

function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (error instanceof Cancelled || signal.aborted) {
    const by = typeof signal.reason === 'string' ? signal.reason : 'abort';
    return { status: 'interrupted', cause: by, message: `interrupted (${by})` };
  }
  const cause = error instanceof RametError ? error.code : 'internal';
  return { status: 'failed', cause, message: describeError(error) };
}
