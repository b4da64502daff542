/**
 * The life of one task as a machine (OP-2). Its states are the statuses of a task, its guards are pure, and it does nothing
 * by itself: what follows from a change is done by the operator, after the change is on record.
 *
 * Invariants
 * 1. `done` is reached from `merging` or `verifying` alone, so no error leads there; and again by work that someone had taken
 *    off the target, when it is back. It is left only if the target has moved and does not have the work, or the work does not fit.
 * 2. A failure is tried again while the task has retries, and freezes it otherwise; setup and permission block it instead.
 *    What only has to be done elsewhere is tried again at once, and is no failure.
 */
import { createActor, setup } from 'xstate';
import type { TaskStatus } from '../../schema/operator-events.ts';

export interface TaskContext {
  readonly cause: string | null;
  /** Failures since the start, or since a person said to try again. */
  readonly failures: number;
  readonly retries: number;
  /** Agents at work on it. */
  readonly live: number;
  /** Attempts whose work waits to be merged or is being merged. */
  readonly offered: number;
}

export type TaskEvent =
  | { type: 'ready' }
  | { type: 'gate'; cause: string }
  | { type: 'start'; attempts: number }
  | { type: 'ask' }
  | { type: 'answered' }
  /** An attempt has ended, and its work is committed. */
  | { type: 'worked' }
  /** An attempt has ended without. `final`: another one would not help. */
  | { type: 'failed'; cause: string; final?: boolean }
  | { type: 'interrupted'; cause: string }
  /** Its work is merged and checked, and not on the private ref yet. */
  | { type: 'checked' }
  | { type: 'merged'; cause: string | null }
  | { type: 'rejected'; cause: string; final?: boolean }
  /** It was merged, and is taken out again: it does not fit to what the target has become. */
  | { type: 'left_out'; cause: string; final?: boolean }
  /** It had landed, and someone has taken it off the target; or it is there again. */
  | { type: 'removed' }
  | { type: 'restored' }
  /** Its work is still good, and is merged again when what it waits for is done. */
  | { type: 'offered_again' }
  /** The time of the next try has come. */
  | { type: 'due' }
  /** Its reviewers say nothing: a person decides. */
  | { type: 'unreviewed' }
  /** Nothing can start it any more. */
  | { type: 'strand' }
  | { type: 'skip' }
  | { type: 'retry' }
  | { type: 'stop'; cause: string }
  /** Another process continues the run. */
  | { type: 'resume'; attempts: number };

const machine = setup({
  types: {
    context: {} as TaskContext, // types alone: no value is read
    events: {} as TaskEvent, // the same
    input: {} as Pick<TaskContext, 'retries'>, // the same
  },
  guards: {
    isSetup: ({ event }) => event.type === 'failed' && event.cause === 'setup',
    isMove: ({ event }) => event.type === 'failed' && event.cause === MOVE_CAUSE,
    othersWork: ({ context, event }) => context.live - (event.type === 'failed' ? 1 : 0) > 0,
    othersOffered: ({ context, event }) => context.offered - (event.type === 'rejected' ? 1 : 0) > 0,
    mayRetry: ({ context, event }) => context.failures < context.retries && !isFinal(event),
    hasRun: ({ context }) => context.live > 0,
  },
});

const noted = machine.assign({ cause: ({ event }) => causeOf(event) });
const stranded = machine.assign({ cause: 'dependency' });
const removed = machine.assign({ cause: 'removed' });
const unreviewed = machine.assign({ cause: 'review' });
const asking = machine.assign({ cause: 'permission' });
const cleared = machine.assign({ cause: null });
const ended = machine.assign({ live: ({ context }) => Math.max(0, context.live - 1) });
const offered = machine.assign({ offered: ({ context }) => context.offered + 1 });
const alone = machine.assign({ live: 0, offered: 0 });
const taken = machine.assign({ offered: 1 });
const refused = machine.assign({ offered: ({ context }) => Math.max(0, context.offered - 1) });
const failed = machine.assign({ failures: ({ context }) => context.failures + 1 });
const fresh = machine.assign({ cause: null, failures: 0, live: 0, offered: 0 });

/** It wrote what others may be at work on, in a checkout that they share. */
export const MOVE_CAUSE = 'outside_files';

const AFTER_FAILURE = [
  { guard: 'isMove', target: 'waiting', actions: [ended, noted] },
  { guard: 'isSetup', target: 'blocked', actions: [ended, noted] },
  { guard: 'othersWork', actions: [ended] },
  { guard: 'othersOffered', target: 'verifying', actions: [ended, cleared] },
  { guard: 'mayRetry', target: 'waiting', actions: [ended, failed, noted] },
  { target: 'frozen', actions: [ended, failed, noted] },
] as const;

const AFTER_REFUSAL = [
  { guard: 'othersOffered', target: 'verifying', actions: [refused, cleared] },
  { guard: 'othersWork', target: 'running', actions: [refused, cleared] },
  { guard: 'mayRetry', target: 'waiting', actions: [refused, failed, noted] },
  { target: 'frozen', actions: [refused, failed, noted] },
] as const;

const AFTER_LEAVING = [
  { guard: 'mayRetry', target: 'waiting', actions: [failed, noted, alone] },
  { target: 'frozen', actions: [failed, noted, alone] },
] as const;

const OFFERED_AGAIN = { offered_again: { target: 'verifying', actions: [taken, cleared] } } as const;

const SKIP = { skip: { target: 'skipped', actions: [fresh] } } as const;
const RETRY = { retry: { target: 'queued', actions: [fresh] } } as const;
const STOP = { stop: { target: 'cancelled', actions: [noted] } } as const;

/** What an attempt at work can come to. */
const AT_WORK = {
  worked: { target: 'verifying', actions: [ended, offered, cleared] },
  failed: AFTER_FAILURE,
  interrupted: { target: 'interrupted', actions: [ended, noted] },
  ...SKIP,
  ...STOP,
} as const;

const BACK_AT_WORK = { guard: 'hasRun', target: 'running', actions: [cleared] } as const;
const ANSWERED = { answered: BACK_AT_WORK, resume: BACK_AT_WORK } as const;

const IN_MERGE = {
  worked: { actions: [ended, offered] },
  failed: { actions: [ended] },
  interrupted: { actions: [ended] },
  merged: { target: 'done', actions: [noted] },
  rejected: AFTER_REFUSAL,
} as const;

const taskMachine = machine.createMachine({
  id: 'task',
  context: ({ input }) => ({ cause: null, failures: 0, live: 0, offered: 0, retries: input.retries }),
  initial: 'queued',
  states: {
    queued: {
      on: {
        ready: { target: 'ready', actions: [cleared] },
        gate: { target: 'blocked', actions: [noted] },
        strand: { target: 'blocked', actions: [stranded] },
        ...SKIP,
        ...STOP,
        ...OFFERED_AGAIN,
      },
    },
    ready: {
      on: {
        start: {
          target: 'running',
          actions: [cleared, machine.assign({ live: ({ event }) => liveOf(event) })],
        },
        ...SKIP,
        ...STOP,
      },
    },
    running: { on: { ask: { target: 'blocked', actions: [asking] }, ...AT_WORK } },
    blocked: {
      on: {
        ...ANSWERED,
        ...AT_WORK,
        ...RETRY,
        ...OFFERED_AGAIN,
      },
    },
    waiting: {
      on: { due: { target: 'ready', actions: [cleared] }, ...SKIP, ...STOP, ...RETRY, ...OFFERED_AGAIN },
    },
    verifying: {
      on: {
        checked: { target: 'merging' },
        strand: { target: 'blocked', actions: [stranded] },
        unreviewed: { target: 'blocked', actions: [unreviewed] },
        ...IN_MERGE,
        ...SKIP,
      },
    },
    merging: { on: { ...IN_MERGE, resume: { target: 'verifying' } } },
    done: {
      on: { left_out: AFTER_LEAVING, removed: { target: 'frozen', actions: [removed] }, ...OFFERED_AGAIN },
    },
    failed: { on: { ...RETRY, ...SKIP } },
    frozen: {
      on: { restored: { target: 'done', actions: [cleared] }, ...RETRY, ...SKIP, ...OFFERED_AGAIN },
    },
    skipped: { on: RETRY },
    cancelled: { on: { ...RETRY, ...SKIP } },
    interrupted: {
      on: {
        resume: {
          target: 'running',
          actions: [cleared, machine.assign({ live: ({ event }) => liveOf(event) })],
        },
        ...RETRY,
        ...SKIP,
      },
    },
    timed_out: { on: { ...RETRY, ...SKIP } },
  },
});

function isFinal(event: TaskEvent): boolean {
  return 'final' in event && event.final === true;
}

function causeOf(event: TaskEvent): string | null {
  return 'cause' in event ? event.cause : null;
}

function liveOf(event: TaskEvent): number {
  return event.type === 'start' || event.type === 'resume' ? event.attempts : 0;
}

/** One task's actor. */
export interface TaskActor {
  readonly status: TaskStatus;
  readonly context: TaskContext;
  can(event: TaskEvent): boolean;
  send(event: TaskEvent): void;
}

/** An actor where a task was left: a new task is `queued`. */
export function createTaskActor(start: { status: TaskStatus; context: TaskContext }): TaskActor {
  const snapshot = taskMachine.resolveState({ value: start.status, context: start.context });
  const actor = createActor(taskMachine, { snapshot, input: { retries: start.context.retries } }).start();
  return {
    get status() {
      // The states of the machine are the statuses of a task, as its test holds.
      return actor.getSnapshot().value as TaskStatus;
    },
    get context() {
      return actor.getSnapshot().context;
    },
    can: (event) => actor.getSnapshot().can(event),
    send: (event) => actor.send(event),
  };
}
