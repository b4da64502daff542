/**
 * A request as the prompt cache reads it: positions with the digest and the length of everything up to them, and
 * the marks among them.
 *
 * Tokens are bytes / 4: the length at a position is the UTF-8 bytes of the JSON of all blocks so far, without marks,
 * divided by four and rounded down. Lengths are cumulative, so differences between positions add up exactly.
 *
 * What else changes a digest, and from which level on:
 * 1. From the start: API key, model, thinking, effort, set of beta headers, every field not known to be harmless.
 *    For thinking and effort the documentation leaves tools and system to the model and advises to expect a cold
 *    cache; that advice is what is followed.
 * 2. From `system` on: speed, web tools, citations.
 * 3. From `messages` on: tool_choice (with disable_parallel_tool_use) and the number of images.
 * A parameter set to its documented default equals one left out.
 */
import { hash } from 'node:crypto';
import { findModel } from '../../model/catalog.ts';
import { type CacheMark, readMarks } from './cache-marks.ts';
import { contentBlocks, type WireRequest } from './message-request.ts';
import { type PromptBlock, type PromptLevel, promptBlocks } from './prompt-blocks.ts';
import { withoutLostThinking } from './thinking-seal.ts';

export interface PromptPosition {
  /** Names everything up to and including this position. */
  digest: string;
  /** Tokens up to and including this position. */
  tokens: number;
}

export interface Prompt {
  model: string;
  positions: readonly PromptPosition[];
  marks: readonly CacheMark[];
  /** All of it. */
  tokens: number;
  /** The blocks as sent, lost thinking included: what seals are made over. */
  sent: readonly PromptBlock[];
}

/** The parts of the HTTP request that decide which cache is used. */
export interface PromptOrigin {
  key: string;
  betas: readonly string[];
}

const HARMLESS = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'speed',
  'cache_control',
  'max_tokens',
  'stream',
  'metadata',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'service_tier',
  'diagnostics',
]);

export function buildPrompt(request: WireRequest, origin: PromptOrigin): Prompt {
  const sent = promptBlocks(request);
  const blocks = withoutLostThinking(sent, request.model);
  if (blocks !== sent) readMarks(sent, null); // a mark on thinking is refused also where the thinking is lost
  const marks = readMarks(blocks, request.cache_control);
  const positions = chain(blocks, levelSalts(request, origin));
  return { model: request.model, positions, marks, tokens: positions.at(-1)?.tokens ?? 0, sent };
}

function chain(
  blocks: readonly PromptBlock[],
  salts: Readonly<Record<PromptLevel, string>>,
): PromptPosition[] {
  let digest = next('', salts.tools);
  let level: PromptLevel = 'tools';
  let bytes = 0;
  return blocks.map((block) => {
    if (level === 'tools' && block.level !== 'tools') digest = next(digest, salts.system);
    if (level !== 'messages' && block.level === 'messages') digest = next(digest, salts.messages);
    level = block.level;
    bytes += Buffer.byteLength(block.json);
    digest = next(digest, `${block.role} ${block.json}`);
    return { digest, tokens: Math.floor(bytes / 4) };
  });
}

function next(digest: string, text: string): string {
  return hash('sha256', `${digest}\n${text}`, 'base64url');
}

function levelSalts(request: WireRequest, origin: PromptOrigin): Record<PromptLevel, string> {
  const others = Object.keys(request)
    .filter((field) => !HARMLESS.has(field))
    .sort()
    .map((field) => [field, request[field]]);
  const { effort, ...output } = request.output_config ?? {};
  const tools = [
    origin.key,
    [...new Set(origin.betas)].sort(),
    request.model,
    request.thinking,
    effort === findModel(request.model)?.defaultEffort ? undefined : effort,
    output,
    others,
  ];
  const speed = request.speed === 'standard' ? undefined : request.speed;
  return {
    tools: JSON.stringify(tools),
    system: JSON.stringify([speed, usesCitations(request)]),
    messages: JSON.stringify([toolChoice(request), countImages(request)]),
  };
}

function toolChoice({ tool_choice: choice }: WireRequest): unknown {
  if (choice?.type === 'auto' && choice.disable_parallel_tool_use !== true) return undefined;
  return choice;
}

function usesCitations(request: WireRequest): boolean {
  return request.messages.some(({ content }) =>
    contentBlocks(content).some(({ citations }) => isObject(citations) && citations.enabled === true),
  );
}

function countImages(request: WireRequest): number {
  let images = 0;
  for (const { content } of request.messages) {
    for (const block of contentBlocks(content)) {
      if (block.type === 'image') images += 1;
      if (!Array.isArray(block.content)) continue;
      images += block.content.filter((part) => isObject(part) && part.type === 'image').length;
    }
  }
  return images;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
