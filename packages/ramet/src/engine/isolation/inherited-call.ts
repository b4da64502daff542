/**
 * A tool call of an agent in a worktree that names a path of its parent's checkout (FORK-6). The call is made for the
 * same path in the worktree, and its result says so; what exists in the checkout only is said to be absent.
 */
import { existsSync } from 'node:fs';
import { inheritedPath } from '../../permission/inherited-path.ts';
import type { ToolUseBlock } from '../../schema/content.ts';
import type { ToolOutcome } from '../../tools/agent-desk.ts';
import { accessOfCall } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { type CallPlace, inheritedCommand, type TranslatedPath } from './inherited-command.ts';

export type InheritedCall =
  | { kind: 'translated'; call: ToolUseBlock; notice: string }
  | { kind: 'refused'; reason: string };

/** Null for a call that names no such path. */
export function inheritedCall(tool: Tool, call: ToolUseBlock, place: CallPlace): InheritedCall | null {
  const { input } = call;
  if (typeof input !== 'object' || input === null) return null;
  const { command } = accessOfCall(tool, input);
  if (command !== undefined) return commandCall(call, command, place);
  const paths: TranslatedPath[] = [];
  const translated = Object.entries(input).map(([field, value]: [string, unknown]) => {
    if (typeof value !== 'string' || !isPathField(tool, field, value)) return [field, value];
    const used = inheritedPath(place.places, value, place.cwd);
    if (used === null) return [field, value];
    paths.push({ given: value, used });
    return [field, used];
  });
  if (paths.length === 0) return null;
  return {
    kind: 'translated',
    call: { ...call, input: Object.fromEntries(translated) },
    notice: noticeOf(paths),
  };
}

/** How other tools name their paths is not known; these names are common. */
const USUAL_FIELDS: ReadonlySet<string> = new Set(['file_path', 'path', 'notebook_path']);

function isPathField({ pathFields = {} }: Tool, field: string, value: string): boolean {
  if (pathFields === 'any') return USUAL_FIELDS.has(field) || value.startsWith('/');
  const kind = Object.hasOwn(pathFields, field) ? pathFields[field] : undefined;
  return kind === 'path' || (kind === 'pattern' && value.startsWith('/'));
}

function commandCall(call: ToolUseBlock, command: string, place: CallPlace): InheritedCall | null {
  const found = inheritedCommand(command, place);
  if (found === null) return null;
  const { paths, left } = found;
  if (found.command === null) return { kind: 'refused', reason: refusalOf(paths) };
  const input = { ...(call.input as object), command: found.command }; // an object, as its caller has seen
  const notices = [
    ...(paths.length === 0 ? [] : [noticeOf(paths)]),
    ...(left.length === 0 ? [] : [`[Not translated, because it is the text searched for: ${listed(left)}.]`]),
  ];
  return { kind: 'translated', call: { ...call, input }, notice: notices.join('\n') };
}

function noticeOf(paths: readonly TranslatedPath[]): string {
  const absent = paths.filter(({ given, used }) => isOnlyThere(given, used));
  const missing =
    absent.length === 0 ? '' : ` Not in your worktree: ${listed(absent.map(({ used }) => used))}.`;
  return `[That is your parent's checkout. Your worktree was used instead: ${listed(paths.map(arrow))}.${missing}]`;
}

function isOnlyThere(given: string, used: string): boolean {
  return given.startsWith('/') && existsSync(given) && !existsSync(used);
}

function refusalOf(paths: readonly TranslatedPath[]): string {
  return `Not run: the command names your parent's checkout. Use the path in your worktree or a relative path: ${listed(paths.map(arrow))}.`;
}

function arrow({ given, used }: TranslatedPath): string {
  return `${given} is ${used}`;
}

const MOST_LISTED = 5;

function listed(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  const more = all.length > MOST_LISTED ? `, and ${all.length - MOST_LISTED} more` : '';
  return `${all.slice(0, MOST_LISTED).join(', ')}${more}`;
}

export function withNotice(outcome: ToolOutcome, notice: string): ToolOutcome {
  const { content } = outcome;
  return {
    ...outcome,
    content:
      typeof content === 'string' ? `${notice}\n${content}` : [{ type: 'text', text: notice }, ...content],
  };
}
