/**
 * When a run compacts by itself: at a turn boundary once the conversation is long, and once more when the model says
 * that it was too long. Compacting is loaded when it is first needed; most runs never need it.
 */

import { statedContextWindow } from '../../model/catalog.ts';
import { ModelError } from '../../schema/errors.ts';
import { emitting } from '../../schema/generators.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentEvent } from '../agent/agent-event.ts';
import type { Spending } from '../budget/budget.ts';
import type { CompactionOutcome, CompactOptions } from './compaction.ts';
import { contextTokens, isCompactionDue } from './context-state.ts';

type Compacting<Value> = AsyncGenerator<AgentEvent, Value>;

/** The run within which room is made. */
export interface CrowdedRun {
  readonly spending: Spending;
  readonly turn: number;
  readonly signal: AbortSignal;
}

export async function* compactWhenDue(agent: Agent, run: CrowdedRun): Compacting<void> {
  if (!agent.conversation.awaitsAnswer || !isCompactionDue(agent)) return;
  yield* compactNow(agent, { ...run, trigger: 'threshold' });
}

/** After a request that did not fit; says whether it is worth sending again. `message` is what the provider said. */
export async function* recoverFromOverflow(
  agent: Agent,
  run: CrowdedRun,
  message: string,
): Compacting<boolean> {
  if (run.spending.state(agent.runtime.clock.now()).level === 'over') return false;
  // A refusal that names no number still says that the window is shorter than this.
  const tokens = statedContextWindow(message) ?? contextTokens(agent);
  agent.record({ type: 'window.learned', model: agent.conversation.head.model, tokens });
  return yield* compactNow(agent, { ...run, trigger: 'overflow' });
}

export function isOverflow(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === 'context_window';
}

async function* compactNow(agent: Agent, options: Omit<CompactOptions, 'emit'>): Compacting<boolean> {
  const { compact } = await import('./compaction.ts');
  const outcome = yield* emitting<AgentEvent, CompactionOutcome>((emit) =>
    compact(agent, { ...options, emit }),
  );
  return outcome.compacted;
}
