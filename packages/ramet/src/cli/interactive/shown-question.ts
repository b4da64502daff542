/**
 * The open question on a terminal: when it is shown, and which keys answer it.
 *
 * Invariants
 * 1. Only a question that a person can have seen is answered: it is shown before any key counts for it.
 * 2. It never stands in the middle of an answer: a child may ask while the main agent writes one.
 */
import type { PermissionQuestion } from '../../permission/broker.ts';
import type { EventView } from './event-text.ts';
import type { Key } from './key-parser.ts';
import type { LiveState } from './live-rows.ts';
import {
  answerHint,
  answerOf,
  answerText,
  isMeantAsAnswer,
  isMeantForThis,
  questionText,
  questionTitle,
} from './permission-question.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { TextStyle } from './text-style.ts';

export interface QuestionParts {
  readonly desk: QuestionDesk;
  readonly events: EventView;
  readonly style: TextStyle;
  print(text: string): void;
  columns(): number;
}

export class ShownQuestion {
  readonly #parts: QuestionParts;
  #shown: PermissionQuestion | null = null;
  #lastKeyAt = 0;
  #withdrawnAt = Number.NEGATIVE_INFINITY;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  get live(): Pick<LiveState, 'question' | 'answers'> {
    const question = this.#current;
    if (question === null) return { question: null, answers: null };
    return {
      question: question.parent === null ? null : questionTitle(question),
      answers: answerHint(question),
    };
  }

  /** One went away without an answer a moment ago: a key may still be meant for it. */
  get justWithdrawn(): boolean {
    return !isMeantForThis(performance.now() - this.#withdrawnAt);
  }

  /** Shows the question that is to be answered, unless it is shown or has to wait. */
  show(): void {
    const { desk, events, style, print, columns } = this.#parts;
    const question = desk.current;
    if (question === null || question === this.#shown || events.isAnswering) return;
    this.#shown = question;
    print(questionText(question, columns(), style));
    if (question.parent === null) events.changeShown(question.input);
  }

  /** Another question, or none, is to be answered. */
  changed(withdrawn: boolean): void {
    const { events, style, print } = this.#parts;
    if (withdrawn && this.#shown !== null) {
      print(events.aside(`  ${style.dim('no longer asked')}`));
      this.#withdrawnAt = performance.now();
    }
    this.#shown = null;
    this.show();
  }

  /** Whether the key belongs to the question. `writing`: there is text in the input. */
  take(key: Key, writing: boolean): boolean {
    const sinceLastKeyMs = performance.now() - this.#lastKeyAt;
    this.#lastKeyAt = performance.now();
    const question = this.#current;
    if (question === null || !isMeantAsAnswer(writing, sinceLastKeyMs)) return false;
    const answer = answerOf(key, question);
    if (answer === null || this.justWithdrawn) return true;
    const { desk, events, style, print } = this.#parts;
    print(events.aside(`  ${style.dim(answerText(answer))}`));
    desk.answer(answer);
    return true;
  }

  get #current(): PermissionQuestion | null {
    return this.#shown === this.#parts.desk.current ? this.#shown : null;
  }
}
