/** What hooks of one event answered, made into one: deny beats ask beats allow, texts are joined in order. */
import type { NotedGuard } from '../../schema/events.ts';
import type { Hook } from './hook-config.ts';
import { type HookEventName, hookEventKind } from './hook-event.ts';
import { type HookAnswer, type HookReply, replyOf } from './hook-reply.ts';

/** How one hook ended, for the record. */
export interface HookRun {
  /** Its command, and where it is set up. */
  readonly hook: string;
  readonly source: string;
  readonly outcome: 'ok' | 'blocked' | 'failed' | 'started';
  readonly durationMs: number;
  /** How it failed. */
  readonly problem?: string;
  /** The same was said before. */
  readonly isKnown?: true;
}

export interface HookResult {
  readonly runs: readonly HookRun[];
  readonly effect: HookEffect;
  /** For the user, in order. */
  readonly messages: readonly string[];
  /** To be put on record. */
  readonly noted: readonly NotedGuard[];
}

/** What all hooks of an event together want. */
export interface HookEffect extends Omit<HookReply, 'context' | 'message' | 'path'> {
  readonly paths?: readonly string[];
  /** Told to the model, in order. */
  readonly contexts: readonly string[];
}

export interface TimedAnswer {
  readonly hook: Hook;
  readonly answer: HookAnswer;
  readonly durationMs: number;
  readonly isKnown?: true;
}

const LONGEST_NAME = 120;

/** As messages name it. */
export function hookName(hook: Hook): string {
  if (hook.kind === 'function') return hook.run.name || 'a function';
  const text = [hook.command, ...(hook.args ?? [])].join(' ').replace(/\s+/g, ' ').trim();
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
}

const WIDTH = { allow: 0, ask: 1, deny: 2 } as const;

export function merged(event: HookEventName, answers: readonly TimedAnswer[]): Omit<HookResult, 'noted'> {
  const replies = answers.flatMap(({ answer }) => replyOf(event, answer) ?? []);
  const decided = replies.reduce<HookReply | null>((best, reply) => {
    if (reply.decision === undefined) return best;
    const isStronger = best?.decision === undefined || WIDTH[reply.decision] > WIDTH[best.decision];
    return isStronger ? reply : best;
  }, null);
  const failures = answers.flatMap(({ answer }) => ('failure' in answer ? [answer.failure] : []));
  const blocks = [
    ...replies.flatMap(({ block }) => block ?? []),
    ...(hookEventKind(event).failureBlocks ? failures : []),
  ];
  const paths = replies.flatMap(({ path }) => path ?? []);
  const last = <Key extends keyof HookReply>(key: Key): HookReply[Key] =>
    replies.findLast((reply) => reply[key] !== undefined)?.[key];
  return {
    runs: answers.map((answer) => runOf(event, answer)),
    messages: replies.flatMap(({ message }) => message ?? []),
    effect: {
      decision: decided?.decision,
      reason: decided?.reason,
      updatedInput: last('updatedInput'),
      updatedOutput: last('updatedOutput'),
      answer:
        replies.find(({ answer }) => answer !== undefined && answer.action !== 'accept')?.answer ??
        last('answer'),
      title: last('title'),
      opening: last('opening'),
      block: blocks.length === 0 ? undefined : blocks.join('\n'),
      stop: replies.find(({ stop }) => stop !== undefined)?.stop,
      contexts: replies.flatMap(({ context }) => context ?? []),
      ...(paths.length > 0 && { paths }),
    },
  };
}

function runOf(event: HookEventName, { hook, answer, durationMs, isKnown }: TimedAnswer): HookRun {
  const named = { hook: hookName(hook), source: hook.source.label, durationMs: Math.round(durationMs) };
  if ('failure' in answer) return { ...named, outcome: 'failed', problem: answer.failure };
  if ('withheld' in answer)
    return { ...named, outcome: 'failed', problem: answer.withheld, ...(isKnown && { isKnown }) };
  if (hook.kind === 'command' && hook.isAsync) return { ...named, outcome: 'started' };
  const { decision, block, stop } = answer.reply;
  const isBlocked = decision === 'deny' || block !== undefined || stop !== undefined;
  return { ...named, outcome: isBlocked && event !== 'PostToolUse' ? 'blocked' : 'ok' };
}
