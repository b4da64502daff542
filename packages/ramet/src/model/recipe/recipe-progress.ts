/**
 * Finds out from a conversation how far a recipe has come: the calls since the task, with their results, are held
 * against its steps in order. There is no other state, so the conversation is all that a resume needs.
 *
 * Invariants
 * 1. A step begins only after the one before it has succeeded; after a failure no further step begins.
 * 2. A call is made again only when its result says that it did not run, or, for Write, what to do to be let through.
 */
import type { OtherBlock } from '../../schema/content.ts';
import { blocksOf, type TaskMessage } from './conversation-task.ts';
import type { RecipeCall, RecipeStep } from './recipe-steps.ts';

export interface CallResult {
  text: string;
  isError: boolean;
}

export interface StepOutcome {
  step: RecipeStep;
  /** Of its calls, in order. */
  results: CallResult[];
  failed: boolean;
}

export interface RecipeProgress {
  /** Steps that have ended, in order; at most the last of them failed. */
  ended: StepOutcome[];
  /** What to call now; empty when all is done or a step failed. */
  next: RecipeCall[];
}

/** How often a Write may be refused and tried again in one step: another agent may be writing the file too. */
const MOST_REFUSALS = 3;

/**
 * The engine's words for a call that it did not begin (`engine/agent/notices.ts`; a test holds them together). They
 * stand alone: the result of a command that failed has a second line, so no output can pass for them.
 */
const NOT_RUN = /^(?:not run: .*|interrupted: this call was not run)$/;
/** The words of Write for a file whose present version the agent has not seen. */
const READ_IT = /\bRead it (?:first|again)\b/;
/** Its words for a file that was deleted after the agent had seen it. */
const WRITE_IT_AGAIN = /\bWrite it again if it should exist\b/;

const NO_RESULT: CallResult = { text: 'no result', isError: true };

/** Where the replay stands: progress, and how often the present step was refused so far. */
interface Cursor extends RecipeProgress {
  refusals: number;
}

export function progressOf(steps: readonly RecipeStep[], since: readonly TaskMessage[]): RecipeProgress {
  const results = resultsIn(since);
  let cursor: Cursor = { ended: [], next: steps[0]?.calls ?? [], refusals: 0 };
  for (const calls of callsIn(since)) {
    if (!sameCalls(calls, cursor.next)) continue;
    const answers = calls.map(({ id }) => results.get(id));
    cursor = advance(cursor, steps, answers);
  }
  return cursor;
}

function advance(
  cursor: Cursor,
  steps: readonly RecipeStep[],
  answers: readonly (CallResult | undefined)[],
): Cursor {
  const step = steps[cursor.ended.length];
  const given = answers.filter((answer) => answer !== undefined);
  if (step === undefined || given.every(notRun)) return cursor;
  const results = answers.map((answer) => answer ?? NO_RESULT);
  const failed = results.some(({ isError }) => isError);
  const further = furtherCall(step, cursor, results);
  if (further !== null) {
    return { ...cursor, next: [further], refusals: cursor.refusals + (failed ? 1 : 0) };
  }
  const ended = [...cursor.ended, { step, results, failed }];
  return { ended, next: failed ? [] : (steps[ended.length]?.calls ?? []), refusals: 0 };
}

function notRun({ text, isError }: CallResult): boolean {
  return isError && NOT_RUN.test(text);
}

/** What has to follow before a write step is over: a Read that it was told to make, or the Write after that. */
function furtherCall(
  step: RecipeStep,
  { next, refusals }: Cursor,
  results: readonly CallResult[],
): RecipeCall | null {
  const [write] = step.calls;
  const [result] = results;
  if (write?.name !== 'Write' || result === undefined) return null;
  if (next[0]?.name === 'Read') return result.isError ? null : write;
  if (!result.isError || refusals === MOST_REFUSALS) return null;
  // One line is enough: reading any part of a file notes the version of the whole.
  if (READ_IT.test(result.text))
    return { name: 'Read', input: { file_path: write.input.file_path, limit: 1 } };
  return WRITE_IT_AGAIN.test(result.text) ? write : null;
}

interface MadeCall {
  id: string;
  name: string;
  input: unknown;
}

function callsIn(messages: readonly TaskMessage[]): MadeCall[][] {
  return messages
    .filter(({ role }) => role === 'assistant')
    .map((message) =>
      blocksOf(message)
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, name, input }) => ({ id: String(id), name: String(name), input })),
    );
}

function resultsIn(messages: readonly TaskMessage[]): Map<string, CallResult> {
  return new Map(
    messages
      .flatMap(blocksOf)
      .filter(({ type }) => type === 'tool_result')
      .map((block) => [
        String(block.tool_use_id),
        { text: textOf(block.content), isError: block.is_error === true },
      ]),
  );
}

/** Calls of another model, from before a switch to this one, are not steps of the recipe. */
function sameCalls(made: readonly MadeCall[], wanted: readonly RecipeCall[]): boolean {
  return (
    made.length > 0 &&
    made.length === wanted.length &&
    wanted.every(({ name, input }, index) => {
      const call = made[index];
      return call?.name === name && JSON.stringify(call.input) === JSON.stringify(input);
    })
  );
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content
    .map((block: OtherBlock) => (block.type === 'text' ? String(block.text) : `(${block.type})`))
    .join('\n');
}
