/**
 * What a program gives to `run` and `ask` besides a text: images, files, and the schema of the answer. Loaded with the
 * first prompt that has any of them.
 */
import { compileAnswerSchema } from '../../../engine/answer/answer-schema.ts';
import type { Agent, AnswerSchema } from '../../../engine/shapes.ts';
import type { ImageBlock, TextBlock } from '../../../schema/content.ts';
import { describeError, RametError, UserMistake } from '../../../schema/errors.ts';
import { drain } from '../../../schema/generators.ts';
import { contentBlock, type ImageInput } from '../../own-tools/own-result.ts';
import { fitted, isStandardSchema, jsonSchemaOf } from '../../own-tools/standard-schema.ts';
import { checkCall } from '../check-calls.ts';
import { harmless } from '../event-bus.ts';
import type {
  Answered,
  AskedOptions,
  PromptContent,
  PromptContentPart,
  PromptOptions,
  PromptSchema,
  RunResult,
  Session,
} from '../session-type.ts';

type Attached = TextBlock | ImageBlock;

export interface GivenPrompt {
  readonly prompt: string | null;
  readonly attachments: readonly Attached[];
  readonly answer: TypedAnswer | undefined;
}

export async function readInput(
  agent: Agent,
  given: PromptContent | null,
  { schema, signal, attachments: before }: PromptOptions,
  untilStopped: (signal: AbortSignal | undefined) => AbortSignal,
): Promise<GivenPrompt> {
  const answer = schema === undefined ? undefined : await typedAnswer(schema);
  // Also where the list has holes.
  const first = Array.from(before ?? [], attachedBlock);
  const { text, attachments } =
    given === null || typeof given === 'string'
      ? { text: given, attachments: [] }
      : await readParts(agent, given, untilStopped(signal));
  const prompt = text === null || answer === undefined ? text : `${text}\n\n${answer.directive}`;
  return { prompt, attachments: [...first, ...attachments], answer };
}

/** The text of a prompt, and what comes before it. Files are read once all of it is known to be right. */
async function readParts(
  agent: Agent,
  parts: readonly PromptContentPart[],
  signal: AbortSignal,
): Promise<{ text: string; attachments: Attached[] }> {
  const texts: string[] = [];
  const before: (Attached | FilePart)[] = [];
  for (const [index, part] of parts.entries()) {
    const known = typeof part === 'string' ? part : knownPart(part, `part ${index + 1} of the prompt`);
    if (typeof known === 'string') texts.push(known);
    else before.push(known);
  }
  const text = texts.join('\n\n');
  if (text.trim() === '') throw wordless(before[0]);
  const attachments: Attached[] = [];
  for (const one of before)
    if (one.type === 'file') attachments.push(...(await fileBlocks(agent, one.path, signal)));
    else attachments.push(one);
  return { text, attachments };
}

function wordless(first: Attached | FilePart | undefined): UserMistake {
  const what = first?.type === 'file' ? ` with ${first.path}` : first === undefined ? '' : ' with the image';
  return new UserMistake('bad_argument', `session.run: the prompt has no text: say what to do${what}`);
}

type FilePart = Extract<PromptContentPart, { type: 'file' }>;

const PART_FORM = 'give a text, { type: image, data } or { type: file, path }';
const BLOCK_FORM =
  'give { type: text, text } or { type: image, source }, such as the block of session.command, or the blocks of each file of session.attach: files.flatMap(({ blocks }) => blocks)';

/** What a part of a prompt may have, by its type. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  image: ['type', 'data', 'source'],
  file: ['type', 'path'],
};
const SOURCE_FIELDS: readonly string[] = ['type', 'media_type', 'data'];

function knownPart(part: unknown, place: string): string | Attached | FilePart {
  const { type, text, path } = fieldsOf(part, place, PART_FORM);
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'file' && typeof path === 'string') return { type, path };
  if (type === 'image') return imageBlock(part as ImageInput, place); // its type, just seen; its data is checked
  throw refused(place, PART_FORM);
}

/** A provider refuses a block that is none, and every later request with it. */
function attachedBlock(block: unknown, index: number): Attached {
  const place = `attachments[${index}]`;
  const { type, text } = fieldsOf(block, place, BLOCK_FORM);
  if (type === 'image') return imageBlock(block as ImageInput, place); // as above
  if (type !== 'text' || typeof text !== 'string') throw refused(place, BLOCK_FORM);
  if (text.trim() === '') throw refused(place, 'its text is blank');
  return { type, text };
}

function fieldsOf(part: unknown, place: string, form: string): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = typeof part === 'object' && part !== null ? { ...part } : {};
  const known = Object.hasOwn(FIELDS, String(fields.type)) ? FIELDS[String(fields.type)] : undefined;
  if (known === undefined) throw refused(place, form);
  refuseOthers(fields, known, { place, whose: 'it' });
  const source = Object(fields.source);
  if (source.data !== undefined) refuseOthers(source, SOURCE_FIELDS, { place, whose: 'its source' });
  return fields;
}

function refuseOthers(
  fields: object,
  known: readonly string[],
  { place, whose }: { place: string; whose: string },
): void {
  const other = Object.keys(fields).find((field) => !known.includes(field));
  if (other === undefined) return;
  throw refused(
    place,
    `${whose} has no field ${JSON.stringify(other.slice(0, 100))}; there are ${known.join(', ')}`,
  );
}

function imageBlock(image: ImageInput, place: string): Attached {
  try {
    return contentBlock(image);
  } catch (error) {
    throw refused(place, describeError(error));
  }
}

function refused(place: string, reason: string): UserMistake {
  return new UserMistake('bad_argument', `session.run: ${place} is refused: ${reason}`);
}

async function fileBlocks(agent: Agent, path: string, signal: AbortSignal): Promise<readonly Attached[]> {
  const { attachFiles } = await import('./user-share.ts');
  const [file] = await attachFiles(agent, [path], signal);
  if (file !== undefined && file.problem === null) return file.blocks;
  throw new UserMistake('bad_argument', `session.run: ${path} cannot be attached: ${file?.problem ?? ''}`);
}

/** The answer that a schema asks for: a problem is sent back to the model, and the value is what the schema makes of it. */
export interface TypedAnswer extends AnswerSchema {
  valueOf(text: string): unknown;
}

/** Throws for a schema that cannot be used; `whose` names it for the caller. */
export async function typedAnswer(
  schema: PromptSchema,
  whose: string = 'session.run: schema',
): Promise<TypedAnswer> {
  const isStandard = isStandardSchema(schema);
  const compiled = await compileAnswerSchema(isStandard ? jsonSchemaOf(schema, whose) : schema);
  if (!compiled.ok) throw new UserMistake('bad_schema', `${whose}${compiled.problem.replace(/^schema/, '')}`);
  const answer = compiled.schema;
  if (!isStandard) return { ...answer, valueOf: (text) => JSON.parse(text) };
  return {
    ...answer,
    check(text) {
      const checked = answer.check(text);
      if (!checked.ok) return checked;
      const fitting = fitted(schema, JSON.parse(checked.json));
      return fitting.ok ? checked : fitting;
    },
    valueOf(text) {
      const fitting = fitted(schema, JSON.parse(text));
      if (fitting.ok) return fitting.value;
      throw new Error(`the answer no longer fits its schema: ${fitting.problem}`);
    },
  };
}

/** Without a key a program gets the recipe model, also where it was to have one. */
function hintOf({ cause, message }: Pick<RunResult, 'cause' | 'message'>): string {
  if (cause !== 'recipe' || !message?.includes('holds no block')) return '';
  return '; it needs no key. For a task in plain words, set ANTHROPIC_API_KEY, or OPENAI_API_KEY and OPENAI_BASE_URL';
}

/** What did not end as `done` answers nothing: who asked must not take it for an answer. */
export async function ask(
  session: Pick<Session, 'run'>,
  prompt: PromptContent | null,
  asked: AskedOptions,
): Promise<Answered<unknown>> {
  checkCall('ask', asked, prompt);
  const { onEvent, ...options } = asked;
  const take = onEvent === undefined ? () => {} : harmless(onEvent, ({ type }) => type);
  const result = await drain(session.run(prompt, options), take);
  const { status, cause, message } = result;
  if (status === 'done') return { ...result, value: result.value, cost: result.costUsd };
  const family = status === 'failed' ? 'terminal' : 'cancelled';
  const reason = `the agent ended as ${status}: ${message ?? 'it gave no reason'}${hintOf(result)}`;
  throw new RametError(cause ?? status, family, reason, { cause: result });
}
