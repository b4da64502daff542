/**
 * What an MCP server asks, on a terminal: it is shown as the server's words, and a person fills it in field by field, or
 * says no.
 *
 * Invariants
 * 1. It says which server asks. What the server says is cut, indented and without what could move a cursor.
 * 2. No key answers it in its first moments, no letter ever begins an answer, and a line break that came in one piece with
 *    what is before it was not pressed by a person. Nothing is sent before all of it was shown and confirmed.
 * 3. An address is shown whole, and never opened.
 */
import type { ElicitedAnswer, ElicitedQuestion } from '../../../sdk/index.ts';
import { visibleLine, visibleText, wrapText } from '../../../views/text/format.ts';
import type { QuestionDesk } from '../chat/questions/question-desk.ts';
import type { Key } from '../editor/key-parser.ts';
import { editorOf, editorText } from '../editor/line-editor.ts';
import { newPromptInput, type PromptInput, pressKey } from '../editor/prompt-input.ts';
import type { Attention } from '../screen/attention.ts';
import type { LiveState } from '../screen/live-rows.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { type FormField, type FormValue, fieldLine, formFields, readField } from './form-fields.ts';

/** A key pressed this shortly after a question appeared was not meant for it. */
const UNAWARE_MS = 700;
/** No hand is quicker. */
const HAND_MS = 50;
const MOST_LINES = 30;

export interface FormParts {
  readonly desk: QuestionDesk;
  readonly style: TextStyle;
  /** While an answer is written, nothing is asked. */
  readonly events: { readonly isAnswering: boolean; aside(text: string): string };
  print(text: string): void;
  columns(): number;
  readonly attention?: Pick<Attention, 'question'>;
  /** Milliseconds; only differences mean something. */
  now?(): number;
}

type Stage =
  | { readonly kind: 'asked' }
  | { readonly kind: 'choice'; readonly isYes: boolean }
  | {
      readonly kind: 'field';
      readonly at: number;
      readonly input: PromptInput;
      readonly problem: string | null;
    }
  | { readonly kind: 'review' };

type LiveForm = Pick<LiveState, 'question' | 'rule' | 'answers' | 'field'>;

export class ShownForm {
  readonly #parts: FormParts;
  #shown: ElicitedQuestion | null = null;
  #shownAt = 0;
  /** A letter or a line break. */
  #lastWrittenAt = Number.NEGATIVE_INFINITY;
  #fields: readonly FormField[] | null = null;
  /** What was written, by the place of its field. */
  #written: string[] = [];
  #stage: Stage = { kind: 'asked' };

  constructor(parts: FormParts) {
    this.#parts = parts;
  }

  /** Null when no server asks. */
  live(writing: boolean): LiveForm | null {
    const form = this.#current;
    if (form === null) return null;
    const question = `MCP server ${serverName(form)} asks`;
    const base = { question, rule: null, field: null };
    const stage = this.#stage;
    switch (stage.kind) {
      case 'asked':
        if (this.#isNew) return { ...base, answers: 'a question' };
        return {
          ...base,
          answers: writing ? 'Esc cancel · empty the input to answer' : 'Tab answer · Esc cancel',
        };
      case 'choice': {
        const chosen = stage.isYes ? (form.url === undefined ? 'answer it' : 'I open it myself') : 'decline';
        return { ...base, answers: `Enter: ${chosen} · Tab: the other · Esc: back` };
      }
      case 'field': {
        const field = this.#fields?.[stage.at];
        if (field === undefined) return { ...base, answers: '' };
        const { length } = this.#fields ?? [];
        const rule = `${stage.at + 1} of ${length}: ${fieldLine(field)}`;
        const answers = stage.problem ?? 'Enter: next · Esc: back';
        return { question, rule, answers, field: { prompt: `${field.label}: `, editor: stage.input.editor } };
      }
      case 'review':
        return {
          question,
          rule: this.#summary,
          answers: `Enter: send to ${serverName(form)} · Esc: back`,
          field: null,
        };
    }
  }

  /** It takes all keys. */
  get isEntering(): boolean {
    return this.#current !== null && this.#stage.kind !== 'asked';
  }

  show(): void {
    const { desk, events, print } = this.#parts;
    const { form } = desk;
    if (form === null || form === this.#shown || events.isAnswering) return;
    this.#shown = form;
    this.#shownAt = this.#now();
    this.#stage = { kind: 'asked' };
    this.#fields = form.schema === undefined ? [] : formFields(form.schema);
    this.#written = (this.#fields ?? []).map(({ initial }) => initial);
    print(this.#text(form));
    this.#parts.attention?.question(`the MCP server ${serverName(form)}`);
  }

  /** Another question, or none, is to be answered. */
  changed(withdrawn: boolean): void {
    if (this.#shown !== null && withdrawn) this.#say('no longer asked');
    this.#shown = null;
    this.show();
  }

  /** Whether the key belongs to it. `writing`: there is text in the input. */
  take(key: Key, writing: boolean): boolean {
    const form = this.#current;
    if (form === null) return false;
    const name = key.type === 'press' ? key.name : null;
    const isByHand = this.#now() - this.#lastWrittenAt >= HAND_MS;
    if (key.type !== 'press' || name === 'enter') this.#lastWrittenAt = this.#now();
    if (this.#isNew) return name === 'escape' || (name === 'tab' && !writing);
    // Such a line break belongs to a paste.
    if (name === 'enter' && !isByHand) return this.#stage.kind !== 'asked';
    return this.#step(form, name, key, writing);
  }

  #step(form: ElicitedQuestion, name: string | null, key: Key, writing: boolean): boolean {
    const stage = this.#stage;
    switch (stage.kind) {
      case 'asked':
        if (name === 'escape') this.#answer({ action: 'cancel' });
        else if (name === 'tab' && !writing) this.#stage = { kind: 'choice', isYes: this.#canAnswer };
        else return false;
        return true;
      case 'choice':
        if (name === 'escape') this.#stage = { kind: 'asked' };
        if (name === 'tab') this.#stage = { kind: 'choice', isYes: !stage.isYes && this.#canAnswer };
        if (name === 'enter') this.#choose(stage.isYes, form);
        return true;
      case 'field':
        this.#fieldKey(stage, name, key);
        return true;
      case 'review':
        if (name === 'escape') this.#goTo((this.#fields?.length ?? 1) - 1);
        if (name === 'enter') this.#answer({ action: 'accept', content: this.#content });
        return true;
    }
  }

  #choose(isYes: boolean, form: ElicitedQuestion): void {
    if (!isYes) this.#answer({ action: 'decline' });
    else if (form.url !== undefined) this.#answer({ action: 'accept' });
    else if (this.#fields?.length === 0) this.#answer({ action: 'accept', content: {} });
    else this.#goTo(0);
  }

  #fieldKey(stage: Extract<Stage, { kind: 'field' }>, name: string | null, key: Key): void {
    const field = this.#fields?.[stage.at];
    if (field === undefined) return;
    if (name === 'escape') {
      this.#written[stage.at] = editorText(stage.input.editor);
      if (stage.at === 0) this.#stage = { kind: 'asked' };
      else this.#goTo(stage.at - 1);
      return;
    }
    if (name === 'enter') {
      const text = editorText(stage.input.editor);
      const read = readField(field, text);
      this.#written[stage.at] = text;
      if (read.ok) this.#goTo(stage.at + 1);
      else this.#stage = { ...stage, problem: `${field.label}: ${read.problem}` };
      return;
    }
    // Keys that do more than change text have no meaning in a field.
    const isEdit = name !== 'tab' && name !== 'up' && name !== 'down' && name !== 'newline';
    if (isEdit) this.#stage = { ...stage, problem: null, input: pressKey(stage.input, key).input };
  }

  /** The field there, or behind the last all of them to be confirmed. */
  #goTo(at: number): void {
    const field = this.#fields?.[at];
    const input = { ...newPromptInput([]), editor: editorOf(this.#written[at] ?? '') };
    this.#stage = field === undefined ? { kind: 'review' } : { kind: 'field', at, input, problem: null };
  }

  get #content(): Record<string, FormValue> {
    const entries = (this.#fields ?? []).flatMap((field, at) => {
      const read = readField(field, this.#written[at] ?? '');
      return read.ok && read.value !== undefined ? [[field.name, read.value] as const] : [];
    });
    return Object.fromEntries(entries);
  }

  get #summary(): string {
    const content = new Map(Object.entries(this.#content));
    const parts = (this.#fields ?? []).map(({ name, label }) => {
      const value = content.get(name);
      return `${label}: ${value === undefined ? '(empty)' : visibleLine(String(value))}`;
    });
    return parts.join(' · ');
  }

  #answer(answer: ElicitedAnswer): void {
    const words = { accept: 'answered', decline: 'declined', cancel: 'cancelled' };
    this.#say(words[answer.action]);
    this.#parts.desk.answerForm(answer);
  }

  #say(text: string): void {
    const { events, style, print } = this.#parts;
    print(events.aside(`  ${style.dim(text)}`));
  }

  #text(form: ElicitedQuestion): string {
    const { style, columns } = this.#parts;
    const width = Math.max(8, columns() - 7);
    const rows = (text: string): string[] =>
      text
        .split('\n')
        .flatMap((line) => wrapText(line, width))
        .map((row) => `    | ${row}`);
    const said = rows(visibleText(form.message));
    const cut =
      said.length > MOST_LINES ? [`    (${said.length - MOST_LINES} more lines are not shown)`] : [];
    const title = `${style.yellow('?')} ${style.bold(`the MCP server ${serverName(form)} asks`)}`;
    return [title, ...said.slice(0, MOST_LINES), ...cut, ...this.#asksFor(form, rows), ''].join('\n');
  }

  #asksFor({ url }: ElicitedQuestion, rows: (text: string) => string[]): string[] {
    const { style } = this.#parts;
    if (url !== undefined) {
      const host = URL.canParse(url) ? visibleLine(new URL(url).host) : 'no address that can be read';
      const about = `  ${style.dim(`it leads to ${host}; Ramet does not open it`)}`;
      return ['  it wants you to open this address:', ...rows(visibleLine(url)), about];
    }
    if (this.#fields === null)
      return [`  ${style.dim('it asks for something that cannot be filled in here')}`];
    const lines = this.#fields.map((field) => `    - ${fieldLine(field)}`);
    return [...lines, `  ${style.dim('its answer goes to that server: write no password or key')}`];
  }

  get #canAnswer(): boolean {
    return this.#fields !== null;
  }

  get #isNew(): boolean {
    return this.#now() - this.#shownAt < UNAWARE_MS;
  }

  #now(): number {
    return this.#parts.now?.() ?? performance.now();
  }

  get #current(): ElicitedQuestion | null {
    return this.#shown === this.#parts.desk.form ? this.#shown : null;
  }
}

function serverName({ server }: ElicitedQuestion): string {
  return `"${visibleLine(server.slice(0, 60))}"`;
}
