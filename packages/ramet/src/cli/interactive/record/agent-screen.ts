/**
 * One agent's conversation on the whole screen: what is recorded of it, and what it is writing just now. It follows the end
 * until a person scrolls. It knows no keys.
 */
import type { AgentId } from '../../../schema/ids.ts';
import type { SessionEvent } from '../../../sdk/session/session.ts';
import type { AgentRecord } from '../../../views/agent-record.ts';
import { displayWidth, fitText } from '../../../views/text/format.ts';
import { AnswerStream } from '../markdown/answer-stream.ts';
import { type Block, lineBlocks } from '../markdown/blocks.ts';
import type { Look } from '../markdown/look.ts';
import type { Row } from '../markdown/wrapped-rows.ts';
import type { FullScreen, LiveRow, ScreenSize } from '../screen/screen.ts';
import type { TextStyle } from '../screen/text-style.ts';
import { rowsOf, ScrolledRows } from './scrolled-rows.ts';
import { stepBlocks } from './step-blocks.ts';

export interface AgentScreenParts {
  readonly record: AgentRecord;
  readonly style: TextStyle;
  readonly look: Look;
  /** What it is, above its conversation. */
  title(): string;
  /** Milliseconds; only differences mean something. */
  now?(): number;
}

/** The journal is read no more often: a frame may come with every key. */
const READ_MS = 80;

export class AgentScreen implements FullScreen {
  readonly #parts: AgentScreenParts;
  readonly #text = new ScrolledRows();
  #answer: UnrecordedAnswer;
  /** The answer that streamed is complete, and not yet read from the record. */
  #isAnswered = false;
  /** They follow what was recorded before them. */
  #notes: string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AgentScreenParts) {
    this.#parts = parts;
    this.#answer = new UnrecordedAnswer(parts.look);
  }

  get agent(): AgentId {
    return this.#parts.record.agent;
  }

  /** Something about the agent that no record of it holds, such as a question. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** What it had written of its answer before anybody looked. */
  written(text: string): void {
    if (text !== '') this.#answer.push(text);
  }

  take(event: SessionEvent): void {
    if (event.agentId !== this.agent) return;
    if (event.type === 'text_delta') {
      if (this.#isAnswered) this.#forgetAnswer();
      this.#answer.push(event.text);
    } else if (event.type === 'assistant') this.#isAnswered = true;
    else if (event.type === 'request_failed') this.#forgetAnswer();
  }

  rows({ columns, rows }: ScreenSize): readonly LiveRow[] {
    this.#read(columns);
    if (rows <= 0) return [];
    const height = rows - 1;
    const { rows: shown, below } = this.#text.shown({ columns, height }, this.#answer.rows(columns));
    return [this.#head(columns, below), ...shown];
  }

  scroll(by: number): void {
    this.#text.scroll(by);
  }

  page(direction: 1 | -1): void {
    this.#text.page(direction);
  }

  toStart(): void {
    this.#text.toStart();
  }

  toEnd(): void {
    this.#text.toEnd();
  }

  #read(columns: number): void {
    const now = this.#parts.now?.() ?? performance.now();
    if (now - this.#readAt < READ_MS) return;
    this.#readAt = now;
    const { record, style, look } = this.#parts;
    for (const step of record.read()) {
      if (step.kind === 'answered' && this.#isAnswered) this.#forgetAnswer();
      this.#text.add(stepBlocks(step, { columns, style, look }));
    }
    this.#text.add(this.#notes.flatMap((text) => lineBlocks(text)));
    this.#notes = [];
  }

  #forgetAnswer(): void {
    this.#isAnswered = false;
    this.#answer = new UnrecordedAnswer(this.#parts.look);
  }

  #head(columns: number, below: number): LiveRow {
    const more = below === 0 ? '' : ` (${below} more below)`;
    const text = fitText(this.#parts.title(), Math.max(1, columns - more.length)) + more;
    const fitted = fitText(text, columns);
    return { text: this.#parts.style.inverse(fitted), width: displayWidth(fitted) };
  }
}

/** Rows of an answer that are kept while it is written; what is recorded of it is shown no longer either. */
const MOST_ROWS = 4_000;
/** A block that is taller is finished row by row: else every frame would lay all of it out again. */
const TALLEST_BLOCK = 100;

/** An answer while it is being written. */
class UnrecordedAnswer {
  readonly #stream: AnswerStream;
  #blocks: Block[] = [];
  #rows: Row[] = [];
  #columns = 0;

  constructor(look: Look) {
    this.#stream = new AnswerStream(look);
  }

  push(text: string): void {
    if (this.#blocks.length === 0) this.#add(lineBlocks('\n'));
    this.#add(this.#stream.push(text));
  }

  #add(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#blocks.push(block);
      for (const row of rowsOf(block, this.#columns)) this.#rows.push(row);
    }
    // By half, so that this is seldom.
    if (this.#rows.length > MOST_ROWS * 2) this.#rows = this.#rows.slice(-MOST_ROWS);
    if (this.#blocks.length > MOST_ROWS * 2) this.#blocks = this.#blocks.slice(-MOST_ROWS);
  }

  rows(columns: number): readonly Row[] {
    if (columns !== this.#columns) {
      this.#columns = columns;
      this.#rows = this.#blocks.flatMap((block) => rowsOf(block, columns)).slice(-MOST_ROWS);
    }
    this.#add(this.#stream.release(columns, TALLEST_BLOCK));
    return [...this.#rows, ...this.#stream.rows(columns)];
  }
}
