/**
 * The provider's search of the web, as the emulated model answers with it: what a search found is sealed, and a client
 * sends it back as it came. Wording follows the API's where it is documented.
 */
import { hash } from 'node:crypto';
import { badRequest } from '../api-error.ts';
import type { WireBlock, WireTool } from './message-request.ts';
import type { WireTurn } from './tool-pairing.ts';

const SEAL = 'emu-search.';
const CALL = 'server_tool_use';
const RESULT = 'web_search_tool_result';

/** An answer's blocks with what the provider adds: the seal of each result. */
export function sealSearch(block: WireBlock): WireBlock {
  if (block.type !== RESULT || !Array.isArray(block.content)) return block;
  const content = block.content.map((one: Readonly<Record<string, unknown>>) =>
    one.encrypted_content === undefined ? { ...one, encrypted_content: sealOf(one) } : one,
  );
  return { ...block, content };
}

/** What usage says about an answer; nothing for one without a search. */
export function searchUsage(content: readonly WireBlock[]): Record<string, unknown> {
  const count = content.filter(({ type, name }) => type === CALL && name === 'web_search').length;
  return count === 0 ? {} : { server_tool_use: { web_search_requests: count, web_fetch_requests: 0 } };
}

export function checkSearchTools(tools: readonly WireTool[]): void {
  for (const tool of tools) {
    if (!isSearch(tool)) continue;
    if (tool.name !== 'web_search') throw badRequest(`tools: ${tool.type} must have the name web_search`);
    if (isFilled(tool.allowed_domains) && isFilled(tool.blocked_domains))
      throw badRequest('tools: web_search takes allowed_domains or blocked_domains, not both');
  }
}

/** Calls and results of the provider's own are in one turn, and come back as they were. */
export function checkSearches(turns: readonly WireTurn[]): void {
  turns.forEach(({ role, blocks, index }, position) => {
    const calls = new Set<unknown>();
    const open = new Set<unknown>();
    for (const block of blocks) {
      const isOurs = block.type === CALL || block.type === RESULT;
      if (isOurs && role !== 'assistant')
        throw badRequest(`messages.${index}: ${role} messages cannot hold ${block.type} blocks`);
      if (block.type === CALL && block.name === 'web_search') {
        calls.add(block.id);
        open.add(block.id);
      }
      if (block.type !== RESULT) continue;
      if (!calls.has(block.tool_use_id))
        throw badRequest(
          `messages.${index}: unexpected \`tool_use_id\` found in \`${RESULT}\` blocks: ${block.tool_use_id}`,
        );
      open.delete(block.tool_use_id);
      checkSeals(block, index);
    }
    const mayBeOpen = position === turns.length - 1 || blocks.some(({ type }) => type === 'tool_use');
    if (open.size > 0 && !mayBeOpen)
      throw badRequest(
        `messages.${index}: \`${CALL}\` ids were found without results: ${[...open].join(', ')}`,
      );
  });
}

function checkSeals({ content }: WireBlock, index: number): void {
  if (!Array.isArray(content)) return;
  for (const one of content) {
    const { encrypted_content: seal } = Object(one);
    if (typeof seal !== 'string') throw badRequest(`messages.${index}: encrypted_content: Field required`);
    if (seal.startsWith(SEAL) && seal !== sealOf(one))
      throw badRequest(`messages.${index}: a web_search_result was changed: send it back as it came`);
  }
}

function sealOf({ url, title, page_age: age }: Readonly<Record<string, unknown>>): string {
  return SEAL + hash('sha256', JSON.stringify([url, title, age ?? null]), 'base64url');
}

function isSearch({ type }: WireTool): boolean {
  return type?.startsWith('web_search_') === true;
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}
