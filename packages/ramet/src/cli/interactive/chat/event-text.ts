/**
 * What a person reads of a turn: the answer as it streams, a line for each tool call with the end of its output or a bounded
 * diff of its change, and a line for thinking. It is the main agent's turn: children have rows and lines of their own (`agent-rows.ts`, `agent-board.ts`).
 * Everything that a model or a tool wrote goes through `safeText`.
 */

import type { SessionEvent } from '../../../sdk/session/session.ts';
import { liveStatusOf } from '../../../views/agent-label.ts';
import { compactedLine, retryLine } from '../../../views/run-notes.ts';
import { duration, safeLine, safeText, tokens } from '../../../views/text/format.ts';
import { WaitNotes } from '../../output/result-output.ts';
import type { AnswerSink } from '../screen/terminal-view.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { callTitle } from './agents/agent-board.ts';
import { type CompletedCall, completedCall, isInSight, outputOf } from './completed-call.ts';
import { FoldedOutput } from './folded-output.ts';

/** Of one thought; what follows is not kept. */
const MOST_THINKING = 200_000;

export interface EventView {
  /** An answer is being written: anything else would appear in the middle of it. */
  readonly isAnswering: boolean;
  /** What is to be appended for the event; empty when it shows nothing. */
  text(event: SessionEvent, columns: number): string;
  /** A line about something else: in the middle of an answer it waits until that is over. */
  aside(line: string): string;
  /** The change of a call with this input has been shown, with the question whether it may run. */
  changeShown(input: unknown): void;
  /** Ends the answer, and says what had to wait for that. */
  end(): string;
  /** The whole of what was shown only in part, the latest first; each further time the one before. */
  expanded(): string;
}

/** The answer itself goes to `sink`. `now` is in milliseconds; only differences mean something. */
export function createEventView(
  style: TextStyle,
  sink: AnswerSink,
  now: () => number = () => performance.now(),
): EventView {
  let streamed = false;
  const shownChanges = new Set<string>();
  const waits = new WaitNotes();
  const folded = new FoldedOutput();
  let thinking: { readonly since: number; text: string } | null = null;

  let heldBack: string[] = [];

  function closeLine(): string {
    if (streamed) sink.endAnswer();
    const asides = heldBack.map((text) => `${text}\n`).join('');
    streamed = false;
    heldBack = [];
    return asides;
  }

  function think(text: string): void {
    thinking ??= { since: now(), text: '' };
    if (thinking.text.length < MOST_THINKING) thinking.text += text;
  }

  /** Thinking is over: one line stays of it. */
  function thought(): string {
    if (thinking === null) return '';
    const { since, text } = thinking;
    thinking = null;
    const title = `thought for ${duration(now() - since)}`;
    if (text.trim() !== '') folded.add(title, safeText(text).trim());
    return line(style.dim(`∴ ${title}`));
  }

  function answer(text: string): string {
    if (text === '') return '';
    streamed = true;
    sink.answer(text);
    return '';
  }

  function line(text: string): string {
    return `${closeLine()}${text}\n`;
  }

  function completed(event: CompletedCall, columns: number): string {
    const isChangeShown = shownChanges.delete(JSON.stringify(event.call.input));
    if (isInSight(event)) return closeLine();
    folded.add(callTitle(event.call, event.details), outputOf(event.result));
    return line(completedCall(event, { columns, style, isChangeShown }));
  }

  return {
    get isAnswering() {
      return streamed;
    },
    text(event, columns) {
      if (event.type === 'thinking_delta') {
        think(event.text);
        return '';
      }
      const before = thought();
      if (before !== '') sink.print(before);
      switch (event.type) {
        case 'text_delta':
          return answer(event.text);
        case 'assistant':
          return closeLine();
        case 'tool_completed':
          // An agent that was started has its own line.
          if (event.details?.startsAgent === true && event.result.is_error !== true) return '';
          return completed(event, columns);
        case 'request_failed': {
          const retry = retryLine(event);
          // What had come of it stands above, and comes again from its beginning.
          const again = streamed ? '; the answer above was cut off here and begins again' : '';
          return retry === null ? '' : line(style.yellow(safeLine(retry + again)));
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
        case 'tool_progress':
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
    end: () => {
      const before = thought();
      return before + closeLine();
    },
    expanded() {
      const found = folded.next();
      if (found === null) return style.dim(`nothing ${folded.isEmpty ? '' : 'more '}to show in full\n`);
      const lines = found.text.split('\n').map((text) => `  ${text}`);
      return `\n${style.bold(found.title)}\n${lines.join('\n')}\n`;
    },
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
    case 'tool_progress':
      return safeLine(`${event.call.name}: ${event.text}`);
    case 'request_failed':
      return event.retryInMs === null || isWaitingForProvider(before) ? null : 'waiting to try again';
    case 'status_changed':
      if (event.cause === 'limit' || event.cause === 'provider') return liveStatusOf(event, Date.now());
      return isWaitingForProvider(before) || before.startsWith('waiting: limit') ? 'working' : null;
    case 'assistant':
    case 'tool_completed':
    case 'tool_withdrawn':
      return 'working';
    default:
      return null;
  }
}

/** Then a person may have it tried at once. */
export function isWaitingForProvider(activity: string): boolean {
  return activity.startsWith('waiting: provider');
}
