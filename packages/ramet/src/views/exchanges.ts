/**
 * What was said between a person and the main agent, prompt by prompt, for a person who comes back to it. A person's
 * words are the last block of a prompt: what Ramet adds to them comes before.
 */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { UserMistake } from '../schema/errors.ts';
import type { Digest, EventOf, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId } from '../schema/ids.ts';

export interface SaidExchange {
  /** Counted from 1. */
  readonly number: number;
  readonly time: number;
  /** Of the prompt, in the journal. */
  readonly seq: number;
  /** The first turn that answers it, counted over the session as `ramet undo --turn` does. */
  readonly turn: number;
  readonly prompt: string;
  /** The last text of the answer; null before the first. */
  readonly answer: string | null;
  /** How many tools were used. */
  readonly calls: number;
}

interface RecordedExchange {
  readonly time: number;
  readonly seq: number;
  readonly turn: number;
  readonly prompt: Digest;
  /** The blocks of each response, the oldest first. */
  readonly responses: (readonly Digest[])[];
  calls: number;
}

/** Gathers the exchanges of one agent in one reading; `of` loads the words of those that are wanted. */
export class RecordedExchanges {
  readonly #agent: AgentId;
  readonly #exchanges: RecordedExchange[] = [];
  #turns = 0;
  /** Prompts of another session, with whose conversation this one began. */
  #before = 0;

  constructor(agent: AgentId) {
    this.#agent = agent;
  }

  get count(): number {
    return this.#exchanges.length;
  }

  take({ agent, event, time, seq }: RecordedEvent): void {
    if (agent !== this.#agent) return;
    const isAdopted = event.type === 'message.appended' && event.cause === 'adopted';
    if (event.type === 'response.completed' || isAdopted) this.#turns += 1;
    if (event.type === 'conversation.replaced') this.#replace(event);
    const current = this.#exchanges.at(-1);
    if (event.type === 'message.appended' && event.cause === 'prompt') {
      const prompt = event.blocks.at(-1);
      if (prompt === undefined) return;
      this.#exchanges.push({ time, seq, turn: this.#turns + 1, prompt, responses: [], calls: 0 });
    } else if (current === undefined) return;
    else if (isAdopted) current.responses.push(event.blocks);
    else if (event.type === 'response.completed' && event.kept && event.source === undefined)
      current.responses.push(event.blocks);
    else if (event.type === 'tool.completed') current.calls += 1;
  }

  #replace({ cause, prompts = 0, takes }: EventOf<'conversation.replaced'>): void {
    if (takes !== undefined) this.#before = takes.prompts.length;
    if (cause === 'rewind') this.#exchanges.splice(Math.max(0, prompts - this.#before));
  }

  /** The last `most` of them, the oldest first. */
  of(reader: JournalReader, most: number = Number.POSITIVE_INFINITY): SaidExchange[] {
    const first = Math.max(0, this.#exchanges.length - most);
    return this.#exchanges.slice(first).map(({ time, seq, turn, prompt, responses, calls }, index) => ({
      number: first + index + 1,
      time,
      seq,
      turn,
      prompt: textOf(reader, [prompt]) ?? '',
      answer: answerOf(reader, responses),
      calls,
    }));
  }
}

/** Gathers what each agent said last, in one reading. */
export class LastAnswers {
  readonly #responses = new Map<AgentId, (readonly Digest[])[]>();

  take({ agent, event }: RecordedEvent): void {
    if (agent === null || !isAnswer(event)) return;
    const responses = this.#responses.get(agent) ?? [];
    responses.push(event.blocks);
    this.#responses.set(agent, responses);
  }

  of(reader: JournalReader, agent: AgentId): string | null {
    return answerOf(reader, this.#responses.get(agent) ?? []);
  }
}

function isAnswer(event: JournalEvent): event is EventOf<'response.completed' | 'message.appended'> {
  if (event.type === 'message.appended') return event.cause === 'adopted';
  return event.type === 'response.completed' && event.kept && event.source === undefined;
}

/** For a number that no prompt has; `count` is how many there are. */
export function noPrompt(wanted: number, count: number): UserMistake {
  const known = count === 0 ? 'nothing was asked yet' : `there are 1 to ${count}`;
  return new UserMistake('no_prompt', `there is no prompt ${wanted}: ${known}`);
}

export function lastExchanges(reader: JournalReader, agent: AgentId, most: number): SaidExchange[] {
  const recorded = new RecordedExchanges(agent);
  for (const event of reader.events({ agent })) recorded.take(event);
  return recorded.of(reader, most);
}

/** The end of an answer. What begins inside a code block stays one. */
export function lastLines(text: string, most: number): string {
  const lines = text.split('\n');
  if (lines.length <= most) return text;
  const fences = lines.slice(0, -most).filter((line) => /^ {0,3}(```|~~~)/.test(line));
  const opened = fences.length % 2 === 1 ? [fences.at(-1)?.trim() ?? ''] : [];
  return ['…', '', ...opened, ...lines.slice(-most)].join('\n');
}

function answerOf(reader: JournalReader, responses: readonly (readonly Digest[])[]): string | null {
  for (const blocks of responses.toReversed()) {
    const text = textOf(reader, blocks);
    if (text !== null) return text;
  }
  return null;
}

/** Null where there is no text. */
function textOf(reader: JournalReader, blocks: readonly Digest[]): string | null {
  const contents = blocks.map((digest) => contentOfBytes(reader.block(digest)));
  const text = contents.map((block) => (block.type === 'text' ? String(block.text) : '')).join('');
  return text.trim() === '' ? null : text.trimEnd();
}
