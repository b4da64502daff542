/**
 * How much a model can take in at once, and how to recognise that it was too much. The catalogue states a window
 * where a source does; any other model is assumed to have 200,000 tokens until a refusal names the real number.
 */
import { findModel } from './catalog.ts';

export const ASSUMED_CONTEXT_WINDOW = 200_000;

export function contextWindowOf(model: string): number {
  return findModel(model)?.contextWindow ?? ASSUMED_CONTEXT_WINDOW;
}

/** The forms in which providers say it: the prompt alone, the prompt with its `max_tokens`, other servers' words. */
const TOO_LONG =
  /prompt is too long|exceeds? .{0,40}context|maximum context length|context_length_exceeded|exceed_context_size/i;

/** `215000 tokens > 200000 maximum`, `188000 + 16000 > 200000`, `maximum context length is 8192 tokens`. */
const STATED_WINDOW = [/> ?(\d{3,})/, /context (?:length|window|size)[^\d]{0,40}(\d{3,})/i];

export function isContextOverflow(message: string): boolean {
  return TOO_LONG.test(message);
}

/** The window that such a refusal names; undefined when it names none. */
export function statedContextWindow(message: string): number | undefined {
  for (const pattern of STATED_WINDOW) {
    const stated = pattern.exec(message)?.[1];
    if (stated !== undefined) return Number(stated);
  }
  return undefined;
}
