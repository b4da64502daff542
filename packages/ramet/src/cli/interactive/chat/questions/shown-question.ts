/**
 * The open question on a terminal: when it is shown, and which keys answer it.
 *
 * Invariants
 * 1. Only a question that a person can have seen is answered: it is shown before any key counts for it.
 * 2. No key answers it in its first moments, none that is part of a word or begins one, none while there is text in the
 *    input; one letter alone grants nothing lasting, and what came in one piece was not pressed by a person.
 * 3. It never appears in the middle of an answer: a child may ask while the main agent writes one.
 */
import { describeError } from '../../../../schema/errors.ts';
import type { SavedRulePlace } from '../../../../sdk/calls/allow-rules.ts';
import type { PermissionAnswer, PermissionQuestion } from '../../../../sdk/index.ts';
import { safeLine } from '../../../../views/text/format.ts';
import type { Key } from '../../editor/key-parser.ts';
import type { Attention } from '../../screen/attention.ts';
import type { LiveState } from '../../screen/live-rows.ts';
import type { TextStyle } from '../../screen/text-style.ts';
import type { EventView } from '../event-text.ts';
import {
  allRules,
  answerHint,
  answerOf,
  answerText,
  denied,
  furtherLines,
  isByHand,
  isMeantForThis,
  isNew,
  isPartOfWord,
  type QuestionShape,
  type QuestionState,
  questionText,
  questionTitle,
  SETTLE_MS,
} from './permission-question.ts';
import { afterwards, type QuestionDesk, type RuleDesk } from './question-desk.ts';
import {
  checkCoverage,
  type EntryStep,
  enterKey,
  entryRows,
  newAlways,
  newReason,
  type QuestionEntry,
} from './question-entry.ts';

export interface QuestionParts {
  readonly desk: QuestionDesk;
  readonly events: EventView;
  readonly style: TextStyle;
  print(text: string): void;
  columns(): number;
  rows(): number;
  /** Something else is to be shown. */
  soon?(): void;
  readonly rules: RuleDesk;
  readonly attention?: Pick<Attention, 'question'>;
  /** Esc leaves what is shown: it answers nothing there. */
  isEscapeTaken?(): boolean;
  /** Milliseconds; only differences mean something. */
  now?(): number;
  /** Does something after that many milliseconds, unless what it returns is called before. */
  later?(ms: number, act: () => void): () => void;
}

type LiveQuestion = Pick<LiveState, 'question' | 'rule' | 'answers' | 'field'>;

/** A letter that answers, unless it turns out to begin a word. */
interface Held {
  readonly key: Key;
  readonly answer: PermissionAnswer;
  readonly at: number;
  drop(): void;
}

export class ShownQuestion {
  readonly #parts: QuestionParts;
  #shown: PermissionQuestion | null = null;
  #shownAt = 0;
  /** Lines of it that are not shown yet. */
  #rest: readonly string[] = [];
  #lastLetterAt = Number.NEGATIVE_INFINITY;
  #entry: QuestionEntry | null = null;
  #held: Held | null = null;
  #asked: { readonly key: Key; readonly at: number } | null = null;
  #withheld: Key | null = null;
  #withdrawnAt = Number.NEGATIVE_INFINITY;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  /** `writing`: there is text in the input; `choosing`: a list takes the keys. */
  live(writing: boolean, choosing = false): LiveQuestion {
    const question = this.#current;
    if (question === null) return { question: null, rule: null, answers: null, field: null };
    const title = question.parent === null ? null : questionTitle(question);
    if (this.#entry !== null) {
      const { rule, keys, field } = entryRows(this.#entry);
      return { question: rule === null ? title : null, rule, answers: keys, field };
    }
    const isEscapeTaken = this.#isEscapeTaken;
    const shape = { rest: this.#rest.length, columns: this.#parts.columns(), isEscapeTaken };
    const answers = answerHint(question, choosing ? 'choosing' : this.#state(writing), shape);
    return { question: title, rule: null, answers, field: null };
  }

  /** A rule or a reason is being written, or an "always" confirmed. */
  get isEntering(): boolean {
    return this.#current !== null && this.#entry !== null;
  }

  /** One went away without an answer a moment ago: a key may still be meant for it. */
  get justWithdrawn(): boolean {
    return !isMeantForThis(this.#now() - this.#withdrawnAt);
  }

  /** Shows the question that is to be answered, unless it is shown or has to wait. */
  show(): void {
    const { desk, events, print } = this.#parts;
    const question = desk.current;
    if (question === null || question === this.#shown || events.isAnswering) return;
    this.#shown = question;
    this.#shownAt = this.#now();
    this.#entry = null;
    const { text, rest } = questionText(question, this.#shape);
    this.#rest = rest;
    print(text);
    this.#parts.attention?.question(question.tool);
    if (question.parent === null) events.changeShown(question.input);
  }

  /** The first page of the open question; empty for none. */
  get text(): string {
    return this.#current === null ? '' : questionText(this.#current, this.#shape).text;
  }

  /** Shows more of a long question, or all; false if there is no more. */
  showMore(isAll: boolean): boolean {
    if (this.#current === null || this.#rest.length === 0) return false;
    const { text, rest } = furtherLines(this.#rest, this.#shape, isAll);
    this.#rest = rest;
    this.#parts.print(text);
    return true;
  }

  /** Another question, or none, is to be answered. */
  changed(withdrawn: boolean): void {
    const { events, style, print } = this.#parts;
    if (withdrawn && this.#shown !== null) {
      print(events.aside(`  ${style.dim('no longer asked')}`));
      this.#withdrawnAt = this.#now();
    }
    this.#held?.drop();
    this.#shown = null;
    this.#entry = null;
    this.#rest = [];
    this.show();
  }

  /** Whether the key belongs to the question; any other goes to the input. `writing`: there is text in that. */
  take(key: Key, writing: boolean): boolean {
    const partOfWord = key.type === 'text' && isPartOfWord(this.#now() - this.#lastLetterAt);
    const isBlank = key.type === 'text' && key.text === ' ' && !writing;
    // Blanks that turn pages are no letters: nobody waits between two of them.
    if (key.type === 'text' && !(isBlank && !partOfWord)) this.#lastLetterAt = this.#now();
    this.#withheld = null;
    const question = this.#current;
    const state = this.#state(writing);
    if (question === null) return false;
    if (this.#isEscapeTaken && key.type === 'press' && key.name === 'escape' && this.#entry === null) {
      this.#held?.drop();
      return false;
    }
    // A person who wants to see more presses it too early easily, and no prompt begins with it. One who means "no" does not
    // mean to stop the turn.
    if (state === 'new') return isBlank || (key.type === 'press' && key.name === 'escape');
    if (this.#held !== null && this.#takeAfter(this.#held, key)) return true;
    if (this.#entry !== null) {
      const isEnter = key.type === 'press' && key.name === 'enter';
      if (isEnter && this.#asked !== null && !isByHand(this.#now() - this.#asked.at)) {
        // The letter that asked for an "always" was text, and so was its Enter.
        this.#entry = null;
        this.#withheld = this.#asked.key;
        return true;
      }
      const step = enterKey(this.#entry, key, (rules) => this.#parts.rules.problem(rules));
      if (step.type !== 'left') return this.#follow(step);
      this.#entry = null;
      this.#withheld = key.type === 'text' ? (this.#asked?.key ?? null) : null;
    }
    if (key.type === 'text' && (partOfWord || state === 'writing')) return false;
    return this.#decide(key, question, state);
  }

  /** What follows a letter closely says what that was; false if the key is none of the question's. */
  #takeAfter(held: Held, key: Key): boolean {
    held.drop();
    const name = key.type === 'press' ? key.name : null;
    if (name === 'enter' && isByHand(this.#now() - held.at)) this.#answer(held.answer);
    else if (name === 'escape') this.#answer(denied());
    else if (name !== 'backspace') this.#withheld = held.key;
    return name === 'enter' || name === 'escape' || name === 'backspace';
  }

  /** A key that is not part of a word. */
  #decide(key: Key, question: PermissionQuestion, state: QuestionState): boolean {
    if (state === 'open' && key.type === 'press' && key.name === 'tab') {
      this.#entry = newReason();
      this.#asked = null;
      return true;
    }
    // One more than there are pages would be in the input unseen, and no letter would answer.
    if (key.type === 'text' && key.text === ' ') return this.showMore(false) || true;
    const answer = answerOf(key, question);
    if (answer === null) return false;
    this.#withheld = null;
    if (this.justWithdrawn) return true;
    if (answer.kind === 'always') {
      this.#entry = newAlways(answer.rules);
      this.#asked = { key, at: this.#now() };
      this.#parts.print(allRules(answer.rules, this.#shape));
    } else if (key.type === 'text') this.#hold(key, answer);
    else this.#answer(answer);
    return true;
  }

  #hold(key: Key, answer: PermissionAnswer): void {
    const { later = afterwards } = this.#parts;
    const cancel = later(SETTLE_MS, () => {
      this.#held = null;
      this.#answer(answer);
    });
    const drop = (): void => {
      cancel();
      this.#held = null;
    };
    this.#held = { key, answer, at: this.#now(), drop };
  }

  #follow(step: Exclude<EntryStep, { type: 'left' }>): true {
    this.#entry = step.type === 'entry' ? step.entry : null;
    checkCoverage(this.#entry, this.#current?.covers, (from, to) => {
      if (this.#entry === from) this.#entry = to;
      this.#parts.soon?.();
    });
    if (step.type === 'denied') this.#answer(denied(step.reason));
    if (step.type === 'always') {
      if (step.place !== 'session') void this.#save(step.place, step.rules);
      this.#answer({ kind: 'always', rules: step.rules }, step.covers !== false);
    }
    return true;
  }

  async #save(where: SavedRulePlace, rules: readonly string[]): Promise<void> {
    const { events, style, print, rules: desk } = this.#parts;
    try {
      const place = safeLine(await desk.save(where, rules));
      print(events.aside(`  ${style.dim(`saved in ${place}`)}`));
    } catch (error) {
      const why = safeLine(describeError(error));
      print(events.aside(`  ${style.red(`${why}; the rule holds for this session`)}`));
    }
  }

  /** A letter that was taken for an answer, and with the last key turns out to be text for the input. */
  get withheld(): Key | null {
    return this.#withheld;
  }

  #answer(answer: PermissionAnswer, covers = true): void {
    const { desk, events, style, print } = this.#parts;
    const { length } = answer.kind === 'denied' ? [] : this.#rest;
    const unseen = length === 0 ? '' : ` (${length} lines of it were not shown)`;
    print(events.aside(`  ${style.dim(answerText(answer, covers) + unseen)}`));
    desk.answer(answer);
  }

  #state(writing: boolean): QuestionState {
    if (isNew(this.#now() - this.#shownAt)) return 'new';
    return writing ? 'writing' : 'open';
  }

  get #isEscapeTaken(): boolean {
    return this.#parts.isEscapeTaken?.() ?? false;
  }

  get #shape(): QuestionShape {
    const { columns, rows, style } = this.#parts;
    return { columns: columns(), rows: rows(), style };
  }

  #now(): number {
    return this.#parts.now?.() ?? performance.now();
  }

  get #current(): PermissionQuestion | null {
    return this.#shown === this.#parts.desk.current ? this.#shown : null;
  }
}
