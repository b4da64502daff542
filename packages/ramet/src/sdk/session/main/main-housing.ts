/** Where the main agent of a resumed session works: in the worktree it had entered, if that is available. */

import { resumedHousing, settleIn } from '../../../engine/later.ts';
import { directoryChanged } from '../../../engine/opening.ts';
import type { Agent, Housing, SessionRuntime } from '../../../engine/shapes.ts';
import type { AgentState } from '../../../journal/projections/agent-state.ts';
import { RametError } from '../../../schema/errors.ts';

export interface MainHousing {
  housing: Housing | null;
  settle(agent: Agent): void;
}

export async function mainHousing(
  runtime: SessionRuntime,
  state: AgentState,
  outside: string,
): Promise<MainHousing> {
  const worktree = state.directory?.worktree ?? null;
  try {
    const housing = await resumedHousing(runtime, worktree, outside);
    return { housing, settle: (agent) => settleIn(agent, state, outside) };
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    const { message } = error;
    return { housing: null, settle: (agent) => moveOut(agent, outside, message) };
  }
}

function moveOut(agent: Agent, cwd: string, reason: string): void {
  agent.warn('worktree_lost', `the session continues in ${cwd}: ${reason}`);
  agent.directory.leave(cwd);
  const how = `you are in ${cwd} and no longer in your worktree: ${reason}.`;
  agent.receive('notification', null, directoryChanged(how));
}
