/** Searching the web, which the provider does itself within one response: the results are a part of its answer. */
import * as z from '../schema/zod.ts';
import { defineTool, failure, type Tool } from './tool.ts';

export interface SearchLimits {
  /** Only these domains, with what is below them; all when empty. */
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

/** In one response: each search is billed. */
const MOST_SEARCHES = 8;

export function webSearchTool({ allowed, blocked }: SearchLimits): Tool {
  return defineTool({
    name: 'WebSearch',
    description: '',
    effect: 'read',
    schedule: 'parallel',
    input: z.unknown(),
    server: {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: MOST_SEARCHES,
      // The provider takes one of the two lists.
      ...(allowed.length > 0
        ? { allowed_domains: [...allowed] }
        : blocked.length > 0 && { blocked_domains: [...blocked] }),
    },
    run: async () => failure('Nothing was searched: web_search is a tool of the provider. Use that.'),
  });
}
