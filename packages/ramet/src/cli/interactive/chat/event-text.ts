/**
 * What a person reads of a turn: the answer as it streams, one line for each tool call, a bounded diff for each
 * change. It is the main agent's turn: children have rows and lines of their own (`agent-rows.ts`, `agent-board.ts`).
 * Everything that a model or a tool wrote goes through `safeText`.
 */

import type { ToolResultBlock } from '../../../schema/content.ts';
import type { CallDetails } from '../../../schema/tool-access.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import { changedLines, type DiffLine, lineDiff } from '../../../system/text/line-diff.ts';
import { liveStatusOf } from '../../../views/agent-label.ts';
import { compactedLine, retryLine } from '../../../views/run-notes.ts';
import { duration, fitText, safeLine, safeText, tokens, visibleText } from '../../../views/text/format.ts';
import { WaitNotes } from '../../output/result-output.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { callTitle } from './agent-board.ts';

const MOST_LINES = 16;

/** Longer texts are not compared: a person would not read them here either. */
const LONGEST_TEXT = 200_000;

export interface EventView {
  /** An answer is being written: anything else would appear in the middle of it. */
  readonly isAnswering: boolean;
  /** What is to be appended for the event; empty when it shows nothing. */
  text(event: SessionEvent, columns: number): string;
  /** A line about something else: in the middle of an answer it waits until that is over. */
  aside(line: string): string;
  /** The change of a call with this input has been shown, with the question whether it may run. */
  changeShown(input: unknown): void;
  /** What ends the turn's output: a line break where one is missing. */
  end(): string;
}

export function createEventView(style: TextStyle): EventView {
  /** The last thing appended was part of a line. */
  let open = false;
  let streamed = false;
  const shownChanges = new Set<string>();
  const waits = new WaitNotes();

  let heldBack: string[] = [];

  /** Ends what was being written, and says what had to wait for that. */
  function closeLine(): string {
    const missing = open ? '\n' : '';
    const asides = heldBack.map((text) => `${text}\n`).join('');
    open = false;
    streamed = false;
    heldBack = [];
    return missing + asides;
  }

  function answer(raw: string): string {
    const text = safeText(raw);
    if (text === '') return '';
    // A blank line between the answer and what stood before it.
    const gap = streamed ? '' : '\n';
    streamed = true;
    open = !text.endsWith('\n');
    return gap + text;
  }

  function line(text: string): string {
    return `${closeLine()}${text}\n`;
  }

  return {
    get isAnswering() {
      return streamed;
    },
    text(event, columns) {
      switch (event.type) {
        case 'text_delta':
          return answer(event.text);
        case 'assistant':
          return closeLine();
        case 'tool_completed':
          // An agent that was started has its own line.
          if (event.details?.startsAgent === true && event.result.is_error !== true) return '';
          return line(
            completedCall(event, columns, style, shownChanges.delete(JSON.stringify(event.call.input))),
          );
        case 'request_failed': {
          const retry = retryLine(event);
          return retry === null ? '' : line(style.yellow(safeLine(retry)));
        }
        case 'warning':
          return line(style.yellow(safeLine(event.message)));
        case 'conversation_replaced':
          return event.cause === 'compaction' ? line(style.dim(compactedLine(event, tokens))) : '';
        case 'status_changed': {
          const wait = waits.line(event, Date.now());
          return wait === null ? '' : line(style.yellow(wait));
        }
        case 'agent_started':
        case 'agent_ended':
        case 'progress':
        case 'stalled':
        case 'tool_started':
        case 'tool_withdrawn':
        case 'thinking_delta':
          return '';
      }
    },
    aside(text) {
      if (!streamed) return line(text);
      heldBack.push(text);
      return '';
    },
    changeShown(input) {
      shownChanges.add(JSON.stringify(input));
    },
    end: closeLine,
  };
}

/** What the agent does after this event, in a few words; null when the event changes nothing. */
export function activityAfter(event: SessionEvent, before: string): string | null {
  switch (event.type) {
    case 'thinking_delta':
      return 'thinking';
    case 'text_delta':
      return 'answering';
    case 'tool_started':
      return callTitle(event.call, event.details);
    case 'request_failed':
      return event.retryInMs === null ? null : 'waiting to try again';
    case 'status_changed':
      if (event.cause === 'limit' || event.cause === 'provider') return liveStatusOf(event, Date.now());
      return /^waiting: (?:limit|provider)/.test(before) ? 'working' : null;
    case 'assistant':
    case 'tool_completed':
    case 'tool_withdrawn':
      return 'working';
    default:
      return null;
  }
}

function completedCall(
  { call, result, durationMs, details }: SessionEvent & { type: 'tool_completed' },
  columns: number,
  style: TextStyle,
  brief: boolean,
): string {
  const failed = result.is_error === true;
  const took = ` ${duration(durationMs)}`;
  const title = fitText(callTitle(call, details), Math.max(8, columns - took.length - 3));
  const head = `${failed ? style.red('✗') : style.green('•')} ${title}${style.dim(took)}`;
  const detail = failed
    ? [style.red(fitText(firstLine(result), columns - 4))]
    : brief
      ? []
      : changeLines(details, columns - 5, style);
  return [head, ...detail.map((text) => `    ${text}`)].join('\n');
}

function firstLine({ content }: ToolResultBlock): string {
  const text =
    typeof content === 'string' ? content : (content.find((block) => block.type === 'text')?.text ?? '');
  return safeLine(text.slice(0, 1_000));
}

/** The change that a call makes to a file, as a bounded diff. Other calls change nothing that is shown. */
function changeLines(details: CallDetails | undefined, columns: number, style: TextStyle): string[] {
  // What a whole file held before is not known here: all of it counts as added.
  const { before, after } = details?.change ?? {};
  if (after === undefined || Math.max(after.length, before?.length ?? 0) > LONGEST_TEXT) return [];
  const lines = changedLines(lineDiff(before ?? '', after));
  const shown = lines.slice(0, MOST_LINES).map((line) => diffRow(line, columns, style));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, style.dim(`(${rest} more line${rest === 1 ? '' : 's'})`)] : shown;
}

function diffRow(line: DiffLine | null, columns: number, style: TextStyle): string {
  if (line === null) return style.dim('⋮');
  const text = fitText(visibleText(line.text.slice(0, 1_000)).replaceAll('\t', '  '), columns - 2);
  if (line.kind === 'added') return style.green(`+ ${text}`);
  return line.kind === 'removed' ? style.red(`- ${text}`) : style.dim(`  ${text}`);
}
