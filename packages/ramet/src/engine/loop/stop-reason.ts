/** What follows a response, for every stop reason there is (MODEL-2). Pure: the loop carries it out. */
import { type ModelResponse, TASK_FAILED } from '../../model/provider.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import type { TodoItem } from '../../schema/status.ts';
import { stripAnsi } from '../../system/text/visible-text.ts';
import type { Agent } from '../agent/agent.ts';
import { MAKE_THE_CALL, OUTPUT_CUT, SAY_SOMETHING } from '../agent/notices.ts';

export type NextStep =
  | { kind: 'run_tools'; calls: ToolUseBlock[] }
  | { kind: 'finish' }
  /** `notice` is said to the model first; without one the conversation is sent as it stands. */
  | { kind: 'ask_again'; keep: boolean; notice?: string; maxTokens?: number }
  | { kind: 'fail'; keep: boolean; cause: string; message: string };

/** Whether the response stays in the conversation. */
export function keepsResponse(step: NextStep): boolean {
  return step.kind === 'run_tools' || step.kind === 'finish' || step.keep;
}

/** How often in a row a response may need asking again before the agent fails. */
const MOST_REPEATS = 3;
const MOST_OUTPUT_TOKENS = 64_000;

export interface StepContext {
  /** How many steps in a row have been `ask_again`. */
  repeats: number;
  maxTokens: number;
}

export function nextStep(response: ModelResponse, context: StepContext): NextStep {
  switch (response.stopReason) {
    case 'refusal':
      return { kind: 'fail', keep: false, cause: 'refusal', message: 'the model refused to answer' };
    case 'model_context_window_exceeded':
      return {
        kind: 'fail',
        keep: false,
        cause: 'context_window',
        message: 'the conversation no longer fits the context window of the model',
      };
    case TASK_FAILED:
      return { kind: 'fail', keep: true, ...taskFailure(textOf(response)) };
    case 'max_tokens':
      return afterCut(response, context);
    case 'pause_turn':
      if (toolCalls(response).length > 0) return afterEnd(response, context);
      return repeat(
        context,
        { kind: 'ask_again', keep: true },
        {
          cause: 'pause_turn',
          message: 'the provider paused the turn again and again',
        },
      );
    case 'tool_use':
      if (toolCalls(response).length > 0) return afterEnd(response, context);
      return repeat(
        context,
        { kind: 'ask_again', keep: response.blocks.length > 0, notice: MAKE_THE_CALL },
        { cause: 'no_call', message: 'the model keeps announcing tool calls and makes none' },
      );
    default:
      return afterEnd(response, context);
  }
}

const KNOWN_REASONS: ReadonlySet<string> = new Set([
  'end_turn',
  'stop_sequence',
  'tool_use',
  'max_tokens',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  TASK_FAILED,
]);

/** A line about a response that stopped for a reason nobody knows: it is taken for an end; null for any other. */
export function unknownStop({ stopReason }: ModelResponse): string | null {
  if (KNOWN_REASONS.has(stopReason)) return null;
  const reason = JSON.stringify(stopReason.slice(0, 80));
  return `the response stopped for a reason that Ramet does not know: ${reason}; it is taken as complete`;
}

/**
 * The first line says what failed; the rest is the report, which stays in the conversation. The cause is a word that
 * programs know.
 */
export function taskFailure(text: string): { cause: string; message: string } {
  return { cause: 'recipe', message: (text.split('\n', 1)[0] ?? '').replace(/^Failed: /, '') };
}

function textOf({ blocks }: ModelResponse): string {
  return blocks.map(({ value }) => ('text' in value ? value.text : '')).join('');
}

/** Complete tool calls are carried out whatever the stop reason says: each must be answered. */
function afterEnd(response: ModelResponse, context: StepContext): NextStep {
  const calls = toolCalls(response);
  if (calls.length > 0) return { kind: 'run_tools', calls };
  if (response.blocks.some(({ value }) => value.type === 'text')) return { kind: 'finish' };
  return repeat(
    context,
    { kind: 'ask_again', keep: response.blocks.length > 0, notice: SAY_SOMETHING },
    {
      cause: 'no_answer',
      message: 'the model keeps answering with nothing',
    },
  );
}

function afterCut(response: ModelResponse, context: StepContext): NextStep {
  const tooLong = {
    cause: 'max_tokens',
    message: `the answer does not fit ${context.maxTokens} output tokens`,
  };
  if (response.cutToolUse) {
    const maxTokens = Math.min(context.maxTokens * 2, MOST_OUTPUT_TOKENS);
    const stuck = maxTokens === context.maxTokens ? MOST_REPEATS : context.repeats;
    return repeat({ ...context, repeats: stuck }, { kind: 'ask_again', keep: false, maxTokens }, tooLong);
  }
  const calls = toolCalls(response);
  if (calls.length > 0) return { kind: 'run_tools', calls };
  const keep = response.blocks.length > 0;
  return repeat(context, { kind: 'ask_again', keep, notice: OUTPUT_CUT }, tooLong);
}

/** Asks again while that may help, and fails with a reason once it has not. */
function repeat(
  context: StepContext,
  step: NextStep & { kind: 'ask_again' },
  failure: { cause: string; message: string },
): NextStep {
  return context.repeats < MOST_REPEATS ? step : { kind: 'fail', keep: step.keep, ...failure };
}

function toolCalls(response: ModelResponse): ToolUseBlock[] {
  return response.blocks
    .map((block) => block.value)
    .filter((value): value is ToolUseBlock => value.type === 'tool_use');
}

const LONGEST_LINE = 120;
/** Of a line that never ends. Far more than is shown, so that a secret is never cut in half. */
const LOOKED_AT = 4_000;

/**
 * The progress of a child (RES-4): the first line of a text that comes with its calls, or the current item of its to-do
 * list. This needs no tool and no prompt, so every child has it. At most one line is recorded for an answer and one for
 * a list, and no line twice in a row. The main agent has none, since its text is shown, and neither has a report.
 */
export function progressOfAnswer(agent: Agent, step: NextStep, text: string): void {
  if (step.kind === 'run_tools' || step.kind === 'ask_again') reportProgress(agent, text);
}

export function progressOfTodos(agent: Agent, todos: readonly TodoItem[]): void {
  const current = todos.find(({ status }) => status === 'in_progress');
  if (current !== undefined) reportProgress(agent, current.activeForm || current.content);
}

/** Of a child. */
export function reportProgress(agent: Agent, text: string): void {
  if (agent.spec.parent === null) return;
  const line = progressLine(text, agent.runtime.redact);
  if (line === '' || line === agent.state.progress) return;
  agent.record({ type: 'progress.reported', line });
}

/** One line without secrets, control characters and the marks of Markdown before it; may be empty. */
export function progressLine(text: string, redact: (text: string) => string): string {
  const [first = ''] = text
    .trimStart()
    .slice(0, LOOKED_AT)
    .split(/[\r\n\u2028\u2029]/, 1);
  // Escape sequences go first: one in a secret hides it, and taking it out later would join the halves.
  const line = redact(cleaned(redact(stripAnsi(first.toWellFormed()))));
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1).toWellFormed()}…` : line;
}

function cleaned(line: string): string {
  return line
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replace(/^[\s#>*-]+/, '')
    .trim();
}
