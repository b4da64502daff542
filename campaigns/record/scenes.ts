/**
 * The sessions that are recorded: a plan of the kill campaign each, and the moment at which its process ends. Moments are
 * made by a server that falls silent or by a command that takes its time, never by chance.
 */
import type { Fault } from 'ramet/emulator';
import { effectLines } from '../kill/aim.ts';
import type { KillPhase } from '../kill/phase.ts';
import { everyAgent, type PlanExecutor, type PlanShape, planOf, type RoundPlan } from '../kill/plan.ts';
import type { Chance } from '../kill/random.ts';
import type { RecordedRound } from '../kill/recorded.ts';
import type { Asked } from '../kill/stage.ts';
import type { World } from '../kill/world.ts';

export interface ScenePlace {
  asked: readonly Asked[];
  world: World;
  recorded: RecordedRound | null;
}

/** One process: how the server treats it and when it ends. */
export interface SceneRun {
  fault?: (asked: Asked, all: readonly Asked[]) => Fault | undefined;
  /** The moment has come; without it the process comes to its end. */
  until?: (place: ScenePlace) => boolean;
  /** SIGKILL where nothing is said. */
  signal?: 'SIGINT';
  /** A program on the library, which stops at the first response. */
  isLibrary?: boolean;
}

export interface Scene {
  name: string;
  plan: RoundPlan;
  runs: SceneRun[];
  /** Among the phases that the journal shows afterwards. */
  phases: KillPhase[];
  /** Then an undo of all its changes is begun, and killed before it has ended. */
  isUndone?: boolean;
}

/** Every agent talks, has to prove its work and runs two commands that act first and wait afterwards. */
const CERTAIN: Chance = {
  next: () => 0,
  below: () => 1,
  pick: () => {
    throw new Error('a plan picks nothing');
  },
  holds: () => true,
};
const HELD_SECONDS = 0.7;
const LIMIT: Fault = { kind: 'status', status: 429, retryAfter: 3_600 };

function plan(shape: PlanShape, executor: PlanExecutor = 'in-process'): RoundPlan {
  return planOf(shape, CERTAIN, executor);
}

/** The second command of that agent goes on for a while after its effect. */
function held(task: string, from: RoundPlan): RoundPlan {
  const line = `${task}-many1`;
  for (const { input } of everyAgent(from.root).flatMap(({ steps }) => steps.flat())) {
    const { command } = input;
    if (typeof command === 'string' && command.includes(`echo ${line} `))
      input.command = command.replace(/sleep [\d.]+/, `sleep ${HELD_SECONDS}`);
  }
  return from;
}

function isolated(from: RoundPlan): RoundPlan {
  for (const { name, input } of from.root.steps.flat()) if (name === 'Agent') input.isolation = 'worktree';
  return from;
}

/** Silence at the so manieth request of each of these agents. */
function silent(wanted: Record<string, number>, at: 'headers' | 'text' | 'tool_input' = 'headers'): SceneRun {
  return broken(wanted, { kind: 'stall', at });
}

function broken(wanted: Record<string, number>, fault: Fault): SceneRun {
  const countOf = (task: string, all: readonly Asked[]): number =>
    all.filter((one) => one.task === task && one.moment !== 'summary').length;
  return {
    fault: ({ task }, all) => (countOf(task, all) === wanted[task] ? fault : undefined),
    until: ({ asked }) => Object.entries(wanted).every(([task, number]) => countOf(task, asked) >= number),
  };
}

function also(run: SceneRun, until: NonNullable<SceneRun['until']>): SceneRun {
  return { ...run, until: (place) => (run.until?.(place) ?? true) && until(place) };
}

function hasEnded(task: string): NonNullable<SceneRun['until']> {
  return ({ recorded }) =>
    Array.from(recorded?.agents.values() ?? []).some((one) => one.task === task && one.ended !== null);
}

function hasEffect(line: string): NonNullable<SceneRun['until']> {
  return ({ world }) => effectLines(world).includes(line);
}

function isSummary({ moment }: Asked): boolean {
  return moment === 'summary';
}

/** A request after a summary that was given. */
function isCompacted(asked: Asked, all: readonly Asked[]): boolean {
  return (
    !isSummary(asked) &&
    all.some((one) => isSummary(one) && one.task === asked.task && one.state === 'answered')
  );
}

function compacting(at: 'headers' | 'text'): SceneRun {
  return {
    fault: (asked) => (isSummary(asked) ? { kind: 'stall', at } : undefined),
    until: ({ asked }) => asked.some(isSummary),
  };
}

export function scenes(): Scene[] {
  const one = (name: string, from: RoundPlan, run: SceneRun, ...phases: KillPhase[]): Scene => ({
    name,
    plan: from,
    runs: [run],
    phases,
  });
  const waiting = { ...plan('foreground'), settings: { limits: { waitSeconds: 1 } } };
  return [
    one(
      'before-the-first-request',
      plan('alone'),
      { until: ({ recorded, asked }) => recorded !== null || asked.length > 0 },
      'before the first request',
    ),
    one('first-request-unanswered', plan('alone'), silent({ root: 1 }), 'in a request'),
    one('later-request-unanswered', plan('alone'), silent({ root: 4 }), 'in a request'),
    one('half-of-a-text', plan('alone'), silent({ root: 3 }, 'text'), 'in a request'),
    one('half-of-a-call', plan('alone'), silent({ root: 2 }, 'tool_input'), 'in a request'),
    one('response-before-its-calls', plan('alone'), { isLibrary: true }, 'between response and tools'),
    one('in-a-command', held('root', plan('alone')), { until: hasEffect('root-many1') }, 'in a tool'),
    one('interrupted-by-hand', plan('foreground'), { ...silent({ a: 2, b: 3 }), signal: 'SIGINT' }),
    one('interrupted-by-the-provider', waiting, {
      fault: broken({ a: 3 }, LIMIT).fault ?? (() => undefined),
    }),
    one('ended', plan('foreground'), {}, 'ended'),
    { ...one('undo-unfinished', plan('foreground'), {}, 'ended'), isUndone: true },
    one('children-at-work', plan('foreground'), silent({ a: 2, b: 3 }), 'in a request', 'waits for agents'),
    one(
      'children-in-processes',
      plan('foreground', 'process'),
      silent({ a: 3, b: 2 }),
      'in a request',
      'waits for agents',
    ),
    one(
      'child-in-a-command',
      held('a', plan('foreground', 'process')),
      also(silent({ b: 3 }), hasEffect('a-many1')),
      'in a tool',
    ),
    one(
      'child-waits-for-a-limit',
      plan('foreground'),
      also(
        broken({ a: 2 }, LIMIT),
        ({ recorded }) => recorded?.events.some(({ event }) => event.type === 'request.failed') === true,
      ),
      'waits after a refusal',
    ),
    one(
      'child-ended-and-untold',
      plan('foreground'),
      also(silent({ b: 2 }), hasEnded('a')),
      'ended, and its parent not told',
    ),
    one(
      'mail-waiting',
      plan('background'),
      also(also(silent({ root: 3 }), hasEnded('a')), hasEnded('b')),
      'ended, and its parent not told',
    ),
    one('nested-agents', plan('nested'), silent({ a1: 2, b1: 3, c: 2 }), 'in a request', 'waits for agents'),
    one('nested-processes', plan('nested', 'process'), silent({ a2: 2, b1: 2, c: 3 }), 'in a request'),
    one('summary-unanswered', plan('crowded'), compacting('headers'), 'in a compaction'),
    one('half-of-a-summary', plan('crowded'), compacting('text'), 'in a compaction'),
    one(
      'after-a-summary',
      plan('crowded'),
      {
        fault: (asked, all) => (isCompacted(asked, all) ? { kind: 'stall', at: 'headers' } : undefined),
        until: ({ asked }) => asked.some((each) => isCompacted(each, asked)),
      },
      'in a request',
    ),
    one('worktrees-at-work', isolated(plan('foreground')), silent({ a: 4, b: 3 }), 'in a request'),
    one(
      'worktree-in-a-process',
      isolated(held('a', plan('foreground', 'process'))),
      also(silent({ b: 5 }), ({ asked }) => asked.filter(({ task }) => task === 'a').length >= 4),
      'in a request',
    ),
    {
      name: 'killed-twice',
      plan: plan('mixed'),
      runs: [silent({ b: 2, c: 3 }), silent({ b: 5, c: 7 })],
      phases: ['in a request'],
    },
  ];
}
