/**
 * One rule in the public syntax: `Tool`, or `Tool(specifier)` where the specifier narrows it to commands, paths, a
 * domain or a name. A rule that cannot be read, or that could never match, is a problem with a reason: its author
 * believes it protects something.
 */
import { hasInvisible } from '../system/text/visible-text.ts';
import { type CommandPattern, parseCommandPattern } from './command-pattern.ts';
import { type PathPattern, parsePathPattern } from './path-pattern.ts';
import type { ParsedPart, RuleContext, RuleList } from './rule-context.ts';
import { parseToolName, type ToolNamePattern } from './tool-name-pattern.ts';

export type RuleScope =
  | { kind: 'every call' }
  | { kind: 'commands'; pattern: CommandPattern }
  | { kind: 'paths'; access: 'read' | 'write'; pattern: PathPattern }
  | { kind: 'domain'; domain: string }
  /** `Agent(reviewer)`, `Skill(release)`. */
  | { kind: 'named'; name: string };

export interface PermissionRule {
  text: string;
  place: string;
  /** What its paths start from. */
  base: string;
  home: string | null;
  tool: ToolNamePattern;
  scope: RuleScope;
}

export interface RuleProblem {
  text: string;
  place: string;
  list: RuleList;
  /** Follows "the allow rule X in Y". */
  reason: string;
}

export type ParsedRule = { ok: true; rule: PermissionRule } | { ok: false; problem: RuleProblem };

export function parseRule(written: string, context: RuleContext): ParsedRule {
  const { list, place, base, home } = context;
  const text = written.trim();
  const parsed = parseParts(text, context);
  if (!parsed.ok) return { ok: false, problem: { text: written, place, list, reason: parsed.reason } };
  return { ok: true, rule: { text, place, base, home, ...parsed.value } };
}

type RuleParts = Pick<PermissionRule, 'tool' | 'scope'>;

function parseParts(text: string, context: RuleContext): ParsedPart<RuleParts> {
  // A server's own name may have blanks.
  const match = /^(mcp__[^()\s]+(?: +[^()\s]+)*|[^()\s]+)(?:\(([\s\S]*)\))?$/.exec(text);
  const [, name, specifier] = match ?? [];
  if (name === undefined) {
    return bad(
      'cannot be read: write a tool, as in Bash, or a tool and what it may do, as in Bash(npm test:*)',
    );
  }
  const tool = parseToolName(name, context);
  if (!tool.ok) return tool;
  if (specifier === undefined) return good({ tool: tool.value, scope: { kind: 'every call' } });
  if (specifier.trim() === '') return bad(`has nothing in its parentheses: write ${name} for every call`);
  const scope = parseScope(name, specifier.trim(), context);
  return scope.ok ? good({ tool: tool.value, scope: scope.value }) : scope;
}

function parseScope(name: string, specifier: string, context: RuleContext): ParsedPart<RuleScope> {
  switch (name) {
    case 'Bash':
      return mapPart(parseCommandPattern(specifier), (pattern) => ({ kind: 'commands', pattern }));
    case 'Read':
    case 'Grep':
    case 'Glob':
      return mapPart(parsePathPattern(specifier, context), (pattern) => ({
        kind: 'paths',
        access: 'read',
        pattern,
      }));
    case 'Edit':
    case 'Write':
      return mapPart(parsePathPattern(specifier, context), (pattern) => ({
        kind: 'paths',
        access: 'write',
        pattern,
      }));
    case 'WebFetch':
    case 'WebSearch':
      return parseDomain(specifier, name);
    case 'Agent':
    case 'Skill':
      return good({ kind: 'named', name: specifier });
    default:
      return bad(`can never match: ${name} takes nothing in parentheses`);
  }
}

function parseDomain(specifier: string, tool: string): ParsedPart<RuleScope> {
  const [, star = '', name = ''] = /^domain:\s*(\*\.)?([^*:]+)$/i.exec(specifier) ?? [];
  const [, address] = /^domain:\s*(\[[\da-f:.]+\])$/i.exec(specifier) ?? [];
  // Searches know names only.
  if (address !== undefined && tool === 'WebFetch') {
    const host = plainHost(address);
    if (host !== null) return good({ kind: 'domain', domain: host });
  }
  const host = plainHost(name);
  if (host !== null) return good({ kind: 'domain', domain: `${star}${host}` });
  return bad(`can never match: write a host name without scheme or path, as in ${tool}(domain:example.org)`);
}

function mapPart<From, To>(part: ParsedPart<From>, map: (value: From) => To): ParsedPart<To> {
  return part.ok ? good(map(part.value)) : part;
}

function good<Value>(value: Value): ParsedPart<Value> {
  return { ok: true, value };
}

function bad(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

/**
 * A host name in the one form that rules are compared in: `EVIL.com.` and `evil.com` are the same host, and a name with
 * letters of other alphabets is the one that goes over the wire. Null for what is no host name.
 */
function plainHost(name: string): string | null {
  const url = `http://${name}/`;
  if (/[/?#@\\\s]/.test(name) || !URL.canParse(url)) return null;
  const { hostname, port } = new URL(url);
  const plain = hostname.toLowerCase().replace(/\.+$/, '');
  return plain === '' || port !== '' ? null : plain;
}

/** The host of an address, in that form. */
export function hostOfUrl(url: string): string | null {
  return URL.canParse(url) ? plainHost(new URL(url).hostname) : null;
}

/**
 * A rule that is offered as "always" is made from a call, and the model chose the words of the call. Who makes one sees
 * to it that no character of the call is a pattern in it. Null if the rule cannot be read back, alone and among others, as
 * the text that a person sees. `tools` are names of tools that only this session has.
 */
export function offeredRule(rule: string, tools: readonly string[] = []): string | null {
  const isPlain = !/[\t\n]|\s{2}/.test(rule) && !hasInvisible(rule) && !/^[^(]*\s|\(\s|\s\)$/.test(rule);
  if (!isPlain || !isOnePiece(rule)) return null;
  return parseRule(rule, { list: 'allow', place: 'an offer', base: '/', home: '/', tools }).ok ? rule : null;
}

/** In a list of rules one ends where its parenthesis is closed: `Edit(a) Bash Edit(b)` would be three. */
function isOnePiece(rule: string): boolean {
  let depth = 0;
  for (let index = 0; index < rule.length; index += 1) {
    const character = rule[index];
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth < 0 || (depth === 0 && character === ')' && index < rule.length - 1)) return false;
  }
  return depth === 0;
}
