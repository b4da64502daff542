/**
 * A request as the flat list of blocks that the prompt cache sees: tools, then system, then messages. A string is
 * one text block and message borders inside a turn do not count, because the API normalises both away.
 */
import type { CacheControl } from '../../schema/content.ts';
import { contentBlocks, type WireBlock, type WireRequest, type WireTool } from './message-request.ts';

export type PromptLevel = 'tools' | 'system' | 'messages';

export interface PromptBlock {
  level: PromptLevel;
  /** `tool`, `system`, or the role of the message. */
  role: string;
  /** Index of the message; -1 outside messages. */
  message: number;
  type: string;
  source: WireBlock | WireTool;
  /** The block without its mark: what is hashed and counted. */
  json: string;
  mark: CacheControl | undefined;
}

export function promptBlocks(request: WireRequest): PromptBlock[] {
  const tools = (request.tools ?? []).filter((tool) => tool.defer_loading !== true);
  const isWeb = (tool: WireTool): boolean => /^web_(search|fetch)_/.test(tool.type ?? '');
  // Switching web tools on or off keeps the tools level, so their entries count as the start of the next one.
  return [
    ...tools.filter((tool) => !isWeb(tool)).map((tool) => promptBlock('tools', 'tool', -1, tool)),
    ...tools.filter(isWeb).map((tool) => promptBlock('system', 'tool', -1, tool)),
    ...contentBlocks(request.system ?? []).map((block) => promptBlock('system', 'system', -1, block)),
    ...request.messages.flatMap(({ role, content }, index) =>
      contentBlocks(content).map((block) => promptBlock('messages', role, index, block)),
    ),
  ];
}

function promptBlock(
  level: PromptLevel,
  role: string,
  message: number,
  source: WireBlock | WireTool,
): PromptBlock {
  const mark = source.cache_control ?? undefined;
  return { level, role, message, type: source.type ?? 'custom', source, json: withoutMark(source), mark };
}

function withoutMark(source: WireBlock | WireTool): string {
  if (!('cache_control' in source)) return JSON.stringify(source);
  const { cache_control: _, ...rest } = source;
  return JSON.stringify(rest);
}

export function isThinking(type: string): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}
