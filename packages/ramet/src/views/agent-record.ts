/**
 * What is recorded of one agent, step by step as it is recorded: what it was told, what it answered, its calls, how it ended.
 * It reads the journal and nothing else, so the agent may run in another process, or have ended.
 */
import { contentOfBytes } from '../conversation/frozen-block.ts';
import type { JournalReader } from '../journal/journal.ts';
import { openReader } from '../journal/sessions.ts';
import { AGENT_MESSAGE, type OtherBlock, type ToolResultBlock } from '../schema/content.ts';
import { describeError } from '../schema/errors.ts';
import type { Digest, EventOf, JournalEvent, RecordedEvent } from '../schema/events.ts';
import type { AgentId, SessionId } from '../schema/ids.ts';
import { compactedLine, retryLine } from './run-notes.ts';
import { tokens } from './text/format.ts';

export type RecordedStep =
  /** `isPrompt`: what it is to do; otherwise what others had to say. */
  | { readonly kind: 'told'; readonly text: string; readonly isPrompt: boolean }
  /** The text may be empty. */
  | { readonly kind: 'answered'; readonly text: string; readonly hasThought: boolean }
  | {
      readonly kind: 'called';
      readonly name: string;
      readonly input: unknown;
      readonly result: ToolResultBlock;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'noted';
      readonly tone: 'quiet' | 'warning' | 'failure' | 'success';
      readonly text: string;
    };

const SHOWN: readonly JournalEvent['type'][] = [
  'message.appended',
  'response.completed',
  'tool.completed',
  'conversation.replaced',
  'request.failed',
  'warning.raised',
  'permission.asked',
  'permission.answered',
  'agent.resumed',
  'agent.ended',
];

/** Of what was there before anybody looked, the latest: the rest is for `ramet show`. */
const MOST_EVENTS = 600;

/** Follows one agent. Disposing of it closes the journal. */
export class AgentRecord implements Disposable {
  readonly agent: AgentId;
  readonly #reader: JournalReader;
  readonly #steps: RecordedSteps;
  #after = 0;
  #isFirst = true;

  constructor(place: { readonly project: string; readonly session: SessionId }, agent: AgentId) {
    this.agent = agent;
    this.#reader = openReader({ ...place, forgiving: true });
    this.#steps = new RecordedSteps(this.#reader);
  }

  /** What was recorded since it was last asked. */
  read(): RecordedStep[] {
    const events = [...this.#reader.events({ agent: this.agent, after: this.#after, types: SHOWN })];
    this.#after = events.at(-1)?.seq ?? this.#after;
    const left = this.#isFirst ? Math.max(0, events.length - MOST_EVENTS) : 0;
    this.#isFirst = false;
    const earlier: RecordedStep[] =
      left === 0 ? [] : [noted('quiet', `(${left} earlier events: ramet show ${this.agent})`)];
    return [...earlier, ...events.slice(left).flatMap((recorded) => this.#steps.of(recorded))];
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }
}

/** The steps that events of one agent are, in order. */
export class RecordedSteps {
  readonly #reader: JournalReader;
  /** Inputs of calls that have no result yet. */
  readonly #inputs = new Map<string, unknown>();

  constructor(reader: JournalReader) {
    this.#reader = reader;
  }

  of({ event }: RecordedEvent): RecordedStep[] {
    try {
      return this.#stepsOf(event);
    } catch (error) {
      return [noted('failure', `(cannot be shown: ${describeError(error)})`)];
    }
  }

  #stepsOf(event: JournalEvent): RecordedStep[] {
    switch (event.type) {
      case 'message.appended':
        return event.cause === 'adopted' ? [this.#answered(event)] : this.#told(event);
      case 'response.completed':
        return event.kept && event.source === undefined ? [this.#answered(event)] : [];
      case 'tool.completed':
        return this.#called(event);
      case 'conversation.replaced':
        return event.cause === 'compaction' ? [noted('quiet', compactedLine(event, tokens))] : [];
      case 'request.failed': {
        const retry = retryLine(event);
        return retry === null ? [] : [noted('warning', retry)];
      }
      case 'warning.raised':
        return [noted('warning', event.message)];
      case 'permission.asked':
        return [noted('warning', `? asks: ${event.tool} ${event.summary}`)];
      case 'permission.answered':
        return [noted('quiet', `answered: ${event.reason ?? event.answer}`)];
      case 'agent.resumed':
        return [noted('quiet', 'resumed')];
      case 'agent.ended': {
        const ending = [event.status, event.cause, event.message].filter(Boolean).join(': ');
        return event.status === 'done'
          ? [noted('success', `✓ ${ending}`)]
          : [noted('failure', `✗ ${ending}`)];
      }
      default:
        return [];
    }
  }

  /** What Ramet adds to a prompt comes before a person's or an agent's words. */
  #told({ role, cause, blocks }: EventOf<'message.appended'>): RecordedStep[] {
    if (role !== 'user' || cause === 'tool_results') return [];
    const isPrompt = cause === 'prompt';
    const text = this.#contents(isPrompt ? blocks.slice(-1) : blocks)
      .map(textOf)
      .join('\n')
      .trim();
    return text === '' ? [] : [{ kind: 'told', text: isPrompt ? text : withSenders(text), isPrompt }];
  }

  #answered({ blocks }: { readonly blocks: readonly Digest[] }): RecordedStep {
    const contents = this.#contents(blocks);
    for (const { type, id, input } of contents) if (type === 'tool_use') this.#inputs.set(String(id), input);
    const hasThought = contents.some(({ type }) => type === 'thinking');
    return { kind: 'answered', text: contents.map(textOf).join('').trim(), hasThought };
  }

  #called({ call, name, result: digest, durationMs }: EventOf<'tool.completed'>): RecordedStep[] {
    const input = this.#inputs.get(call) ?? {};
    this.#inputs.delete(call);
    // What was recorded as the result of a call is one.
    const [result] = this.#contents([digest]) as unknown as ToolResultBlock[];
    return result === undefined ? [] : [{ kind: 'called', name, input, result, durationMs }];
  }

  #contents(digests: readonly Digest[]): OtherBlock[] {
    return digests.map((digest) => contentOfBytes(this.#reader.block(digest)));
  }
}

function noted(tone: (RecordedStep & { kind: 'noted' })['tone'], text: string): RecordedStep {
  return { kind: 'noted', tone, text };
}

const MESSAGES = new RegExp(`<${AGENT_MESSAGE} from="([^"]*)">\\n([^]*?)\\n</${AGENT_MESSAGE}>`, 'g');
const SIGNS: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** Messages as people read them. Their text is quoted, so it can neither end its element nor open another. */
function withSenders(text: string): string {
  return text.replace(MESSAGES, (_, from: string, said: string) => {
    const sender = from.replace(/&(?:lt|gt|quot|amp);/g, (sign) => SIGNS[sign] ?? sign);
    return `message from ${sender.replace(/, not the user$/, '')}: ${said}`;
  });
}

function textOf(block: OtherBlock): string {
  return block.type === 'text' ? String(block.text) : '';
}
