/**
 * The conversation on a terminal: keys in, output out, one line of work at a time. What keys mean is in
 * `prompt-input.ts`, what is drawn in `live-rows.ts`, what is said in `chat.ts`.
 *
 * Invariants
 * 1. A key is shown in the same tick it arrived in.
 * 2. Ctrl-C stops the turn and nothing else; only a second one, with no other key between, leaves.
 * 3. Whoever leaves waits for the turn to end, so that it is recorded; who cannot wait presses Ctrl-C again.
 */
import type { AgentResult } from '../../engine/agent-event.ts';
import type { PermissionQuestion } from '../../permission/broker.ts';
import { describeError } from '../../schema/errors.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';
import type { Chat } from './chat.ts';
import { parseChatCommand, runChatCommand } from './chat-commands.ts';
import { activityAfter, createEventView, type EventView } from './event-text.ts';
import type { Key } from './key-parser.ts';
import { editorOf } from './line-editor.ts';
import { type LiveState, statusText } from './live-rows.ts';
import {
  answerHint,
  answerOf,
  answerText,
  isMeantAsAnswer,
  isMeantForThis,
  questionText,
} from './permission-question.ts';
import type { PromptHistory } from './prompt-history.ts';
import { cleared, type InputAction, newPromptInput, type PromptInput, pressKey } from './prompt-input.ts';
import type { QuestionDesk } from './question-desk.ts';
import { safeLine, safeText } from './safe-text.ts';
import { shownPrompt } from './shown-prompt.ts';
import type { TerminalView } from './terminal-view.ts';
import type { TextStyle } from './text-style.ts';

export interface TerminalChatParts {
  readonly chat: Chat;
  readonly desk: QuestionDesk;
  readonly history: PromptHistory;
  readonly io: CommandIo;
  readonly style: TextStyle;
  /** Ends the process without waiting for anything. */
  readonly exitNow: (code: number) => void;
}

interface LineOfWork {
  readonly controller: AbortController;
  readonly since: number;
  activity: string;
}

export class TerminalChat {
  readonly #parts: TerminalChatParts;
  readonly #events: EventView;
  readonly #left: PromiseWithResolvers<number> = Promise.withResolvers();
  #view: TerminalView | null = null;
  #input: PromptInput;
  #work: LineOfWork | null = null;
  /** Lines that were sent while another was worked on. */
  #waiting: string[] = [];
  /** The last key was Ctrl-C. */
  #interrupted = false;
  #lastKeyAt = 0;
  /** When a question last went away without an answer. */
  #withdrawnAt = Number.NEGATIVE_INFINITY;
  #exitCode: number | null = null;

  constructor(parts: TerminalChatParts) {
    this.#parts = parts;
    this.#events = createEventView(parts.style);
    this.#input = newPromptInput(parts.history.entries);
  }

  /** Runs until somebody leaves; the view is drawn and closed by whoever opened it. */
  start(view: TerminalView): Promise<number> {
    this.#view = view;
    view.now();
    return this.#left.promise;
  }

  get liveState(): LiveState {
    const { chat, desk } = this.#parts;
    const work = this.#work;
    const question = desk.current;
    return {
      editor: this.#input.editor,
      activity: work && {
        text: this.#interrupted ? 'stopping (Ctrl-C: leave at once)' : work.activity,
        forMs: performance.now() - work.since,
      },
      answers: question && answerHint(question),
      status: this.#interrupted && work === null ? 'Ctrl-C again to leave' : statusText(chat),
    };
  }

  key(key: Key): void {
    const interrupts = key.type === 'press' && key.name === 'interrupt';
    if (interrupts) {
      this.#interrupt();
      return;
    }
    this.#interrupted = false;
    const sinceLastKeyMs = performance.now() - this.#lastKeyAt;
    this.#lastKeyAt = performance.now();
    const writing = this.#input.editor.cells.length > 0;
    const question = this.#parts.desk.current;
    if (question !== null && isMeantAsAnswer(writing, sinceLastKeyMs)) {
      this.#answer(key, question);
      return;
    }
    const { input, action } = pressKey(this.#input, key);
    this.#input = input;
    if (action !== undefined) this.#act(action);
  }

  /** Another question, or none, is to be answered. */
  questionChanged(withdrawn: boolean): void {
    const question = this.#parts.desk.current;
    if (withdrawn) {
      this.#print(`  ${this.#parts.style.dim('no longer asked')}\n`);
      this.#withdrawnAt = performance.now();
    }
    if (question !== null) {
      const columns = this.#view?.columns ?? 80;
      this.#print(this.#events.end() + questionText(question, columns, this.#parts.style));
      this.#events.changeShown(question.input);
    }
    this.#view?.soon();
  }

  /** Ends as soon as what is being done has been stopped and recorded. */
  leave(code: number, why: string): void {
    this.#exitCode ??= code;
    this.#waiting = [];
    if (this.#work === null) this.#left.resolve(this.#exitCode);
    else this.#work.controller.abort(why);
  }

  #answer(key: Key, question: PermissionQuestion): void {
    const answer = answerOf(key, question);
    if (answer === null || !isMeantForThis(performance.now() - this.#withdrawnAt)) return;
    this.#print(`  ${this.#parts.style.dim(answerText(answer))}\n`);
    this.#parts.desk.answer(answer);
  }

  #interrupt(): void {
    const again = this.#interrupted;
    this.#interrupted = true;
    if (again && this.#work !== null) this.#parts.exitNow(EXIT.interrupted);
    else if (again) this.leave(EXIT.interrupted, 'SIGINT');
    else if (this.#work === null) this.#input = cleared(this.#input);
    else {
      this.#takeBackWaiting();
      this.#work.controller.abort('SIGINT');
    }
  }

  /** What was to be done after the turn is handed back instead of being lost. */
  #takeBackWaiting(): void {
    if (this.#waiting.length === 0 || this.#input.editor.cells.length > 0) return;
    this.#input = { ...cleared(this.#input), editor: editorOf(this.#waiting.join('\n')) };
    this.#waiting = [];
  }

  #act(action: InputAction): void {
    switch (action.type) {
      case 'submit':
        this.#submit(action.text);
        break;
      case 'leave':
        this.leave(EXIT.done, 'the user left');
        break;
      case 'candidates':
        this.#print(`${action.candidates.join('  ')}\n`);
        break;
      case 'redraw':
        this.#view?.clear();
        break;
    }
  }

  #submit(text: string): void {
    this.#parts.history.add(text);
    if (this.#work === null) void this.#workOff(text);
    else this.#waiting.push(text);
  }

  async #workOff(first: string): Promise<void> {
    for (let line: string | undefined = first; line !== undefined; line = this.#waiting.shift()) {
      await this.#workOn(line);
    }
    if (this.#exitCode !== null) this.#left.resolve(this.#exitCode);
  }

  async #workOn(line: string): Promise<void> {
    const { style } = this.#parts;
    const work: LineOfWork = {
      controller: new AbortController(),
      since: performance.now(),
      activity: 'working',
    };
    this.#work = work;
    this.#print(`\n${style.bold(shownPrompt(line))}\n`);
    this.#view?.busy(true);
    try {
      await this.#carryOut(line, work);
    } catch (error) {
      this.#print(`${this.#events.end()}${style.red(safeLine(describeError(error)))}\n`);
    } finally {
      this.#work = null;
      this.#view?.busy(false);
    }
  }

  async #carryOut(line: string, work: LineOfWork): Promise<void> {
    const { chat, io } = this.#parts;
    const { signal } = work.controller;
    const command = parseChatCommand(line);
    if (command === null) return this.#takeTurn(line, work);
    const answer = await runChatCommand(command, { chat, io, signal });
    this.#print(answer.text === '' ? '' : `${safeText(answer.text).trimEnd()}\n`);
    if (answer.leave) this.#exitCode ??= EXIT.done;
  }

  async #takeTurn(prompt: string, work: LineOfWork): Promise<void> {
    const events = this.#parts.chat.run(prompt, work.controller.signal);
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done) {
        this.#print(this.#events.end() + this.#endingText(next.value));
        return;
      }
      const event = next.value;
      work.activity = activityAfter(event) ?? work.activity;
      this.#print(this.#events.text(event, this.#view?.columns ?? 80));
    }
  }

  #endingText({ status, cause, message }: AgentResult): string {
    const { style } = this.#parts;
    if (status === 'done') return '';
    if (status === 'interrupted') return `${style.yellow('stopped; what was done is kept')}\n`;
    const because = safeLine([cause, message].filter(Boolean).join(': '));
    return `${style.red(`${status}: ${because}`)}\n`;
  }

  #print(text: string): void {
    this.#view?.print(text);
  }
}
