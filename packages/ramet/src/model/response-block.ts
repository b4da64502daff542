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

/** The finished block, or null when it is a tool call with input that does not parse. */
export function closeBlock(block: OpenBlock): ResponseBlock | null {
  const { start } = block;
  switch (start.type) {
    case 'text': {
      const citations = block.citations.length > 0 ? { citations: block.citations } : {};
      return fromValue({ ...start, ...citations, text: block.text });
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
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  return { value: { ...rest, input }, json: `${JSON.stringify(rest).slice(0, -1)},"input":${raw}}` };
}

function fromValue(value: OtherBlock): ResponseBlock {
  return { value, json: JSON.stringify(value) };
}

export function isEmptyText(block: ResponseBlock): boolean {
  return block.value.type === 'text' && 'text' in block.value && block.value.text === '';
}

export function stringField(value: Record<string, unknown>, field: string): string {
  const found = value[field];
  return typeof found === 'string' ? found : '';
}
