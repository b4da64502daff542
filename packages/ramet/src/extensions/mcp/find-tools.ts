/** Looks for tools and resources by words, and describes what was found within a size limit. */

import type { ServerResource } from './server-offer.ts';
import type { ListedServer, NamedServerTool } from './server-set.ts';
import { compare } from './tool-names.ts';

const MOST_CHARACTERS = 24_000;
const LONGEST_DESCRIPTION = 2_000;
const LONGEST_SCHEMA = 8_000;
const LONGEST_NAMES = 6_000;
const USUAL_COUNT = 8;

export interface ToolQuery {
  readonly query: string;
  readonly limit?: number | undefined;
}

/** What a model reads: the tools with their schemas, best first, then what else matched by name alone. */
export function describeFound(
  listed: readonly ListedServer[],
  { query, limit = USUAL_COUNT }: ToolQuery,
): string {
  const words = wordsOf(query);
  const tools = listed.flatMap((one) => one.tools);
  const found = ranked(tools, words, query);
  const parts: string[] = [];
  let left = MOST_CHARACTERS;
  let shown = 0;
  // All of them are only named: their schemas are for those who ask for a few.
  for (const tool of words.length === 0 ? [] : found.slice(0, limit)) {
    const text = describeTool(tool);
    if (text.length > left) break;
    left -= text.length;
    shown += 1;
    parts.push(text);
  }
  const more = found.slice(shown).map(({ fullName }) => fullName);
  if (more.length > 0)
    parts.push(
      `${shown === 0 ? 'Tools' : 'Also found'} (ask for them by name for their schemas): ${namesWithin(more, LONGEST_NAMES)}`,
    );
  const resources = listed.flatMap((one) => ('problem' in one.offer ? [] : foundResources(one, words)));
  if (resources.length > 0) parts.push(`Resources:\n${namesWithin(resources, LONGEST_NAMES, '\n')}`);
  const problems = listed.flatMap(({ offer }) => ('problem' in offer ? [offer.problem] : []));
  parts.push(...problems.map((problem) => `Not asked: ${problem}.`));
  if (found.length === 0) parts.unshift(nothingFound(query, tools));
  return parts.join('\n\n');
}

/** One tool as a model needs it to call it. */
export function describeTool({
  fullName,
  title,
  description,
  inputSchema,
  saysReadOnly,
}: NamedServerTool): string {
  const about = [title, description].filter((part) => part).join('. ');
  const hint = saysReadOnly ? ' (its server says that it only reads)' : '';
  return `${fullName}${hint}\n${cut(about.trim() || 'no description', LONGEST_DESCRIPTION)}\narguments: ${schemaText(inputSchema)}`;
}

export function schemaText(schema: Readonly<Record<string, unknown>>): string {
  const { $schema: _, ...rest } = schema;
  return cut(JSON.stringify(rest), LONGEST_SCHEMA);
}

/** As many names as fit, and how many there are besides. */
export function namesWithin(names: readonly string[], length: number, between = ', '): string {
  const kept: string[] = [];
  let used = 0;
  for (const name of names) {
    used += name.length + between.length;
    if (used > length) break;
    kept.push(name);
  }
  const rest = names.length - kept.length;
  return kept.join(between) + (rest > 0 ? `${between}and ${rest} more` : '');
}

function nothingFound(query: string, tools: readonly NamedServerTool[]): string {
  if (tools.length === 0) return 'These servers offer no tools now.';
  const names = tools.map(({ fullName }) => fullName);
  return `No tool matches ${JSON.stringify(query.slice(0, 200))}. There are: ${namesWithin(names, LONGEST_NAMES)}`;
}

function ranked(
  tools: readonly NamedServerTool[],
  words: readonly string[],
  query: string,
): NamedServerTool[] {
  if (words.length === 0) return [...tools];
  const named = new Set(query.split(/[\s,]+/));
  return tools
    .map((tool) => ({ tool, score: named.has(tool.fullName) ? 1_000 : scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || compare(one.tool.fullName, other.tool.fullName))
    .map(({ tool }) => tool);
}

function scoreOf(
  { fullName, name, title = '', description }: NamedServerTool,
  words: readonly string[],
): number {
  const own = name.toLowerCase();
  const whole = fullName.toLowerCase();
  const text = `${title} ${description}`.toLowerCase();
  return words.reduce((score, word) => {
    if (own === word) return score + 40;
    if (own.includes(word)) return score + 10;
    if (whole.includes(word)) return score + 4;
    return text.includes(word) ? score + 2 : score;
  }, 0);
}

function foundResources({ server, offer }: ListedServer, words: readonly string[]): string[] {
  const resources: readonly ServerResource[] = 'problem' in offer ? [] : offer.resources;
  const wanted = words.filter((word) => word !== 'resource' && word !== 'resources');
  return resources
    .filter(({ uri, name, description }) => {
      const text = `${uri} ${name} ${description}`.toLowerCase();
      return wanted.length === 0 || wanted.some((word) => text.includes(word));
    })
    .map(({ uri, name, description, isTemplate }) => {
      const about = cut([name, description].filter((part) => part !== '').join(': '), 200);
      return `${server.key}: ${uri}${isTemplate ? ' (fill in the braces)' : ''} ${about}`;
    });
}

function wordsOf(query: string): string[] {
  if (query.trim() === '*') return [];
  return query
    .slice(0, 400)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter((word) => word.length > 1);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}… [cut]` : text;
}
