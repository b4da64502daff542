/**
 * The answer of a call as far as it can be read. The SDK refuses an answer as a whole, but by then the call has been made:
 * what is good of it reaches the agent, and the rest is named.
 */
import { isObject } from './server-config.ts';

type Part = Record<string, unknown>;

export function readableResult(
  { content, isError, structuredContent, _meta, ...rest }: Part,
  isContent: (part: unknown) => boolean,
): Part {
  return {
    ...rest,
    ...(content !== undefined && { content: readableContent(content, isContent) }),
    ...(isError !== undefined && { isError: Boolean(isError) }),
    ...(isObject(structuredContent) && { structuredContent }),
    ...(isObject(_meta) && { _meta }),
  };
}

function readableContent(content: unknown, isContent: (part: unknown) => boolean): readonly unknown[] {
  if (!Array.isArray(content)) return [leftOut('its content, which is no list')];
  return content.map((part: unknown) => (isContent(part) ? part : leftOut(nameOf(part))));
}

function nameOf(part: unknown): string {
  if (!isObject(part) || typeof part.type !== 'string') return 'a part without a type';
  return `a part of the type ${JSON.stringify(part.type.slice(0, 60))}, which is not of the shape of the protocol`;
}

function leftOut(what: string): object {
  return { type: 'text', text: `[left out of the answer: ${what}]` };
}
