/**
 * The automatic prompt cache of chat completions: no marks, nothing to ask for. A prompt of 1,024 tokens or more is
 * cached in steps of 128; a later one reads as many whole steps as begin it. No I/O and no clock: times come in.
 *
 * Invariants
 * 1. Tokens are bytes / 4, as for the Messages API, so a step is 512 bytes of the prompt.
 * 2. What a request writes can be read once its response has begun.
 * 3. A step lives for five minutes from its last use. The documentation names longer times: this is the dearer reading.
 * 4. Writes cost nothing and are not reported.
 */
import { hash } from 'node:crypto';
import type { InputUsage } from '../messages/cache.ts';

const STEP_BYTES = 128 * 4;
const MINIMUM_STEPS = 1024 / 128;
const LIFETIME_MS = 300_000;
const FIRST_SWEEP = 65_536;

export interface ChatAdmission {
  usage: InputUsage;
  /** Digest of the prompt up to the end of each step. */
  steps: readonly string[];
  startedAt: number;
}

export class ChatPrefixCache {
  /** Digest of a prefix to when it ends. */
  readonly #expiry = new Map<string, number>();
  #sweepAbove = FIRST_SWEEP;

  /** `salt` names whose cache it is and which model's; `prompt` is all that the model reads. */
  admit(salt: string, prompt: string, now: number): ChatAdmission {
    const bytes = Buffer.from(prompt);
    const steps = stepDigests(salt, bytes);
    const missing = steps.findIndex((digest) => (this.#expiry.get(digest) ?? 0) <= now);
    const hit = missing === -1 ? steps.length : missing;
    const read = hit < MINIMUM_STEPS ? 0 : hit * 128;
    if (read > 0) this.#refresh(steps.slice(0, hit), now);
    return { usage: usageOf(Math.floor(bytes.length / 4), read), steps, startedAt: now };
  }

  /** The response has begun. */
  begin({ steps, startedAt }: ChatAdmission): void {
    if (steps.length >= MINIMUM_STEPS) this.#refresh(steps, startedAt);
  }

  #refresh(steps: readonly string[], now: number): void {
    for (const digest of steps) this.#expiry.set(digest, now + LIFETIME_MS);
    if (this.#expiry.size > this.#sweepAbove) this.#sweep(now);
  }

  /** The limit grows with what is alive, so that sweeping stays a small part of the work. */
  #sweep(now: number): void {
    for (const [digest, end] of this.#expiry) if (end <= now) this.#expiry.delete(digest);
    this.#sweepAbove = Math.max(FIRST_SWEEP, this.#expiry.size * 2);
  }
}

function stepDigests(salt: string, bytes: Buffer): string[] {
  const digests: string[] = [];
  let digest = hash('sha256', salt, 'base64url');
  for (let end = STEP_BYTES; end <= bytes.length; end += STEP_BYTES) {
    digest = hash('sha256', `${digest}${bytes.toString('latin1', end - STEP_BYTES, end)}`, 'base64url');
    digests.push(digest);
  }
  return digests;
}

function usageOf(tokens: number, read: number): InputUsage {
  return {
    input_tokens: tokens - read,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  };
}
