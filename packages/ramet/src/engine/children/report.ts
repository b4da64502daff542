/**
 * What a parent gets to read of a child that has ended (AGENT-3): the answer to its call, or a notification when the
 * child ran in the background. What the engine knows stands first; the child's own words are quoted, redacted and cut
 * to a size of which a parent can take twenty (AGENT-5), and the whole is kept in a file.
 */
import { closeSync, writeFile } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { quoteText, quoteValue } from '../../conversation/quoted-text.ts';
import { isCommitId } from '../../git/run-git.ts';
import { TASK_NOTIFICATION } from '../../schema/content.ts';
import { describeError } from '../../schema/errors.ts';
import { grouped, hitRate, isUncertain, totalTokens } from '../../schema/usage.ts';
import { onAbort } from '../../system/on-abort.ts';
import { describeSize, headOf, headOfBytes } from '../../system/text/visible-text.ts';
import { createOutputFile } from '../../tools/shell/output-file.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { AgentResult } from '../agent/agent-event.ts';
import { checkoutWarning, childInterrupted } from '../agent/notices.ts';
import type { AgentHandle } from './child-handle.ts';
import type { AgentFamily } from './family.ts';

export interface ReportFacts extends AgentResult {
  agent: string;
  /** `fork`, `Explore`, ... */
  type: string;
  name: string | null;
  /** What it was for, in a few words. */
  description: string;
  /** A line for the parent's next choice, such as that a fresh agent would have cost less. */
  advice?: string | undefined;
}

export interface ReportKeeper {
  redact: (text: string) => string;
  outputDirectory: string;
  /** In bytes of UTF-8; 8 KB when absent. */
  cap?: number | undefined;
}

const CAP = 8_192;
const LONGEST_MESSAGE = 500;
const LONGEST_LABEL = 200;
const MOST_REASONS = 3;
/** The elements inside a notification. */
const FIELDS = [
  ...['task-id', 'name', 'status', 'summary', 'usage', 'duration', 'cost', 'worktree', 'note', 'result'],
] as const;

export async function foregroundResult(facts: ReportFacts, keep: ReportKeeper): Promise<ToolOutcome> {
  const { agent, status, worktree, advice } = facts;
  const name = facts.name === null ? '' : `, ${label(facts.name)}`;
  const who = `Agent ${agent} (${label(facts.type)}${name})`;
  const done = status === 'done';
  const head = [
    done ? `${who} done: ${figures(facts)}.` : `${who} ${ending(facts, keep)}`,
    ...(done ? [] : [`${figures(facts)}.`]),
    ...(worktree ? [worktreeLine(worktree)] : []),
    ...(advice ? [quoteText(advice)] : []),
  ];
  const report = await reportText(facts, keep);
  if (report !== '') head.push('', ...(done ? [] : ['Its last message:']), report);
  else if (done) head.push('', '(no report)');
  return { content: head.join('\n'), ...(done ? {} : { isError: true }) };
}

/** The result comes last: nothing that a child writes can precede what the engine says about it. */
export async function notificationText(facts: ReportFacts, keep: ReportKeeper): Promise<string> {
  const { agent, name, status, worktree, advice } = facts;
  const report = await reportText(facts, keep);
  const fields: [string, string | undefined][] = [
    ['task-id', agent],
    ['name', name === null ? undefined : label(name)],
    ['status', status === 'done' ? status : ending(facts, keep)],
    ['summary', label(facts.description)],
    ['usage', `${turnsOf(facts)}, ${tokensOf(facts)}${modelOf(facts)}`],
    ['duration', secondsOf(facts)],
    ['cost', dollarsOf(facts)],
    ['worktree', worktree && quoteField(worktreeText(worktree))],
    ['note', advice && quoteField(advice)],
    ['result', report === '' ? '(no report)' : `\n${report}\n`],
  ];
  const lines = fields.flatMap(([tag, value]) => (value === undefined ? [] : [`<${tag}>${value}</${tag}>`]));
  return [`<${TASK_NOTIFICATION}>`, ...lines, `</${TASK_NOTIFICATION}>`].join('\n');
}

export function worktreeLine(worktree: NonNullable<ReportFacts['worktree']>): string {
  return `Worktree: ${quoteText(worktreeText(worktree))}.`;
}

/** Where its work is and how it is had (WORK-3); one that was removed held none. */
function worktreeText(worktree: NonNullable<ReportFacts['worktree']>): string {
  const { path, branch, base, kept, reasons, from, checkoutChanges = [] } = worktree;
  if (checkoutChanges.length > 0) {
    const { checkoutChanges: _, ...own } = worktree;
    return `${kept || reasons.length > 0 ? worktreeText(own) : 'nothing in it, removed'}; WARNING: ${from} changed meanwhile; ${checkoutWarning(checkoutChanges)}`;
  }
  if (!kept) return reasons.length === 0 ? 'unchanged, removed' : `${reasons.join(', ')}; removed`;
  const holds = reasons.length === 0 ? '' : `; holds ${reasons.slice(0, MOST_REASONS).join(', ')}`;
  const on = worktree.head === undefined ? '' : `on ${worktree.head}, not `;
  const where = `${on === '' ? 'branch ' : on}${branch ?? 'none'}`;
  return `${path} (${where}, from ${base.slice(0, 12)}${holds}${mergeText(worktree)})`;
}

/** `ramet worktree commit` takes these. */
const UNCOMMITTED = /^(?:staged and not committed|changed and not committed|not known to git): /;

/** How its work is had. A merge takes nothing of files that are not committed. */
function mergeText({ path, branch, reasons, head }: NonNullable<ReportFacts['worktree']>): string {
  if (branch === null) return '';
  const has = (what: RegExp): boolean => reasons.some((reason) => what.test(reason));
  const isChanged = has(UNCOMMITTED);
  // On another branch nothing is committed, and git may not be able to take the files back to its own.
  const leave =
    isChanged && head !== undefined && !isCommitId(head) ? [`git -C ${path} switch --detach`] : [];
  const commit = isChanged ? [`ramet worktree commit ${basename(path)}`] : [];
  const onBranch = has(/ not merged\b/) || (isChanged && head === undefined) ? [branch] : [];
  const named = isChanged ? ['the commit that it names'] : has(/ without a branch\b/) ? [head] : [];
  const wanted = [...onBranch, ...(head === undefined ? [] : named)];
  const merge = wanted.length === 0 ? [] : [`git merge ${wanted.join(' and ')}`];
  const steps = [...leave, ...commit, ...merge];
  return steps.length === 0 ? '' : `; ${steps.join(', then ')}`;
}

/** `failed: budget: the budget is spent: ...`. */
function ending({ status, cause, message }: ReportFacts, { redact }: ReportKeeper): string {
  // An interruption's message says the same again.
  const repeats = message === null || message === `${status} (${cause})`;
  const why = repeats ? null : quoteField(headOf(redact(message.toWellFormed()), LONGEST_MESSAGE));
  return [status, cause, why].filter((part) => part !== null && part !== '').join(': ');
}

function label(text: string): string {
  return quoteField(headOf(text.toWellFormed(), LONGEST_LABEL));
}

/** Fit for any field of a notification. */
function quoteField(text: string): string {
  return quoteValue(text, FIELDS);
}

function figures(facts: ReportFacts): string {
  return [turnsOf(facts), tokensOf(facts), dollarsOf(facts), `${secondsOf(facts)}${modelOf(facts)}`].join(
    ', ',
  );
}

/** A child may run on another model than its parent asked for or has. */
function modelOf({ model }: ReportFacts): string {
  return model === undefined ? '' : ` on ${label(model)}`;
}

function turnsOf({ turns }: ReportFacts): string {
  return `${turns} turn${turns === 1 ? '' : 's'}`;
}

function tokensOf({ usage }: ReportFacts): string {
  const cached = hitRate(usage);
  const share = cached === null ? '' : ` (${Math.floor(cached * 100)}% from the cache)`;
  const least = isUncertain(usage) ? 'at least ' : '';
  return `${least}${grouped(totalTokens(usage))} tokens${share}`;
}

function dollarsOf({ costUsd }: ReportFacts): string {
  return costUsd === null ? 'cost unknown' : `$${costUsd.toFixed(4)}`;
}

function secondsOf({ durationMs }: ReportFacts): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

/** What the child said, fit for its parent; empty when it said nothing. */
async function reportText({ agent, text }: ReportFacts, keep: ReportKeeper): Promise<string> {
  const whole = quoteText(keep.redact(text.toWellFormed()).trim(), ['/result']);
  const cap = keep.cap ?? CAP;
  const size = Buffer.byteLength(whole);
  if (size <= cap) return whole;
  const place = await keepReport(keep.outputDirectory, agent, whole);
  return `${headOfBytes(whole, cap)}\n[cut: ${describeSize(size)} in all; ${place}]`;
}

const writeWhole = promisify(writeFile);

/** Into a file of its own each time: earlier reports of a continued agent are still referred to. */
async function keepReport(directory: string, agent: string, text: string): Promise<string> {
  try {
    const { path, descriptor } = createOutputFile(directory, reportNames(agent));
    try {
      await writeWhole(descriptor, text);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      closeSync(descriptor);
    }
    return `the whole is in ${path}`;
  } catch (error) {
    return `the rest could not be kept: ${describeError(error)}`;
  }
}

function* reportNames(agent: string): Generator<string> {
  const stem = `${agent.replace(/[^\w.-]/g, '_')}-report`;
  yield `${stem}.md`;
  for (let number = 2; number <= 10_000; number += 1) yield `${stem}-${number}.md`;
}

/** Waits for a child as the call that started it does: returns its report, or says that it went to the background. */
export async function reportOfRunning(
  family: AgentFamily,
  { redact, outputDirectory }: Omit<ReportKeeper, 'cap'>,
  handle: AgentHandle,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (handle.inBackground) return { content: startedText(handle) };
  // After a resume the child is older than this call.
  const unlink = onAbort(signal, () => {
    if (!handle.inBackground) handle.stop(String(signal.reason));
  });
  const waiting = (): Promise<unknown> => Promise.race([handle.result, handle.detached]);
  const capacity = family.find(handle.parent)?.here.capacity;
  await (capacity?.whileWaiting(signal, waiting) ?? waiting());
  unlink();
  if (handle.inBackground) return { content: `It was sent to the background. ${startedText(handle)}` };
  const result = await handle.result;
  const { id, type, name, description } = handle;
  // Resuming the parent resumes the child: if both were interrupted, the call stays open.
  if (result.status === 'interrupted' && signal.aborted) {
    return { content: childInterrupted(id, result.cause), isError: true, isOpen: true };
  }
  return foregroundResult(
    { ...result, agent: id, type, name, description },
    { redact, outputDirectory, cap: family.parts.limits.reportBytes },
  );
}

export function startedText({ id, name }: AgentHandle): string {
  const called = name === null ? '' : ` "${name}"`;
  return `Agent ${id}${called} runs in the background. A <task-notification> will tell you when it ends; do not wait for it.`;
}
