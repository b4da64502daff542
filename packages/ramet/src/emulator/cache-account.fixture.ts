/** For tests of the cache: blocks of an exact number of tokens, and an account that asks for them. */
import { expect } from 'vitest';
import { type CacheAdmission, PromptCache } from './cache.ts';
import { parseRequest } from './message-request.ts';
import { buildPrompt, type PromptOrigin } from './prompt.ts';

export type Block = Record<string, unknown>;

export const short: Block = { cache_control: { type: 'ephemeral' } };
export const long: Block = { cache_control: { type: 'ephemeral', ttl: '1h' } };

/** A text block of exactly `tokens` tokens; `fill` tells blocks of one size apart. */
export function text(tokens: number, fill = 'x', mark: Block = {}): Block {
  return { type: 'text', text: fill.repeat(tokens * 4 - '{"type":"text","text":""}'.length), ...mark };
}

export function user(...content: Block[]): Block {
  return { role: 'user', content };
}

export function tool(name: string, tokens: number, mark: Block = {}): Block {
  const overhead = JSON.stringify({ name, description: '', input_schema: {} }).length;
  return { name, description: 'd'.repeat(tokens * 4 - overhead), input_schema: {}, ...mark };
}

export class Account {
  readonly #cache = new PromptCache();

  admit(fields: Block, at = 0, origin: Partial<PromptOrigin> = {}): CacheAdmission {
    const body = JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 9, ...fields });
    const prompt = buildPrompt(parseRequest(body, { counting: false }), { key: 'k', betas: [], ...origin });
    return this.#cache.admit(prompt, at);
  }

  begin(admission: CacheAdmission): void {
    this.#cache.begin(admission);
  }

  /** Asks, begins the response, and says [read, written for 5 min, written for 1 h, input]. */
  ask(fields: Block, at = 0, origin: Partial<PromptOrigin> = {}): [number, number, number, number] {
    const admission = this.admit(fields, at, origin);
    this.begin(admission);
    return summary(admission);
  }
}

export function summary({ usage }: CacheAdmission): [number, number, number, number] {
  expect(usage.cache_creation_input_tokens).toBe(
    usage.cache_creation.ephemeral_5m_input_tokens + usage.cache_creation.ephemeral_1h_input_tokens,
  );
  return [
    usage.cache_read_input_tokens,
    usage.cache_creation.ephemeral_5m_input_tokens,
    usage.cache_creation.ephemeral_1h_input_tokens,
    usage.input_tokens,
  ];
}
