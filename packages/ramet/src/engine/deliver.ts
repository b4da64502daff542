/**
 * Tells an agent what has come for it, and decides what follows its answer (AGENT-3, AGENT-7): an answer is the end only
 * when it is what was asked for, nothing has come meanwhile, and no agent in the background is still to be heard of.
 */
import { type FrozenBlock, freezeBlock } from '../conversation/frozen-block.ts';
import { Cancelled } from '../schema/errors.ts';
import type { Agent } from './agent.ts';
import { answerRefused, budgetNearlySpent, CLOSING_TURN } from './notices.ts';
import { budgetSpent, DONE, type Ending, type RunOptions, type RunState } from './run-state.ts';

/** How often an answer that is not what was asked for is sent back. */
const MOST_REFUSED_ANSWERS = 2;

/** Says `blocks` with everything that is to be told at this boundary. */
export function sayWithNews(
  agent: Agent,
  run: RunState,
  cause: 'tool_results' | 'notice' | 'delivery',
  blocks: readonly FrozenBlock[],
): void {
  const items = agent.inbox.takeAll();
  if (items.some(({ kind }) => kind === 'cancel')) run.calledOffAt ??= run.turns;
  const news = items.flatMap((item) => item.blocks);
  const all = [...blocks, ...dueNotices(agent, run), ...news];
  if (all.length === 0) return;
  const delivered = items.map(({ item }) => item);
  agent.say(cause, all, 0, delivered);
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

/** How the agent ends with its answer, or null when it goes on. */
export async function afterAnswer(agent: Agent, run: RunState, options: RunOptions): Promise<Ending | null> {
  if (agent.inbox.size === 0 && options.waitForChildren !== false && agent.children.anyInBackground) {
    await news(agent, options.signal);
  }
  if (agent.inbox.size > 0) {
    const budget = run.spending.state(agent.runtime.clock.now());
    if (budget.level === 'over') return budgetSpent(budget);
    sayWithNews(agent, run, 'delivery', []);
    return null;
  }
  return checkAnswer(agent, run);
}

/** Its place is free for others meanwhile (LAUNCH-3). */
async function news(agent: Agent, signal: AbortSignal): Promise<void> {
  const waiting = (): Promise<void> => agent.inbox.arrival(signal);
  await (agent.place?.whileWaiting(signal, waiting) ?? waiting());
  if (signal.aborted) throw new Cancelled();
}

function checkAnswer(agent: Agent, run: RunState): Ending | null {
  const checked = agent.spec.answer?.check(run.text);
  if (checked === undefined) return DONE;
  if (checked.ok) {
    run.text = checked.json;
    return DONE;
  }
  if (run.refusedAnswers === MOST_REFUSED_ANSWERS) {
    return { status: 'failed', cause: 'schema', message: checked.problem };
  }
  run.refusedAnswers += 1;
  sayWithNews(agent, run, 'notice', [notice(answerRefused(checked.problem))]);
  return null;
}
