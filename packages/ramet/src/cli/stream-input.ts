/**
 * Prompts as lines of JSON on standard input (`--input-format stream-json`): one message of the user a line, or a control
 * request. A line that is neither is told with its number, and the next one counts.
 */
import type { Readable } from 'node:stream';
import type { PromptContent, PromptContentPart } from '../sdk/index.ts';
import type { ControlRequest } from './control-requests.ts';

/** A line as it was written: what repeats it. */
export interface UserLine {
  readonly message: unknown;
  readonly uuid?: string;
}

export type InputLine =
  | { readonly number: number; readonly prompt: PromptContent; readonly line: UserLine }
  | { readonly number: number; readonly control: ControlRequest }
  | { readonly number: number; readonly problem: string };

/** With an image or two. */
const LONGEST_LINE = 32 << 20;
const NEWLINE = 0x0a;

/** Ends with the input, and after a line that is too long: what follows it may be its rest. */
export async function* inputLines(input: Readable): AsyncGenerator<InputLine, void> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  for await (const chunk of input) {
    let rest = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString('utf8');
      [parts, length, rest] = [[], 0, rest.subarray(end + 1)];
      number += 1;
      if (line.trim() !== '') yield { number, ...readLine(line) };
    }
    parts.push(rest);
    length += rest.length;
    if (length <= LONGEST_LINE) continue;
    yield {
      number: number + 1,
      problem: `it is longer than ${LONGEST_LINE >> 20} MiB: nothing more is read`,
    };
    return;
  }
  const last = Buffer.concat(parts).toString('utf8');
  if (last.trim() !== '') yield { number: number + 1, ...readLine(last) };
}

const SHAPE = 'give {"type":"user","message":{"role":"user","content":"what to do"}}';

type ReadLine =
  | { readonly prompt: PromptContent; readonly line: UserLine }
  | { readonly control: ControlRequest }
  | { readonly problem: string };
const CONTROL = 'give {"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}';

function readLine(line: string): ReadLine {
  let value: unknown;
  try {
    // It may begin with a byte order mark, which trim removes.
    value = JSON.parse(line.trim());
  } catch {
    return { problem: `it is no JSON: ${SHAPE}` };
  }
  const { type, message, uuid } = Object(value);
  if (type === 'control_request') return controlOf(Object(value));
  if (type !== 'user')
    return {
      problem: `its type is ${shown(type)}, and only "user" and "control_request" are understood: ${SHAPE}`,
    };
  const { role = 'user', content } = Object(message);
  if (role !== 'user') return { problem: `its role is ${shown(role)}: ${SHAPE}` };
  const own = { message, ...(typeof uuid === 'string' && { uuid }) };
  if (typeof content === 'string')
    return content.trim() === '' ? { problem: 'its content is empty' } : { prompt: content, line: own };
  if (!Array.isArray(content) || content.length === 0) return { problem: `it has no content: ${SHAPE}` };
  const parts = content.map(partOf);
  const wrong = parts.findIndex((part) => part === null);
  if (wrong !== -1)
    return {
      problem: `part ${wrong + 1} of its content is ${shown(Object(content[wrong]).type)}: give text, or an image in base64`,
    };
  const given = parts.filter((part) => part !== null);
  const [only] = given;
  return { prompt: given.length === 1 && typeof only === 'string' ? only : given, line: own };
}

function controlOf({ request_id: id, request }: Record<string, unknown>): ReadLine {
  if (typeof id !== 'string' || id === '') return { problem: `its request_id is ${shown(id)}: ${CONTROL}` };
  const { subtype, ...fields } = Object(request);
  if (typeof subtype !== 'string') return { problem: `its subtype is ${shown(subtype)}: ${CONTROL}` };
  return { control: { id, subtype, fields } };
}

function partOf(value: unknown): PromptContentPart | null {
  const { type, text, source } = Object(value);
  if (type === 'text' && typeof text === 'string') return text;
  const { type: kind, data } = Object(source);
  return type === 'image' && kind === 'base64' && typeof data === 'string' ? { type: 'image', data } : null;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 60);
}
