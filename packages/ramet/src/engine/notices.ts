/** The engine's own words in a conversation: fixed texts, so that equal situations give equal bytes. */
export const OUTPUT_CUT: string =
  'Your last message was cut off at the output limit. Go on exactly where it stopped, without repeating anything.';

export const SAY_SOMETHING: string = 'Your last message was empty. State the result of your work.';

export const CLOSING_TURN: string =
  'You have used all turns you were given. Call no more tools: say in a few sentences what is done, what is not, and what should happen next.';

export function budgetNearlySpent(what: string): string {
  return `Your budget is nearly spent (${what}). Finish what you are doing, leave the files in a working state, and report.`;
}

/** To an agent that goes on in a worktree, or no longer does. */
export function directoryChanged(how: string): string {
  return `Your directory is not as you left it: ${how}`;
}

/** Answers to tool calls that were not, or perhaps not fully, carried out. */
export const NOT_RUN: Record<'interrupted' | 'budget' | 'turns', string> = {
  interrupted: 'interrupted: this call was not run',
  budget: 'not run: the budget is spent',
  turns: 'not run: no turns are left',
};

export const MAY_HAVE_RUN: string = 'interrupted: may have taken effect; check before repeating it';

export function childInterrupted(agent: string): string {
  return `interrupted: agent ${agent} was at work; what it did is done. SendMessage lets it go on with all it knew.`;
}

/** Why a signal is aborted when somebody stops an agent on purpose. */
export const STOPPED = 'stopped';

export const CANCELLED: string =
  'This work is called off. Call no more tools: say in a few sentences what is done, what is not, and in what state the files are.';

export function notProved(problem: string): string {
  return `Your work does not count as done yet; this was looked at, not what you say of it: ${problem}. Finish it, then report again. If it cannot be done, say why.`;
}

export function answerRefused(problem: string): string {
  return `Your last message is not the answer that was asked for: ${problem}. Give the whole answer again, corrected.`;
}
