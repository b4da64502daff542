/** Asks for the summary of a conversation: a fork of one question, with the source `compaction` (RES-7, BG-6). */
import type { ModelResponse } from '../../model/provider.ts';
import { ModelError } from '../../schema/errors.ts';
import type { Agent } from '../agent/agent.ts';
import { askBeside, callsTools, textOfResponse } from '../background/ask-beside.ts';
import type { Spending } from '../budget/budget.ts';

/** What the model is asked when a conversation is compacted: fixed texts, so that equal situations give equal bytes. */
export const SUMMARISE: string = `This conversation is about to be replaced by a summary, because it has become long. Write that summary now. Anyone who continues the work, you included, will know nothing else of what happened so far. Answer with text only; call no tool.

Use these headings. Be brief, but keep every fact that matters, with exact names and paths:

1. Task: what the user wants, and every rule or wish the user has stated, including corrections.
2. Done: what was changed, in which files and functions, and which checks showed that it works.
3. Found: how the relevant code works, where things are, commands that work and values that matter.
4. Failed: what was tried and did not work, with the reason, so that nobody tries it again.
5. Open: what is unfinished, unanswered or broken right now.
6. Next: the very next step, with its file and command.

State only what this conversation shows. Where something was not verified, say so. Copy no long file contents; they can be read again.`;

/** Output that a summary may need, also where answers are kept shorter. */
const LEAST_OUTPUT_TOKENS = 8_000;

export interface SummaryQuestion {
  /** How many messages it is about. */
  messages: number;
  instructions?: string | undefined;
  turn: number;
  signal: AbortSignal;
  /** Everything that the answers cost is added to each. */
  bills: readonly Spending[];
}

/** `tooLong` when the question does not fit the context window either. */
export type SummaryAnswer = { summary: string } | { reason: string; tooLong: boolean };

export async function askForSummary(
  agent: Agent,
  { messages, instructions, turn, signal, bills }: SummaryQuestion,
): Promise<SummaryAnswer> {
  const texts = instructions === undefined ? [SUMMARISE] : [SUMMARISE, emphasise(instructions)];
  try {
    const answer = await askBeside(agent, {
      ...{ source: 'compaction', messages, texts, turn, signal },
      leastTokens: LEAST_OUTPUT_TOKENS,
      onSpent(usage, costUsd) {
        for (const bill of bills) bill.add(usage, costUsd);
      },
    });
    return readSummary(answer);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { reason: error.message, tooLong: error.code === 'context_window' };
  }
}

function readSummary(response: ModelResponse): SummaryAnswer {
  const { stopReason } = response;
  const failed = (reason: string): SummaryAnswer => ({
    reason,
    tooLong: stopReason === 'model_context_window_exceeded',
  });
  if (callsTools(response)) return failed('the model called tools instead of writing a summary');
  if (stopReason === 'refusal') return failed('the model refused to write a summary');
  if (stopReason !== 'end_turn' && stopReason !== 'stop_sequence') {
    return failed(`the summary was cut off (${stopReason})`);
  }
  const summary = textOfResponse(response);
  return summary === '' ? failed('the summary is empty') : { summary };
}

function emphasise(instructions: string): string {
  return `The user wants the summary to pay attention to this: ${instructions}`;
}
