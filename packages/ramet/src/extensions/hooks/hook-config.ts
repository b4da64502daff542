/**
 * Hooks as they are set up: in settings, in agent files, in plugins and in the library. All have one shape: by event, a
 * list of groups, each with a matcher and its hooks. What cannot be used is named, never left out silently.
 */
import { parseRule } from '../../permission/rule.ts';
import { LONGEST_TIMER_MS } from '../../schema/clock.ts';
import { nearName } from '../../system/text/close-names.ts';
import type { RunCheck } from '../trust/run-check.ts';
import { type HookEventName, hookEventKind, isHookEvent } from './hook-event.ts';
import { type HookMatcher, hookMatcher, isOtherName, matcherNames } from './hook-matcher.ts';

/** Where hooks come from. */
export interface HookSource {
  /** For messages: `.claude/settings.json`, `agent reviewer`, `plugin tidy`. */
  readonly label: string;
  /** Besides the usual ones; their names are also replaced in commands, as `${NAME}`. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** They may take rights away and give none: a hook that allows decides nothing. */
  readonly narrows?: true | undefined;
  /** Of a repository: they run only with the files that were trusted. */
  readonly check?: RunCheck | undefined;
  /** They do not count any more. */
  readonly isOver?: (() => boolean) | undefined;
  /** Of a program: a field of a group that is not known is a mistake, where files may hold notes of their own. */
  readonly isCode?: true | undefined;
}

/** On a group of hooks: when they may run. No part of what is written, so it is neither recorded nor digested. */
const CHECK: unique symbol = Symbol('check');

/** Hooks of a file of a repository, which run only with the files that were trusted; wherever they are joined to others. */
export function guardedHooks(
  hooks: Readonly<Record<string, unknown>>,
  check: RunCheck,
): Record<string, unknown> {
  const guard = (group: unknown): unknown => (isObject(group) ? { ...group, [CHECK]: check } : group);
  const entries = Object.entries(hooks);
  return Object.fromEntries(
    entries.map(([event, groups]) => [event, Array.isArray(groups) ? groups.map(guard) : groups]),
  );
}

/** Hooks of one place, not read yet. */
export interface HookEntry {
  readonly value: unknown;
  readonly source: HookSource;
}

interface AnyHook {
  readonly event: HookEventName;
  readonly matches: HookMatcher;
  readonly source: HookSource;
  readonly timeoutMs: number;
}

export interface CommandHook extends AnyHook {
  readonly kind: 'command';
  /** For a shell, or the program if there are arguments. */
  readonly command: string;
  readonly args: readonly string[] | null;
  /** Nobody waits for it, and what it answers changes nothing. */
  readonly isAsync: boolean;
  /** A permission rule: it runs only for calls that this may be about. */
  readonly condition?: string;
}

/** Gets what a command reads from its standard input; what it returns is what a command prints. */
export type HookFunction = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => unknown;

export interface FunctionHook extends AnyHook {
  readonly kind: 'function';
  readonly run: HookFunction;
}

export type Hook = CommandHook | FunctionHook;

/** What a hook is told, as JSON. */
export interface HookInput extends Record<string, unknown> {
  readonly session_id: string;
  /** Of the session, that is of its main agent. */
  readonly transcript_path: string;
  readonly cwd: string;
  readonly hook_event_name: HookEventName;
  readonly permission_mode?: string;
  /** Of an agent that another one started. */
  readonly agent_id?: string;
  readonly agent_transcript_path?: string;
  readonly agent_type?: string;
}

export interface HookList {
  readonly hooks: readonly Hook[];
  /** What has no effect, and why: a phrase each, such as `PreToolUse: type "http" is not supported`. */
  readonly unused: readonly string[];
  /** Those of them that are wrong anywhere, and not only unknown here. */
  readonly mistakes: readonly HookMistake[];
}

export interface HookMistake {
  readonly what: string;
  /** Keys and places in lists, from the event on. */
  readonly at: readonly PropertyKey[];
}

/** What a hook may have: each is read, or changes nothing about when or how it runs. */
const KNOWN = ['type', 'command', 'args', 'timeout', 'async', 'if', 'statusMessage', 'shell', 'description'];

/** What a group of hooks may have. */
const GROUP = ['matcher', 'hooks', 'timeout'];

export function readHooks(value: unknown, source: HookSource): HookList {
  const reading = new HookReading(source);
  if (value === undefined || value === null) return reading.list();
  if (!isObject(value)) reading.mistake('hooks is no object', []);
  else
    for (const [event, groups] of Object.entries(value)) {
      if (!isHookEvent(event)) reading.unsupported(`${shown(event)}: there is no such event here`);
      else if (!Array.isArray(groups)) reading.mistake(`${event} is no list`, [event]);
      else for (const [index, group] of groups.entries()) readGroup(event, group, index, reading);
    }
  return reading.list();
}

class HookReading {
  readonly source: HookSource;
  readonly hooks: Hook[] = [];
  readonly #unused = new Set<string>();
  readonly #mistakes: HookMistake[] = [];

  constructor(source: HookSource) {
    this.source = source;
  }

  unsupported(what: string): void {
    this.#unused.add(what);
  }

  mistake(what: string, at: readonly PropertyKey[]): void {
    this.#unused.add(what);
    this.#mistakes.push({ what, at });
  }

  list(): HookList {
    return { hooks: this.hooks, unused: [...this.#unused], mistakes: this.#mistakes };
  }
}

function readGroup(event: HookEventName, group: unknown, index: number, reading: HookReading): void {
  const wrong = (what: string, ...at: PropertyKey[]): void =>
    reading.mistake(`${event}: ${what}`, [event, index, ...at]);
  if (!isObject(group)) return void wrong('an entry is no object');
  const strange = strangeField(group, reading.source);
  if (strange !== null) return void wrong(strange.problem, strange.field);
  const { matcher = '', hooks, timeout } = group;
  if (typeof matcher !== 'string') return void wrong('a matcher is no text', 'matcher');
  const matches = hookMatcher(matcher);
  if (matches === null)
    return void wrong(`the matcher ${shown(matcher)} is no regular expression`, 'matcher');
  if (!Array.isArray(hooks)) return void wrong('an entry has no list of hooks', 'hooks');
  const lost = reading.source.isCode === true ? null : lostMatcher(event, matcher);
  if (lost !== null) reading.unsupported(`${event}: the matcher ${shown(matcher)} fits no tool: ${lost}`);
  // Only `guardedHooks` has the symbol.
  const { [CHECK]: check } = group as { [CHECK]?: RunCheck };
  const source = check === undefined ? reading.source : { ...reading.source, check };
  for (const [place, one] of hooks.entries()) {
    const read = readHook(event, one, { matches, source, timeout });
    if ('kind' in read) reading.hooks.push(read);
    else if ('wrong' in read) wrong(read.wrong, 'hooks', place, ...(read.key ?? []));
    else reading.unsupported(`${event}: ${read.unsupported}`);
  }
}

/** Why it fits no call of a tool of Ramet or of a server; null if it may. */
function lostMatcher(event: HookEventName, matcher: string): string | null {
  if (hookEventKind(event).matches !== 'tool_name') return null;
  const problems = (matcherNames(matcher) ?? ['*']).map((name) => {
    const read = parseRule(name, { list: 'ask', place: 'a hook', base: '/', home: '/' });
    return read.ok || isOtherName(name) ? null : read.problem.reason.replace(/^can never match: /, '');
  });
  return problems.includes(null) ? null : (problems[0] ?? null);
}

/** With a misspelled matcher, hooks would run for everything. */
function strangeField(group: object, source: HookSource): { field: string; problem: string } | null {
  for (const field of Object.keys(group).filter((key) => !GROUP.includes(key))) {
    const near = nearName(field, GROUP);
    const hint = near === null ? `there are ${GROUP.join(', ')}` : `did you mean ${near}?`;
    if (near !== null || source.isCode === true)
      return { field, problem: `an entry has no field ${shown(field)}: ${hint}` };
  }
  return null;
}

type BadHook =
  | { readonly wrong: string; readonly key?: readonly string[] }
  | { readonly unsupported: string };

function readHook(
  event: HookEventName,
  value: unknown,
  { matches, source, timeout }: { matches: HookMatcher; source: HookSource; timeout: unknown },
): Hook | BadHook {
  if (typeof value === 'function') {
    const timeoutMs = timeoutOf(event, timeout);
    if (timeoutMs === null) return wrongTimeout(timeout);
    // What it takes is known only to who wrote it.
    return { kind: 'function', event, matches, source, timeoutMs, run: value as HookFunction };
  }
  if (!isObject(value)) return { wrong: 'a hook is no object' };
  const { type, command, args, shell } = value;
  if (type === undefined)
    return {
      wrong: 'a hook has no type, and does not run: "type": "command" is what it needs',
      key: ['type'],
    };
  if (typeof type !== 'string') return { wrong: `type ${shown(type)} is no text`, key: ['type'] };
  if (type !== 'command') return { unsupported: `type ${shown(type)} is not supported` };
  if (typeof command !== 'string' || command.trim() === '')
    return { wrong: 'a hook has no command', key: ['command'] };
  if (args !== undefined && !isTexts(args)) return { wrong: 'args is no list of texts', key: ['args'] };
  if (value.async !== undefined && typeof value.async !== 'boolean')
    return { wrong: 'async is neither true nor false', key: ['async'] };
  const timeoutMs = timeoutOf(event, value.timeout);
  if (timeoutMs === null) return wrongTimeout(value.timeout);
  if (shell !== undefined && shell !== 'bash')
    return { unsupported: `shell ${shown(shell)} is not supported` };
  // One that would run more often than it was set up to does more harm than one that does not run.
  const strange = Object.keys(value).find((key) => !KNOWN.includes(key));
  if (strange !== undefined)
    return { unsupported: `a hook with ${shown(strange)} is not supported and does not run` };
  const condition = value.if;
  const bad = condition === undefined ? null : badCondition(event, condition);
  if (bad !== null) return bad;
  const own = typeof condition === 'string' ? { condition } : {};
  const isAsync = value.async === true;
  return { kind: 'command', event, matches, source, timeoutMs, command, args: args ?? null, isAsync, ...own };
}

function badCondition(event: HookEventName, value: unknown): BadHook | null {
  if (typeof value !== 'string') return { wrong: 'if is no text', key: ['if'] };
  if (hookEventKind(event).matches !== 'tool_name')
    return { unsupported: 'a hook with "if" does not run: no call is judged at this event' };
  const read = parseRule(value, { list: 'ask', place: 'a hook', base: '/', home: '/' });
  return read.ok ? null : { wrong: `the rule ${shown(value)} ${read.problem.reason}`, key: ['if'] };
}

function wrongTimeout(value: unknown): BadHook {
  return { wrong: `timeout is no number of seconds: ${shown(value)}`, key: ['timeout'] };
}

function timeoutOf(event: HookEventName, value: unknown): number | null {
  const seconds = value === undefined ? hookEventKind(event).seconds : value;
  if (typeof seconds !== 'number' || !(seconds > 0)) return null;
  return Math.min(seconds * 1_000, LONGEST_TIMER_MS);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 60);
}
