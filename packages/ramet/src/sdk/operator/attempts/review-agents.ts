/**
 * Reviewers as agents of the session: each in a worktree at the commit it judges, with an answer in a fixed form. None is the
 * author or shares its conversation. One of an earlier process is found by its name: continued, or only read if it had ended.
 */
import { compileAnswerSchema } from '../../../engine/answer/answer-schema.ts';
import type { AgentResult } from '../../../engine/shapes.ts';
import { gitText } from '../../../git/run-git.ts';
import type { LiveReview, ReviewEnd, ReviewOrder } from '../../../operator/run/ports.ts';
import { describeError } from '../../../schema/errors.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import * as z from '../../../schema/zod.ts';
import { type AttemptPlace, CONTINUE } from './attempt-agents.ts';
import { reviewPrompt } from './review-prompt.ts';

export interface ReviewPlace
  extends Pick<AttemptPlace, 'spawn' | 'tell' | 'running' | 'recorded' | 'worktrees'> {
  /** The last answer of an agent that an earlier process ran. */
  textOf(agent: string): Promise<string>;
}

const VERDICT = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'whether it may be merged as it is' },
    reasons: { type: 'string', description: 'what must be repaired first, or what you checked' },
  },
  required: ['approved', 'reasons'],
  additionalProperties: false,
};
const verdict = z.strictObject({ approved: z.boolean(), reasons: z.string() });
/** They go into the prompt of the next attempt. */
const LONGEST_REASONS = 4_000;

export function beginReview(order: ReviewOrder, place: ReviewPlace): LiveReview {
  const stopping = new AbortController();
  const ended = carryOut(order, place, stopping.signal).catch((error: unknown): ReviewEnd => {
    return { kind: 'failed', message: describeError(error), agent: null, costUsd: 0, usage: NO_USAGE };
  });
  return { ended, stop: (reason) => stopping.abort(reason) };
}

type ReviewerEnd = Pick<AgentResult, 'status' | 'cause' | 'message' | 'text' | 'costUsd' | 'usage'>;

async function carryOut(order: ReviewOrder, place: ReviewPlace, signal: AbortSignal): Promise<ReviewEnd> {
  const found = order.isResumed ? await earlier(order, place) : null;
  if (found !== null && 'end' in found) return endOf(found.id, found.end);
  const outcome = found ?? (await place.spawn(await spawnOrder(order, place)));
  if ('problem' in outcome)
    return { kind: 'failed', message: outcome.problem, agent: null, costUsd: 0, usage: NO_USAGE };
  const { handle } = outcome;
  const stop = (): void => handle.stop(String(signal.reason));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await endOf(handle.id, await handle.result);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

type Outcome = Extract<Awaited<ReturnType<AttemptPlace['spawn']>>, { handle: unknown }>;

async function earlier(
  { name }: ReviewOrder,
  place: ReviewPlace,
): Promise<Outcome | { id: string; end: ReviewerEnd } | null> {
  const running = place.running().find((handle) => handle.name === name);
  if (running !== undefined) return { handle: running };
  const past = place.recorded(name);
  if (past === undefined) return null;
  if (past.status === 'interrupted') return { handle: await place.tell(past.id, CONTINUE) };
  return { id: past.id, end: { ...past, text: await place.textOf(past.id) } };
}

async function spawnOrder(
  order: ReviewOrder,
  { worktrees }: ReviewPlace,
): Promise<Parameters<AttemptPlace['spawn']>[0]> {
  const { run, task, attempt, type, name } = order;
  const { base, commit } = attempt;
  if (commit === null) throw new Error('there is no commit to review');
  const call = { cwd: worktrees.repository.root, env: worktrees.env };
  const diff = await gitText(
    ['diff', '--no-color', '--no-ext-diff', '--no-textconv', base ?? `${commit}^`, commit],
    call,
  );
  return {
    prompt: reviewPrompt(order, diff),
    description: `review ${task.id} ${task.title}`.slice(0, 200),
    subagent_type: type,
    ...{ name, schema: VERDICT, isolation: 'worktree', worktreeBase: commit },
    ...(run.models?.reviewer !== undefined && { model: run.models.reviewer }),
  };
}

async function endOf(agent: string, result: ReviewerEnd): Promise<ReviewEnd> {
  const { status, cause, message, text, costUsd, usage } = result;
  const facts = { agent, costUsd, usage };
  if (status === 'interrupted') return { kind: 'interrupted', cause: cause ?? status, message, ...facts };
  if (status !== 'done')
    return { kind: 'failed', message: [cause ?? status, message].filter(Boolean).join(': '), ...facts };
  const compiled = await compileAnswerSchema(VERDICT);
  const checked = compiled.ok ? compiled.schema.check(text) : null;
  if (checked?.ok !== true)
    return { kind: 'failed', message: checked?.problem ?? 'its answer has another form', ...facts };
  const { approved, reasons } = verdict.parse(JSON.parse(checked.json));
  return { kind: 'verdict', approved, reasons: reasons.slice(0, LONGEST_REASONS).toWellFormed(), ...facts };
}
