/**
 * The prompt cache of the benchmarks' own server: written apart from the emulator, so that a mistake in one does not
 * hide in the other. Tokens are bytes / 4; nothing expires, since no run lasts five minutes.
 *
 * Rules: a request writes only at its marks, and only what has 1,024 tokens; each mark looks back over 20 blocks, its
 * own included, for something written earlier; that is readable once its writer's response has begun; four marks.
 */
import { createHash } from 'node:crypto';

export interface WireBlock {
  type?: string;
  text?: string;
  content?: unknown;
  cache_control?: unknown;
  [field: string]: unknown;
}

export interface WireRequest {
  model: string;
  stream?: boolean;
  tools?: WireBlock[];
  system?: string | WireBlock[];
  messages: { role: string; content: string | WireBlock[] }[];
}

/** Tokens of one request, by how they are billed. */
export interface PromptBill {
  input: number;
  write: number;
  read: number;
  /** Up to and including the last mark: what a later request could read. */
  marked: number;
}

const MINIMUM = 1_024;
const LOOK_BACK = 20;
const MOST_MARKS = 4;

interface Position {
  digest: string;
  /** From the beginning of the prompt to here. */
  bytes: number;
  marked: boolean;
}

export class PromptCache {
  /** Digest of a written prefix, and whether it can be read yet. */
  readonly #entries = new Map<string, boolean>();

  /** What a request costs that is sent now; `begin` makes what it writes readable. */
  bill(request: WireRequest): PromptBill & { begin: () => void } {
    const positions = positionsOf(request);
    const marks = positions.flatMap(({ marked }, index) => (marked ? [index] : []));
    if (marks.length > MOST_MARKS) throw new Error(`${marks.length} marks, and ${MOST_MARKS} are allowed`);
    const tokensTo = (index: number): number => (positions[index]?.bytes ?? 0) / 4;
    const hit = Math.max(-1, ...marks.map((mark) => this.#lookBack(positions, mark)));
    const written = marks.filter((mark) => mark > hit && tokensTo(mark) >= MINIMUM);
    const digests = written.map((mark) => positions[mark]?.digest ?? '');
    for (const digest of digests) if (!this.#entries.has(digest)) this.#entries.set(digest, false);
    const end = written.at(-1) ?? hit;
    return {
      input: tokensTo(positions.length - 1) - tokensTo(end),
      write: tokensTo(end) - tokensTo(hit),
      read: tokensTo(hit),
      marked: tokensTo(marks.at(-1) ?? -1),
      begin: () => {
        for (const digest of digests) this.#entries.set(digest, true);
      },
    };
  }

  /** One of its own that holds the same. */
  copy(): PromptCache {
    const copied = new PromptCache();
    for (const [digest, readable] of this.#entries) copied.#entries.set(digest, readable);
    return copied;
  }

  #lookBack(positions: readonly Position[], mark: number): number {
    for (let index = mark; index >= 0 && index > mark - LOOK_BACK; index--) {
      if (this.#entries.get(positions[index]?.digest ?? '') === true) return index;
    }
    return -1;
  }
}

function positionsOf({ model, tools = [], system = [], messages }: WireRequest): Position[] {
  const chain = createHash('sha256').update(model);
  let bytes = 0;
  return [
    ...tools.map((block) => ['tool', block] as const),
    ...blocksOf(system).map((block) => ['system', block] as const),
    ...messages.flatMap(({ role, content }) => blocksOf(content).map((block) => [role, block] as const)),
  ].map(([place, { cache_control, ...block }]) => {
    const text = JSON.stringify(block);
    bytes += Buffer.byteLength(text);
    const digest = chain.update(`\n${place} ${text}`).copy().digest('base64');
    return { digest, bytes, marked: cache_control !== undefined };
  });
}

export function blocksOf(content: string | WireBlock[]): WireBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
