/** What is recorded of an agent, as blocks for a screen. Pure. */
import type { RecordedStep } from '../../../views/agent-record.ts';
import { safeLine, safeText } from '../../../views/text/format.ts';
import { completedCall } from '../chat/completed-call.ts';
import { shownPrompt } from '../chat/recalled.ts';
import { AnswerStream } from '../markdown/answer-stream.ts';
import { type Block, lineBlocks } from '../markdown/blocks.ts';
import type { Look } from '../markdown/look.ts';
import type { TextStyle } from '../screen/text-style.ts';

/** Of one answer or message: a person would not read more here. */
const LONGEST_TEXT = 200_000;

export function stepBlocks(
  step: RecordedStep,
  { columns, style, look }: { readonly columns: number; readonly style: TextStyle; readonly look: Look },
): Block[] {
  switch (step.kind) {
    case 'told': {
      const text = step.text.slice(0, LONGEST_TEXT);
      // Nobody has typed or pasted what others had to say.
      return lineBlocks(
        step.isPrompt ? `\n${style.bold(safeText(shownPrompt(text)))}\n` : `\n${style.dim(safeText(text))}\n`,
      );
    }
    case 'answered': {
      const thought = step.hasThought ? lineBlocks(`${style.dim('∴ thought')}\n`) : [];
      if (step.text === '') return thought;
      const stream = new AnswerStream(look);
      const text = step.text.slice(-LONGEST_TEXT);
      return [...thought, ...lineBlocks('\n'), ...stream.push(text), ...stream.end()];
    }
    case 'called': {
      const { name, input, result, durationMs } = step;
      const call = { call: { name, input }, result, durationMs };
      return lineBlocks(`${completedCall(call, { columns, style, isChangeShown: false })}\n`);
    }
    case 'noted': {
      const paints = { quiet: style.dim, warning: style.yellow, failure: style.red, success: style.green };
      return lineBlocks(`${paints[step.tone](safeLine(step.text))}\n`);
    }
  }
}
