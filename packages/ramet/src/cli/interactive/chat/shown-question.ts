/**
 * The open question on a terminal: when it is shown, and which keys answer it.
 *
 * Invariants
 * 1. Only a question that a person can have seen is answered: it is shown before any key counts for it.
 * 2. No key answers it in its first moments, none that is part of a word, none while there is text in the input; and
 *    one letter alone grants nothing lasting.
 * 3. It never appears in the middle of an answer: a child may ask while the main agent writes one.
 */
import type { PermissionAnswer, PermissionQuestion } from '../../../sdk/index.ts';
import type { Key } from '../editor/key-parser.ts';
import type { LiveState } from '../screen/live-rows.ts';
import type { TextStyle } from '../screen/text-style.ts';
import type { EventView } from './event-text.ts';
import {
  answerHint,
  answerOf,
  answerText,
  isMeantForThis,
  isNew,
  isPartOfWord,
  type QuestionState,
  questionText,
  questionTitle,
} from './permission-question.ts';
import type { QuestionDesk } from './question-desk.ts';

export interface QuestionParts {
  readonly desk: QuestionDesk;
  readonly events: EventView;
  readonly style: TextStyle;
  print(text: string): void;
  columns(): number;
  /** Milliseconds; only differences mean something. */
  now?(): number;
}

export class ShownQuestion {
  readonly #parts: QuestionParts;
  #shown: PermissionQuestion | null = null;
  #shownAt = 0;
  #lastLetterAt = Number.NEGATIVE_INFINITY;
  #confirming = false;
  #asked: Key | null = null;
  #withheld: Key | null = null;
  #withdrawnAt = Number.NEGATIVE_INFINITY;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  /** `writing`: there is text in the input. */
  live(writing: boolean): Pick<LiveState, 'question' | 'answers'> {
    const question = this.#current;
    if (question === null) return { question: null, answers: null };
    return {
      question: question.parent === null ? null : questionTitle(question),
      answers: answerHint(question, this.#state(writing)),
    };
  }

  /** One went away without an answer a moment ago: a key may still be meant for it. */
  get justWithdrawn(): boolean {
    return !isMeantForThis(this.#now() - this.#withdrawnAt);
  }

  /** Shows the question that is to be answered, unless it is shown or has to wait. */
  show(): void {
    const { desk, events, style, print, columns } = this.#parts;
    const question = desk.current;
    if (question === null || question === this.#shown || events.isAnswering) return;
    this.#shown = question;
    this.#shownAt = this.#now();
    this.#confirming = false;
    print(questionText(question, columns(), style));
    if (question.parent === null) events.changeShown(question.input);
  }

  /** Another question, or none, is to be answered. */
  changed(withdrawn: boolean): void {
    const { events, style, print } = this.#parts;
    if (withdrawn && this.#shown !== null) {
      print(events.aside(`  ${style.dim('no longer asked')}`));
      this.#withdrawnAt = this.#now();
    }
    this.#shown = null;
    this.show();
  }

  /** Whether the key belongs to the question; any other goes to the input. `writing`: there is text in that. */
  take(key: Key, writing: boolean): boolean {
    const partOfWord = key.type === 'text' && isPartOfWord(this.#now() - this.#lastLetterAt);
    if (key.type === 'text') this.#lastLetterAt = this.#now();
    const question = this.#current;
    const state = this.#state(writing);
    this.#withheld = state === 'confirming' && key.type === 'text' ? this.#asked : null;
    this.#confirming = false;
    if (question === null || state === 'new') return false;
    if (state === 'confirming' && key.type === 'press' && key.name === 'enter') {
      this.#answer({ kind: 'always', rules: question.suggestedRules });
      return true;
    }
    if (key.type === 'text' && (partOfWord || state === 'writing')) return false;
    const answer = answerOf(key, question);
    if (answer === null) return false;
    if (this.justWithdrawn) return true;
    if (answer.kind === 'always') {
      this.#confirming = true;
      this.#asked = key;
      this.#withheld = null;
    } else this.#answer(answer);
    return true;
  }

  /** A letter that was taken for an answer, and with the key that was not taken turns out to begin a word. */
  get withheld(): Key | null {
    return this.#withheld;
  }

  #answer(answer: PermissionAnswer): void {
    const { desk, events, style, print } = this.#parts;
    print(events.aside(`  ${style.dim(answerText(answer))}`));
    desk.answer(answer);
  }

  #state(writing: boolean): QuestionState {
    if (isNew(this.#now() - this.#shownAt)) return 'new';
    if (this.#confirming) return 'confirming';
    return writing ? 'writing' : 'open';
  }

  #now(): number {
    return this.#parts.now?.() ?? performance.now();
  }

  get #current(): PermissionQuestion | null {
    return this.#shown === this.#parts.desk.current ? this.#shown : null;
  }
}
