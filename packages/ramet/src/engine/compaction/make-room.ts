/**
 * When a run compacts by itself: at a turn boundary once the conversation is long, and once more when the model says
 * that it was too long. Compacting is loaded when it is first needed; most runs never need it.
 */

import { statedContextWindow } from '../../model/catalog.ts';
import { ModelError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import type { Spending } from '../budget/budget.ts';
import type { CompactOptions } from './compaction.ts';
import { contextTokens, isCompactionDue } from './context-state.ts';

/** The run within which room is made. */
export interface CrowdedRun {
  readonly spending: Spending;
  readonly turn: number;
  readonly signal: AbortSignal;
}

export async function compactWhenDue(agent: Agent, run: CrowdedRun): Promise<void> {
  if (agent.spec.compacts === false || !agent.conversation.awaitsAnswer || !isCompactionDue(agent)) return;
  await compactNow(agent, { ...run, trigger: 'threshold' });
}

/** After a request that did not fit; says whether it is worth sending again. `message` is what the provider said. */
export async function recoverFromOverflow(agent: Agent, run: CrowdedRun, message: string): Promise<boolean> {
  if (agent.spec.compacts === false) return false;
  if (run.spending.state(agent.runtime.clock.now()).level === 'over') return false;
  // A refusal that names no number still says that the window is shorter than this.
  const tokens = statedContextWindow(message) ?? contextTokens(agent);
  agent.record({ type: 'window.learned', model: agent.conversation.head.model, tokens });
  return compactNow(agent, { ...run, trigger: 'overflow' });
}

/** Why a run ends that no longer fits; `message` is what the provider said. */
export function overflowMessage({ spec }: Pick<Agent, 'spec'>, message: string): string {
  if (spec.compacts !== false) return message;
  return `${message}; the conversation was not compacted, because compaction.enabled is false`;
}

export function isOverflow(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === 'context_window';
}

async function compactNow(agent: Agent, options: CompactOptions): Promise<boolean> {
  const { compact } = await import('./compaction.ts');
  return (await compact(agent, options)).compacted;
}
