/**
 * Attempts as agents of a session: each begins at the private ref, where its pattern says (OP-9). When its agent is done, its work
 * is committed in the name of the agent. An agent of an earlier process is found by its name, and continued if it was at work.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentHandle, AgentResult, SpawnOutcome } from '../../../engine/shapes.ts';
import { unreadableObject } from '../../../git/left-work.ts';
import { setAside } from '../../../git/managed-worktrees.ts';
import type { WorktreePlace } from '../../../git/shapes.ts';
import type { AgentOverview } from '../../../journal/projections/status.ts';
import { isolationOf } from '../../../operator/run/isolation.ts';
import type { AttemptEnd, AttemptOrder, AttemptWatch, LiveAttempt } from '../../../operator/run/ports.ts';
import { describeError, RametError } from '../../../schema/errors.ts';
import type { Isolation } from '../../../schema/operator-events.ts';
import { NO_USAGE } from '../../../schema/usage.ts';
import { endOfOutput } from '../check-output.ts';
import type { RefWitness } from './attempt-refs.ts';
import type {
  AttemptObjection,
  AttemptPattern,
  AttemptSpawn,
  AttemptWork,
  EndedAgent,
} from './patterns/attempt-pattern.ts';
import { worktreePattern } from './patterns/worktree-pattern.ts';
import { taskPrompt } from './task-prompt.ts';
import type { TaskQuestions } from './task-questions.ts';

export interface AttemptPlace {
  spawn(order: AttemptSpawn): Promise<SpawnOutcome>;
  /** Says something to an agent that has ended, and so continues it. */
  tell(agent: string, text: string): Promise<AgentHandle>;
  /** The agents at work. */
  running(): readonly AgentHandle[];
  /** An agent of an earlier process by its name, as the journal has it. */
  recorded(name: string): AgentOverview | undefined;
  /** The worktree of an agent of an earlier process, as it was given back. */
  worktreeOf(agent: string): Promise<AgentResult['worktree']>;
  /** Whether agents of that type share the first message, with the rules of the run. */
  sharesRules(type: string): boolean;
  /** Whether that type names a model, which then comes before that of the role. */
  hasModel(type: string): boolean;
  /** Whether agents of that type only read. */
  readsOnly(type: string): boolean;
  worktrees: WorktreePlace;
  witness: RefWitness;
  /** All but `worktree` and `team`. */
  patterns: Readonly<Record<Exclude<Isolation, 'worktree' | 'team'> | 'read', AttemptPattern>>;
  /** Null in a session without a team. */
  team: AttemptPattern | null;
  questions: TaskQuestions | null;
  /** Takes secrets out. */
  redact(text: string): string;
}

const DEFAULT_TYPE = 'general-purpose';
/** For an agent that an earlier process left. */
export const CONTINUE = 'You were interrupted. Resume your task where you left it.';

export function beginAttempt(order: AttemptOrder, watch: AttemptWatch, place: AttemptPlace): LiveAttempt {
  const stopping = new AbortController();
  const pattern = patternFor(order, place);
  pattern.expect?.(order);
  const work = carryOut(order, { watch, place, pattern, stopping });
  const ended = work
    .catch((error: unknown): AttemptEnd => {
      return { kind: 'failed', cause: 'internal', message: describeError(error), ...NOTHING };
    })
    .finally(() => pattern.over?.(order));
  return { ended, stop: (reason) => stopping.abort(reason) };
}

/** As it was begun, or as the rules say. */
function patternFor({ run, task, attempt, before }: AttemptOrder, place: AttemptPlace): AttemptPattern {
  const reads = place.readsOnly(task.settings.type ?? DEFAULT_TYPE);
  const attempts = before === null ? [] : [before];
  const isolation = attempt.isolation ?? (reads ? 'read' : isolationOf(run, { task, attempts }));
  if (isolation === 'team' && place.team !== null) return place.team;
  return isolation === 'worktree' || isolation === 'team'
    ? worktreePattern(place.worktrees, place.witness)
    : place.patterns[isolation];
}

function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof RametError)) throw error;
}

const NOTHING = { costUsd: 0, usage: NO_USAGE } as const;

interface AttemptParts {
  readonly watch: AttemptWatch;
  readonly place: AttemptPlace;
  readonly pattern: AttemptPattern;
  readonly stopping: AbortController;
}

async function carryOut(order: AttemptOrder, parts: AttemptParts): Promise<AttemptEnd> {
  const found = await agentOf(order, parts);
  if ('kind' in found) return found;
  if ('result' in found && !('steer' in found)) return endOf(order, found, parts);
  const { watch, pattern } = parts;
  const site = await pattern.siteOf(order, found.id);
  watch.started({ agent: found.id, ...site, isolation: pattern.isolation });
  void found.idle.then(() => watch.rests());
  return endOf(order, await awaited(order, found, parts), parts);
}

/** Waits for its agent; meanwhile its questions are the task's, and it can be stopped. */
async function awaited(
  order: AttemptOrder,
  handle: AgentHandle,
  { watch, place, stopping: { signal } }: AttemptParts,
): Promise<EndedAgent> {
  const unwatch = place.questions?.watch(handle.id, order.task.id, watch);
  const stop = (): void => handle.stop(String(signal.reason));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return endedAgent(handle.id, await handle.result);
  } finally {
    signal.removeEventListener('abort', stop);
    unwatch?.();
  }
}

function endedAgent(id: string, result: AgentResult): EndedAgent {
  return endedIn({ id, isKept: true, result }, result.worktree);
}

/** With the outcome of its worktree. */
export function endedIn(ended: EndedAgent, worktree: AgentResult['worktree']): EndedAgent {
  if (worktree === undefined) return ended;
  const { kept: isKept, head, tip, others } = worktree;
  return { ...ended, isKept, head, tip, others };
}

/** Its agent at work, or how it has ended already. */
async function agentOf(
  order: AttemptOrder,
  { place, pattern, stopping }: AttemptParts,
): Promise<AgentHandle | EndedAgent | AttemptEnd> {
  const { name } = order.attempt;
  if (pattern.hire !== undefined) {
    const { prompt } = spawnOrder(order, pattern, place);
    const hired = await pattern.hire(order, prompt, stopping.signal);
    if (hired === null) return calledOff(stopping.signal);
    if (!('notHired' in hired)) return hired;
    const { notHired: kind, ...why } = hired;
    return { kind, ...why };
  }
  if (order.isResumed) {
    const running = place.running().find((handle) => handle.name === name);
    if (running !== undefined) return running;
    const past = place.recorded(name);
    if (past?.status === 'interrupted') return place.tell(past.id, CONTINUE);
    if (past !== undefined) {
      const ended = { id: past.id, isKept: past.worktree !== null, result: past };
      return endedIn(ended, await place.worktreeOf(past.id));
    }
  }
  try {
    const where = await pattern.prepare(order, (reason) => stopping.abort(reason));
    const outcome = await place.spawn({ ...spawnOrder(order, pattern, place), ...where });
    return 'handle' in outcome ? outcome.handle : notStarted(outcome);
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    const isPassing = error.family === 'retryable';
    return notStarted({ problem: `it cannot be isolated: ${error.message}`, isPassing });
  }
}

function calledOff({ reason }: AbortSignal): AttemptEnd {
  return { kind: 'interrupted', cause: String(reason), message: null, ...NOTHING };
}

interface NotStarted {
  problem: string;
  /** It may succeed another time. */
  isPassing?: boolean;
}

function notStarted({ problem, isPassing = false }: NotStarted): AttemptEnd {
  if (isPassing) return { kind: 'failed', cause: 'worktree', message: problem, ...NOTHING };
  const isSetup = /^it cannot (?:have a worktree|be isolated)/.test(problem);
  const cause = isSetup ? 'setup' : /^the budget is spent/.test(problem) ? 'budget' : 'not_started';
  return { kind: 'failed', cause, message: problem, final: true, ...NOTHING };
}

function spawnOrder(order: AttemptOrder, pattern: AttemptPattern, place: AttemptPlace): AttemptSpawn {
  const { task, attempt, run } = order;
  const { settings } = task;
  // A member has read the rules of earlier tasks alone: each task brings its own.
  const sharesRules = pattern.hire === undefined && place.sharesRules(settings.type ?? DEFAULT_TYPE);
  const role = place.hasModel(settings.type ?? DEFAULT_TYPE) ? undefined : run.model;
  const own = settings.model ?? role ?? undefined;
  return {
    prompt: taskPrompt(order, {
      ...{ withRules: !sharesRules, isolation: pattern.isolation, printed: printedBefore(order, place) },
    }),
    skipsNotes: sharesRules && settings.type === undefined,
    description: `${task.id} ${task.title}`.slice(0, 200),
    subagent_type: settings.type ?? DEFAULT_TYPE,
    name: attempt.name,
    ...(own !== undefined && { model: own }),
    ...(settings.effort !== undefined && { effort: settings.effort }),
    ...(settings.budget !== undefined && { budget: settings.budget }),
    ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
  };
}

/** What the check printed that the attempt before it did not pass. */
function printedBefore({ before }: AttemptOrder, { redact }: AttemptPlace): string | null {
  const check = before?.check ?? null;
  return check === null ? null : endOfOutput(check.output, { ...PRINTED, redact });
}

const PRINTED = { lines: 40, characters: 4_000 };

async function endOf(order: AttemptOrder, ended: EndedAgent, parts: AttemptParts): Promise<AttemptEnd> {
  const end = await judged(order, ended, parts);
  const notes = parts.pattern.notes?.(order, ended) ?? [];
  return notes.length === 0 ? end : { ...end, notes };
}

/** An agent can write where git has its objects. What cannot be read would fail in a merge, or on the target. */
async function unreadableWork(
  { run, attempt }: AttemptOrder,
  { commit }: AttemptWork,
  { worktrees: { repository, env } }: AttemptPlace,
): Promise<AttemptObjection | null> {
  const call = { cwd: repository.root, env };
  const found = await unreadableObject({ from: attempt.base ?? run.base, to: commit }, call);
  if (found === null) return null;
  if (found.id !== null) putAside(repository.commonDirectory, found.id);
  return { cause: 'unreadable_work', message: `git cannot read what is in commit ${commit}: ${found.what}` };
}

/** Git writes no object that seems to be there: the next attempt would meet it again. */
function putAside(commonDirectory: string, id: string): void {
  const file = join(commonDirectory, 'objects', id.slice(0, 2), id.slice(2));
  if (existsSync(file)) setAside(commonDirectory, file);
}

/** The recipe model reads a task the same way each time: one that it refuses before the first step it never carries out. */
function isRefused(cause: string, message: string | null): boolean {
  return cause === 'recipe' && !/^(?:step \d+|\d+) of \d+/.test(message ?? '');
}

async function judged(order: AttemptOrder, ended: EndedAgent, parts: AttemptParts): Promise<AttemptEnd> {
  const { pattern, place } = parts;
  const { status, cause, message } = ended.result;
  const { costUsd, usage } = ended.result;
  const bill = (await pattern.bill?.(order)) ?? { costUsd, usage };
  const facts = { ...bill, ...(await pattern.siteOf(order, ended.id)) };
  const given = async (why: {
    cause: string;
    message: string | null;
    final?: boolean;
    person?: string;
    branch?: string | null;
  }): Promise<AttemptEnd> => {
    // What keeps its files from being taken may keep them from being put away: the first reason is the one to tell.
    const kept = await pattern.abandon?.(order, ended).catch(ignoreFailure);
    const branch = kept?.branch ?? why.branch ?? facts.branch;
    return { kind: 'failed', ...why, ...facts, branch };
  };
  const objection = (await pattern.objection?.(order, ended)) ?? null;
  if (objection !== null) return given(objection);
  if (status === 'interrupted') return { kind: 'interrupted', cause: cause ?? status, message, ...facts };
  if (status !== 'done') {
    const why = status === 'failed' ? (cause ?? status) : status;
    return given({ cause: why, message, final: status === 'cancelled' || isRefused(why, message) });
  }
  try {
    const tell = async (text: string): Promise<EndedAgent> =>
      awaited(order, await place.tell(ended.id, text), parts);
    const work = await pattern.collect(order, ended, tell);
    if (work === null) {
      const isReport = place.readsOnly(order.task.settings.type ?? DEFAULT_TYPE);
      return { kind: 'unchanged', isReport, ...facts };
    }
    if ('result' in work) return endOf(order, work, parts);
    if (!('commit' in work)) return given(work);
    const unreadable = await unreadableWork(order, work, place);
    return unreadable === null ? { kind: 'worked', ...facts, ...work } : given(unreadable);
  } catch (error) {
    if (!(error instanceof RametError)) throw error;
    return given({ cause: error.code, message: error.message });
  }
}
