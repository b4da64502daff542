/**
 * Hooks as they are set up: in settings, in agent files, in plugins and in the library. All have one shape: by event, a
 * list of groups, each with a matcher and its hooks. What cannot be used is named, never left out silently.
 */
import { LONGEST_TIMER_MS } from '../../schema/clock.ts';
import type { RunCheck } from '../trust/run-check.ts';
import { type HookEventName, hookEventKind, isHookEvent } from './hook-event.ts';
import { type HookMatcher, hookMatcher } from './hook-matcher.ts';

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
  readonly transcript_path: string;
  readonly cwd: string;
  readonly hook_event_name: HookEventName;
  readonly permission_mode?: string;
  readonly agent_id?: string;
  readonly agent_type?: string;
}

export interface HookList {
  readonly hooks: readonly Hook[];
  /** What has no effect, and why: a phrase each, such as `PreToolUse: type "http" is not supported`. */
  readonly unused: readonly string[];
}

const NO_HOOKS: HookList = { hooks: [], unused: [] };

/** Set up for a hook and known to change nothing about when or how it runs. */
const COSMETIC = ['type', 'command', 'args', 'timeout', 'async', 'statusMessage', 'shell', 'description'];

export function readHooks(value: unknown, source: HookSource): HookList {
  if (value === undefined || value === null) return NO_HOOKS;
  if (!isObject(value)) return { hooks: [], unused: ['hooks is no object'] };
  const hooks: Hook[] = [];
  const unused: string[] = [];
  for (const [event, groups] of Object.entries(value)) {
    if (!isHookEvent(event)) unused.push(`${shown(event)}: there is no such event here`);
    else if (!Array.isArray(groups)) unused.push(`${event} is no list`);
    else for (const group of groups) readGroup(event, group, { source, hooks, unused });
  }
  return { hooks, unused: [...new Set(unused)] };
}

interface Reading {
  readonly source: HookSource;
  readonly hooks: Hook[];
  readonly unused: string[];
}

function readGroup(event: HookEventName, group: unknown, reading: Reading): void {
  const say = (problem: string): unknown => reading.unused.push(`${event}: ${problem}`);
  if (!isObject(group)) return void say('an entry is no object');
  const { matcher = '', hooks, timeout } = group;
  if (typeof matcher !== 'string') return void say('a matcher is no text');
  const matches = hookMatcher(matcher);
  if (matches === null) return void say(`the matcher ${shown(matcher)} is no regular expression`);
  if (!Array.isArray(hooks)) return void say('an entry has no list of hooks');
  // Only `guardedHooks` has the symbol.
  const { [CHECK]: check } = group as { [CHECK]?: RunCheck };
  const source = check === undefined ? reading.source : { ...reading.source, check };
  for (const one of hooks) {
    const read = readHook(event, one, { matches, source, timeout });
    if (typeof read === 'string') say(read);
    else reading.hooks.push(read);
  }
}

function readHook(
  event: HookEventName,
  value: unknown,
  { matches, source, timeout }: { matches: HookMatcher; source: HookSource; timeout: unknown },
): Hook | string {
  if (typeof value === 'function') {
    const timeoutMs = timeoutOf(event, timeout);
    if (timeoutMs === null) return `timeout is no number of seconds: ${shown(timeout)}`;
    // What it takes is known only to who wrote it.
    return { kind: 'function', event, matches, source, timeoutMs, run: value as HookFunction };
  }
  if (!isObject(value)) return 'a hook is no object';
  const { type, command, args, shell } = value;
  if (type !== 'command') return `type ${shown(type)} is not supported`;
  if (typeof command !== 'string' || command.trim() === '') return 'a hook has no command';
  if (args !== undefined && !isTexts(args)) return 'args is no list of texts';
  if (shell !== undefined && shell !== 'bash') return `shell ${shown(shell)} is not supported`;
  if (value.async !== undefined && typeof value.async !== 'boolean') return 'async is neither true nor false';
  // One that would run more often than it was set up to does more harm than one that does not run.
  const strange = Object.keys(value).find((key) => !COSMETIC.includes(key));
  if (strange !== undefined) return `a hook with ${shown(strange)} is not supported and does not run`;
  const timeoutMs = timeoutOf(event, value.timeout);
  if (timeoutMs === null) return `timeout is no number of seconds: ${shown(value.timeout)}`;
  const isAsync = value.async === true;
  return { kind: 'command', event, matches, source, timeoutMs, command, args: args ?? null, isAsync };
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
