/** The lists of tools and of MCP servers in definition files, with the names that other harnesses use. */
import type { AgentDefinition } from './definition.ts';

export interface ToolList {
  /** `all` when nothing is said, or everything is asked for. */
  names: 'all' | readonly string[];
  /** Entries with something in parentheses, as rules. */
  limited: readonly { readonly name: string; readonly rule: string }[];
  /** Names that stand without parentheses. */
  whole: readonly string[];
  /** Names that no tool has here. */
  unknown: readonly string[];
  /** Tools of MCP servers: whether there are any, a session finds out. */
  remote: readonly string[];
}

const LONGEST_LIST = 20_000;
const EVERYTHING: ReadonlySet<string> = new Set(['*', 'all', 'all tools', 'inherit']);

/** What tools are called elsewhere. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  task: 'Agent',
  multiedit: 'Edit',
  notebookread: 'Read',
  bashoutput: 'TaskOutput',
  agentoutput: 'TaskOutput',
  killbash: 'TaskStop',
  killshell: 'TaskStop',
  todoread: 'TodoWrite',
  mcpcall: 'McpCall',
  mcpsearch: 'McpSearch',
};

/** There are these only where a session has MCP servers. */
const OF_SERVERS: ReadonlySet<string> = new Set(['McpCall', 'McpSearch']);

/** Lists that were read before: a thousand files ask for the same few. */
const readBefore = new WeakMap<readonly string[], Map<string, ToolList>>();

/** Null when it is neither a text nor a list of texts: what it was to narrow is then not known. */
export function readToolList(value: unknown, known: readonly string[]): ToolList | null {
  if (typeof value !== 'string') return parseToolList(value, known);
  const lists = readBefore.get(known) ?? new Map<string, ToolList>();
  readBefore.set(known, lists);
  const list = lists.get(value) ?? parseToolList(value, known);
  if (list !== null) lists.set(value, list);
  return list;
}

function parseToolList(value: unknown, known: readonly string[]): ToolList | null {
  const entries = entriesOf(value);
  if (entries === null) return null;
  if (entries === 'all' || entries.some((entry) => EVERYTHING.has(entry.toLowerCase())))
    return { names: 'all', limited: [], whole: [], unknown: [], remote: [] };
  const canonical = new Map(known.map((name) => [name.toLowerCase(), name]));
  const named = entries.map((entry) => {
    const name = /^([^()\s]+)\s*\(/.exec(entry)?.[1] ?? entry;
    const lower = name.toLowerCase();
    return { entry, name: canonical.get(lower) ?? otherName(lower) ?? name, isPattern: name !== entry };
  });
  const isKnown = (name: string): boolean => canonical.has(name.toLowerCase());
  const remote = named.filter(({ name }) => name.startsWith('mcp__') || OF_SERVERS.has(name));
  return {
    names: [...new Set(named.map(({ name }) => name))],
    limited: named.filter(({ isPattern, name }) => isPattern && isKnown(name)).flatMap(limitedRules),
    whole: named.filter(({ isPattern }) => !isPattern).map(({ name }) => name),
    unknown: named.filter((one) => !isKnown(one.name) && !remote.includes(one)).map(({ name }) => name),
    remote: remote.map(({ name }) => name),
  };
}

/** `Agent(a, b)` names two types, `Bash(git log:*, git diff:*)` two commands. */
function limitedRules({ name, entry }: { name: string; entry: string }): { name: string; rule: string }[] {
  const inside = /\(([\s\S]*)\)\s*$/.exec(entry)?.[1]?.trim() ?? '';
  if (inside === '*') return [];
  return inside.split(/,\s+/).map((part) => ({ name, rule: `${name}(${part})` }));
}

function otherName(lower: string): string | undefined {
  return Object.hasOwn(OTHER_NAMES, lower) ? OTHER_NAMES[lower] : undefined;
}

function entriesOf(value: unknown): 'all' | string[] | null {
  if (value === null || value === undefined || value === '') return 'all';
  if (typeof value === 'string') return value.length > LONGEST_LIST ? null : splitEntries(value);
  if (!Array.isArray(value) || !value.every((one): one is string => typeof one === 'string')) return null;
  return value.flatMap((one) => (isServerWithBlanks(one) ? [one.trim()] : splitEntries(one)));
}

/** One entry for a server whose own name has blanks, and not several: no tool is called like what follows. */
function isServerWithBlanks(entry: string): boolean {
  return /^\s*mcp__[^,\n(]* /.test(entry) && !/\s(?:mcp__|[A-Z]|\*)/.test(entry.trim());
}

/** At commas outside of parentheses; a list without commas may have spaces between its names. */
function splitEntries(text: string): string[] {
  const bare = text.trim().replace(/^\[([^\]]*)\]$/, '$1');
  if (EVERYTHING.has(bare.toLowerCase())) return [bare];
  const entries = /[,\n(]/.test(bare) ? splitOutsideParentheses(bare) : bare.split(/\s+/);
  return entries.map((entry) => entry.trim().replace(/^["'](.*)["']$/, '$1')).filter((entry) => entry !== '');
}

/** One look at each part: the text may be long, and of any shape. */
function splitOutsideParentheses(text: string): string[] {
  const entries: string[] = [];
  let depth = 0;
  for (const part of text.split(/[,\n]/)) {
    if (depth > 0) entries.push(`${entries.pop()},${part}`);
    else entries.push(part);
    depth += part.split('(').length - part.split(')').length;
  }
  return entries;
}

/** Names of servers, or servers written down: a list of either, an object of them, or one name. */
export function readServers(
  value: unknown,
  warn: (message: string) => void,
): Pick<AgentDefinition, 'mcpServers'> {
  if (value === undefined || value === null || value === 'none') return {};
  const list: unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'string'
      ? value.split(/[\s,]+/)
      : [value];
  const isServer = (one: unknown): one is string | Record<string, unknown> =>
    typeof one === 'string' || (typeof one === 'object' && one !== null && !Array.isArray(one));
  const servers = list.filter(isServer);
  if (servers.length < list.length)
    warn('an entry is neither the name of a server nor a server: it was left out');
  return servers.length === 0 ? {} : { mcpServers: servers };
}
