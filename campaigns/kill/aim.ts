/** When a process is to be killed: at a moment that the server or the repository shows, or after a while. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentProcesses } from './processes.ts';
import type { Chance } from './random.ts';
import type { Asked, Stage } from './stage.ts';
import type { Run, World } from './world.ts';

export const AIMS = [
  'after a while',
  'before the first request',
  'at the first record',
  'at a request',
  'in a response',
  'after a response',
  'at an effect',
  'at a report',
  'at a compaction',
  'at a rate limit',
] as const;
export type AimKind = (typeof AIMS)[number];

export interface Aim {
  kind: AimKind;
  /** The how manieth of its kind since the process was started, from 1. */
  count: number;
  /** How long after it. */
  ms: number;
  /** Not before an agent has a process of its own: it is to be killed. */
  atAgents?: boolean;
}

/** What an undisturbed run of the plan came to. */
export interface Expected {
  ms: number;
  requests: number;
  effects: number;
}

const LONG_LIMIT_SECONDS = 3_600;
/** A host that lives on, when an agent's process was killed, gets its answer in the end. */
const STALL_MS = 5_000;
/** From the start of a process to its first request, about. */
const START_UP_MS = 250;

export function chooseAim(chance: Chance, expected: Expected, shape: string): Aim {
  const crowded = shape === 'crowded';
  const kind =
    crowded && chance.holds(0.4)
      ? 'at a compaction'
      : chance.pick(AIMS.filter((one) => one !== 'at a compaction'));
  switch (kind) {
    case 'after a while':
      return { kind, count: 0, ms: chance.next() * expected.ms * 1.1 };
    case 'before the first request':
      return { kind, count: 0, ms: chance.next() * START_UP_MS };
    case 'at the first record':
      return { kind, count: 0, ms: chance.next() * 40 };
    case 'at an effect':
      return { kind, count: 1 + chance.below(expected.effects), ms: chance.next() * 12 };
    case 'at a report':
      return { kind, count: 1 + chance.below(3), ms: chance.next() * 25 };
    case 'at a compaction':
      return { kind, count: 1, ms: chance.next() * 25 };
    case 'at a rate limit':
      return { kind, count: 1 + chance.below(expected.requests), ms: 20 + chance.next() * 150 };
    default:
      return { kind, count: 1 + chance.below(expected.requests), ms: chance.next() * 8 };
  }
}

interface AimPlace {
  stage: Stage;
  world: World;
}

/** Resolves at the moment, or when the process has ended without it. */
export async function moment(aim: Aim, run: Run, place: AimPlace): Promise<boolean> {
  const reached = Promise.withResolvers<boolean>();
  using _ = watch(aim, place, () => reached.resolve(true));
  void run.ended.then(() => reached.resolve(false));
  if (!(await reached.promise)) return false;
  // Who waits for a limit of an hour starts nobody before it has passed.
  const comes = aim.atAgents && aim.kind !== 'at a rate limit';
  while (comes && !run.isOver && agentProcesses(run.pid).length === 0) await sleep(5);
  await sleep(aim.ms);
  return !run.isOver;
}

function watch(
  { kind, count }: Aim,
  { stage, world }: { stage: Stage; world: World },
  reach: () => void,
): Disposable {
  let seen = 0;
  const nth = (): void => {
    seen += 1;
    if (seen === count) reach();
  };
  switch (kind) {
    case 'after a while':
    case 'before the first request':
      reach();
      return { [Symbol.dispose]() {} };
    case 'at the first record':
      return watchJournals(world, reach);
    case 'at an effect':
      return watchEffects(world, count, reach);
    case 'after a response':
      return stage.listen((what) => what === 'answered' && nth());
    case 'at a report':
      return stage.listen((what, { moment: at }) => what === 'answered' && at === 'report' && nth());
    case 'at a compaction':
      return stage.listen((_, { moment: at }) => at === 'summary' && nth());
    default:
      return breakNth(stage, kind, count, reach);
  }
}

/** The request is answered with silence, half an answer, or a limit, until the target is dead. */
function breakNth(stage: Stage, kind: AimKind, count: number, reach: () => void): Disposable {
  let seen = 0;
  let hit: Asked | null = null;
  stage.fault = (asked: Asked) => {
    seen += 1;
    if (seen !== count) return undefined;
    hit = asked;
    setImmediate(reach);
    if (kind === 'at a rate limit') return { kind: 'status', status: 429, retryAfter: LONG_LIMIT_SECONDS };
    if (kind === 'at a request') return undefined;
    const calls = asked.moment === 'step' || asked.moment === 'again' || asked.moment === 'resume';
    return { kind: 'stall', at: calls ? 'tool_input' : 'text', ms: STALL_MS };
  };
  stage.delay = (asked) => (kind === 'at a request' && asked === hit ? STALL_MS : 0);
  return {
    [Symbol.dispose]() {
      stage.fault = null;
      stage.delay = null;
    },
  };
}

/** The process has made its session, or has written that it goes on. */
function watchJournals(world: World, reach: () => void): Disposable {
  const before = journalState(world);
  const timer = setInterval(() => {
    if (journalState(world) !== before) reach();
  }, 1);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function journalState(world: World): string {
  return world
    .sessions()
    .map((session) => `${session} ${sizeAndTime(`${world.journalFile(session)}-wal`)}`)
    .join();
}

function sizeAndTime(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.size} ${found.mtimeMs}`;
}

function watchEffects(world: World, more: number, reach: () => void): Disposable {
  const before = effectLines(world).length;
  const timer = setInterval(() => {
    if (effectLines(world).length >= before + more) reach();
  }, 2);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Every line that a command of the plan has written. */
export function effectLines(world: World): string[] {
  return effectFiles(world).flatMap((text) => text.split('\n').filter((line) => line !== ''));
}

function effectFiles(world: World): string[] {
  return world.effectLogs().map((name) => {
    try {
      return readFileSync(join(world.repository, 'effects', name), 'utf8');
    } catch {
      return '';
    }
  });
}
