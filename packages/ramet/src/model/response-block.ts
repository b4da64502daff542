/** One content block of a streamed answer: collected while open, then closed into its value and exact JSON. */
import type { OtherBlock } from '../schema/content.ts';
import type { ResponseBlock } from './provider.ts';

export interface OpenBlock {
  start: OtherBlock;
  text: string;
  signature: string;
  json: string;
  citations: unknown[];
}

/** The finished block, or null when it is a tool call with input that is not JSON. */
export function closeBlock(block: OpenBlock): ResponseBlock | null {
  const { start } = block;
  switch (start.type) {
    case 'text': {
      const citations = block.citations.length > 0 ? { citations: block.citations } : {};
      return fromValue({ ...start, ...citations, text: block.text.toWellFormed() });
    }
    case 'thinking':
      return fromValue({ ...start, thinking: block.text, signature: block.signature });
    case 'tool_use':
    case 'server_tool_use':
      return closeToolUse(block);
    default:
      return fromValue(start);
  }
}

function closeToolUse(block: OpenBlock): ResponseBlock | null {
  const { input: placeholder, ...rest } = block.start;
  const raw = block.json.trim() === '' ? JSON.stringify(placeholder ?? {}) : block.json.trim();
  let input: unknown;
  try {
    input = JSON.parse(raw);
  } catch {
    return null;
  }
  const usable = isRecord(input) && depthOf(raw) <= DEEPEST_INPUT && !LONE_SURROGATE.test(raw);
  const sent = usable ? raw : JSON.stringify({ invalid_input: raw.slice(0, EXCERPT) });
  const value = { ...rest, input: usable ? input : JSON.parse(sent) };
  return { value, json: `${JSON.stringify(rest).slice(0, -1)},"input":${sent}}` };
}

/**
 * Input that is JSON but that the API would not take back, or that would overflow a serialiser's stack, is
 * replaced by an excerpt: the tool's schema refuses that, so the model is told instead of asked again.
 */
const DEEPEST_INPUT = 500;
const EXCERPT = 1_000;
const LONE_SURROGATE = /\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]/;

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How deep brackets are nested, those in strings aside. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth -= 1;
  }
  return deepest;
}

function fromValue(value: OtherBlock): ResponseBlock {
  return { value, json: JSON.stringify(value) };
}

/** Text of white space alone: the API gives it and does not take it back. */
export function isBlankText({ value }: ResponseBlock): boolean {
  return value.type === 'text' && 'text' in value && String(value.text).trim() === '';
}

export function stringField(value: Record<string, unknown>, field: string): string {
  const found = value[field];
  return typeof found === 'string' ? found : '';
}
