/** What the function of a tool returns, made fit for a model: text, images or JSON. What is none of these is an error result. */

import { blocksOfContent, isContentBlock } from '../../extensions/mcp/result-content.ts';
import { imageProblem } from '../../model/image-type.ts';
import type { ImageBlock, TextBlock } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import { failure, type ToolOutcome } from '../../tools/tool.ts';
import { isPlain as isPlainObject, told } from '../calls/argument-kinds.ts';

/** An image in a result or a prompt: bytes, or base64. What it is shows in its first bytes. */
export interface ImageInput {
  readonly type: 'image';
  readonly data: Uint8Array | string;
}

export type ToolContent = TextBlock | ImageBlock | ImageInput;

export interface ToolReport {
  readonly content: string | readonly ToolContent[];
  /** Tells the model that the call failed. */
  readonly isError?: boolean;
  /** As results of MCP have it: shown where `content` says nothing. */
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  /** As results of MCP have it; nobody is shown it. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export function outcomeOf(name: string, value: unknown): ToolOutcome {
  if (typeof value === 'string') return { content: value };
  if (value === undefined || value === null) return { content: '' };
  try {
    if (isBlocks(value)) return { content: value.map(shownBlock) };
    const report = reportOf(ownForm(value));
    return report === null ? { content: asJson(value) } : shownReport(name, report);
  } catch (error) {
    return failure(`${name} returned what cannot be shown: ${describeError(error)}`);
  }
}

/** What is made of an object that says itself what it is. */
function ownForm(value: unknown): unknown {
  const made: unknown = Object(value).toJSON;
  return typeof made === 'function' ? made.call(value) : value;
}

/** What JSON makes an empty object of, though it holds something. */
function losesInJson(value: object): string | null {
  if ('toJSON' in value) return null;
  if (value instanceof Error) return 'an Error (throw it, or return its message)';
  if (Symbol.asyncIterator in value) return 'an async generator';
  if ('next' in value && Symbol.iterator in value) return 'a generator';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return BYTES;
  if (value instanceof Promise) return 'a promise';
  return isPlain(value) || Object.keys(value).length > 0 ? null : `a ${value.constructor?.name ?? 'class'}`;
}

/** What another kind of object holds, such as a Map, a Response or a RegExp, is in none of its fields. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || isPlainObject(value);
}

const BYTES = 'a list of bytes';

function asJson(value: unknown): string {
  const json = JSON.stringify(value, function (this: Record<string, unknown>, key, inner: unknown) {
    // Buffers and dates have become something else by now.
    const lost = ownFormLoses(this[key]) ?? lossOf(inner, Array.isArray(this));
    if (lost === null) return inner;
    throw new Error(`${lost} is no JSON: return a text, a list or a plain object ([...value] makes a list)`);
  });
  if (json === undefined) throw new Error(`a ${typeof value} is no JSON: return a text or an object`);
  return json;
}

function ownFormLoses(value: unknown): string | null {
  if (Buffer.isBuffer(value)) return BYTES;
  return value instanceof Date && Number.isNaN(value.getTime()) ? 'an invalid date' : null;
}

/** JSON leaves it out, or makes null of it. A field that is undefined is as good as none. */
function lossOf(value: unknown, isInList: boolean): string | null {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value === undefined && isInList) return 'undefined in a list';
  return typeof value === 'object' && value !== null ? losesInJson(value) : null;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isBlocks(value: unknown): value is readonly ToolContent[] {
  return Array.isArray(value) && value.length > 0 && value.every(isBlock);
}

function isBlock(value: unknown): value is ToolContent {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'text') return 'text' in value && typeof value.text === 'string';
  if (value.type === 'image') return 'data' in value || 'source' in value;
  return isContentBlock(value);
}

const REPORT_FIELDS: readonly string[] = ['content', 'isError', 'structuredContent', '_meta'];
const REPORT_FORM =
  'return { content, isError }, where content is a text or a list of blocks; as in results of MCP, structuredContent and _meta may stand beside it';

/**
 * Null for what is data. Who says `isError` means a report: if that were shown as data because something else of it is not
 * understood, a failure would look like a success.
 */
function reportOf(value: unknown): ToolReport | null {
  if (typeof value !== 'object' || value === null) return null;
  const { content, isError, is_error, structuredContent } = value as Record<string, unknown>; // an object, just seen
  if (is_error === true || (is_error !== undefined && content !== undefined))
    throw new Error(`is_error is written isError: ${REPORT_FORM}`);
  const other = Object.keys(value).find((key) => !REPORT_FIELDS.includes(key));
  const isWhole =
    other === undefined && (typeof content === 'string' || isBlocks(content) || isEmptyList(content));
  const report = value as ToolReport; // where it is whole
  if (isWhole && (isError === undefined || typeof isError === 'boolean')) return report;
  if (isError === undefined) return null;
  if (typeof isError !== 'boolean')
    throw new Error(`isError is ${typeof isError}: true or false says whether the call failed`);
  if (other !== undefined)
    throw new Error(`beside isError it has the field ${JSON.stringify(other.slice(0, 100))}: ${REPORT_FORM}`);
  if (content === undefined && structuredContent !== undefined) return { ...report, content: [] };
  throw new Error(`beside isError ${wrongContent(content)}: ${REPORT_FORM}`);
}

function wrongContent(content: unknown): string {
  if (!Array.isArray(content))
    return content === undefined ? 'it has no content' : `its content is ${told(content)}`;
  const at = content.findIndex((block) => !isBlock(block));
  const block: unknown = content[at];
  const type = typeof block === 'object' && block !== null && 'type' in block ? block.type : undefined;
  const what =
    typeof type === 'string'
      ? `a block ${JSON.stringify(type.slice(0, 100))} that is not known`
      : told(block);
  return `content[${at}] is ${what}`;
}

function shownReport(name: string, { content, isError, structuredContent }: ToolReport): ToolOutcome {
  const blocks = typeof content === 'string' ? content : content.map(shownBlock);
  const isWordless =
    typeof blocks === 'string'
      ? blocks.trim() === ''
      : blocks.every((block) => block.type === 'text' && block.text.trim() === '');
  if (!isWordless) return { content: blocks, ...(isError === true && { isError }) };
  const words = structuredContent === undefined ? '' : asJson(structuredContent);
  return isError === true ? failure(words || `${name} failed and does not say why`) : { content: words };
}

/** As for a tool of an MCP server, whose results a tool may pass on: what cannot be shown is a line about it. */
function shownBlock(block: ToolContent): TextBlock | ImageBlock {
  const [made] = isContentBlock(block) ? blocksOfContent([block]) : [];
  return made ?? contentBlock(block);
}

/** The block that goes to the model. Throws for an image that a provider would refuse: it would refuse all that follows. */
export function contentBlock(block: ToolContent): TextBlock | ImageBlock {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const given = 'data' in block ? block.data : block.source?.data;
  if (given === undefined || given === null)
    throw new Error('an image has no data: give its bytes (a Uint8Array), or base64 as a text');
  if (typeof given !== 'string' && !ArrayBuffer.isView(given) && !Array.isArray(given))
    throw new Error(
      `the data of an image is no text and no bytes: give its bytes (a Uint8Array), or base64 as a text`,
    );
  const bytes = typeof given === 'string' ? Buffer.from(given, 'base64') : Buffer.from(given);
  const checked = imageProblem(bytes);
  if ('problem' in checked) throw new Error(checked.problem);
  const source = {
    type: 'base64',
    media_type: checked.type,
    data: Buffer.from(checked.bytes).toString('base64'),
  } as const;
  return { type: 'image', source };
}
