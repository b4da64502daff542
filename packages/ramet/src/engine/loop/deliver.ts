/**
 * Tells an agent what has come for it, and decides what follows its answer (AGENT-3, AGENT-7): an answer is the end only
 * when it is what was asked for, nothing has come meanwhile, and no agent in the background is still to be heard of.
 */
import { type FrozenBlock, freezeBlock } from '../../conversation/frozen-block.ts';
import { Cancelled } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import { answerRefused, budgetNearlySpent, CLOSING_TURN, filesChanged, notProved } from '../agent/notices.ts';
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
  const { items } = agent.inbox;
  if (items.some(({ kind }) => kind === 'cancel')) run.calledOffAt ??= run.turns;
  const news = items.flatMap((item) => item.blocks);
  const all = [...blocks, ...fileNotices(agent), ...dueNotices(agent, run), ...news];
  if (all.length === 0) return;
  const delivered = items.map(({ item }) => item);
  agent.say(cause, all, 0, delivered);
}

/** What commands of others have changed of what it has read (WORK-1). Alone it is no reason to go on. */
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

/** How the agent ends with its answer, or null when it goes on. */
export async function afterAnswer(agent: Agent, run: RunState, options: RunOptions): Promise<Ending | null> {
  if (agent.inbox.size === 0 && options.waitForChildren !== false && agent.runtime.host.mayHaveNews(agent)) {
    await agent.runtime.host.news(agent, options.signal);
  }
  if (agent.inbox.size > 0) {
    // It is not told of agents that were interrupted together with it: they go on when it does.
    if (options.signal.aborted) throw new Cancelled();
    const budget = run.spending.state(agent.runtime.clock.now());
    if (budget.level === 'over') return budgetSpent(budget);
    sayWithNews(agent, run, 'delivery', []);
    return null;
  }
  return checkAnswer(agent, run, options.signal);
}

/** The part of `AgentHost` that waits. The agent's place is free for others meanwhile (LAUNCH-3). */
export async function newsHere(agent: Agent, signal: AbortSignal): Promise<void> {
  const waiting = (): Promise<void> => agent.inbox.arrival(signal);
  await (agent.place?.whileWaiting(signal, waiting) ?? waiting());
}

/** Whether the answer is the one that was asked for, and what it tells of is there (AGENT-5, AGENT-6). */
async function checkAnswer(agent: Agent, run: RunState, signal: AbortSignal): Promise<Ending | null> {
  const { answer, evidence } = agent.spec;
  const checked = answer?.check(run.text);
  if (checked?.ok === false) return sendBack(agent, run, 'schema', checked.problem);
  if (evidence !== undefined) {
    const { missingEvidence } = await import('../answer/missing-evidence.ts');
    const missing = await missingEvidence(agent, evidence, signal);
    if (missing !== null) return sendBack(agent, run, 'no_artifact', missing);
  }
  if (checked !== undefined) run.text = checked.json;
  return DONE;
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
