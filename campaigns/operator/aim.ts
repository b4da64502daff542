/** When a run is to be killed, and what of it. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentProcesses, endProcess, processesIn } from '../kill/processes.ts';
import type { Chance } from '../kill/random.ts';
import type { Run } from '../kill/world.ts';
import type { OperatorPlace } from './place.ts';

export const MOMENTS = [
  'after a while',
  'at the start',
  'after a line',
  'at a request',
  'while git runs',
  'git in mid-write',
] as const;
export type Moment = (typeof MOMENTS)[number];

export const TARGETS = [
  'host',
  'process group',
  'every process',
  'an agent',
  'a git',
  'SIGINT',
  'SIGTERM',
  'Ctrl-C',
] as const;
export type Target = (typeof TARGETS)[number];

export interface Aim {
  moment: Moment;
  target: Target;
  /** The how manieth line or request. */
  count: number;
  /** How long after it. */
  ms: number;
}

/** What an undisturbed run of the plan came to. */
export interface Measured {
  ms: number;
  lines: number;
  requests: number;
}

const START_UP_MS = 400;

export function chooseAim(chance: Chance, { ms, lines, requests }: Measured, hasProcesses: boolean): Aim {
  const moment = chance.pick(MOMENTS);
  const target = chooseTarget(chance, moment, hasProcesses);
  const within = (length: number): number => chance.next() * length;
  switch (moment) {
    case 'after a while':
      return { moment, target, count: 0, ms: within(ms) };
    case 'at the start':
      return { moment, target, count: 0, ms: within(START_UP_MS) };
    case 'after a line':
      return { moment, target, count: 1 + chance.below(lines), ms: within(20) };
    case 'at a request':
      return { moment, target, count: 1 + chance.below(requests), ms: within(60) };
    case 'while git runs':
      return { moment, target, count: 1 + chance.below(8), ms: within(ms * 0.8) };
    case 'git in mid-write':
      return { moment, target, count: 0, ms: within(ms * 0.8) };
  }
}

function chooseTarget(chance: Chance, moment: Moment, hasProcesses: boolean): Target {
  if (moment === 'git in mid-write') return chance.holds(0.5) ? 'a git' : 'process group';
  if (hasProcesses && moment !== 'at the start' && chance.holds(0.3)) return 'an agent';
  if (moment === 'while git runs' && chance.holds(0.3)) return 'a git';
  return chance.holds(0.75)
    ? chance.pick(['host', 'process group', 'every process'] as const)
    : chance.pick(['SIGINT', 'SIGTERM', 'Ctrl-C', 'Ctrl-C'] as const);
}

/** Waits for the moment and kills. Null if the run had ended by then, or if there was nothing to kill. */
export async function carryOut(
  aim: Aim,
  run: Run,
  place: OperatorPlace,
  chance: Chance,
): Promise<string | null> {
  const { moment, count, ms, target } = aim;
  const until = async (isTime: () => boolean): Promise<void> => {
    while (!run.isOver && !isTime()) await sleep(1);
  };
  const began = performance.now();
  const after = (time: number) => () => performance.now() - began >= time;
  if (moment === 'git in mid-write') {
    await until(after(ms));
    const group = target === 'a git' ? null : run.pid;
    return (await place.killGit(group, () => run.isOver)) ? `git ${place.killedGit}` : null;
  }
  if (moment === 'after a line') await until(() => run.stdout.split('\n').length > count);
  const before = place.requests;
  if (moment === 'at a request') await until(() => place.requests - before >= count);
  const reached = performance.now();
  await until(() => performance.now() - reached >= ms);
  if (moment === 'while git runs')
    for (let left = count; left > 0 && !run.isOver; left--) await nextGit(place, run);
  return run.isOver ? null : kill(target, run, place, chance);
}

async function nextGit({ world }: OperatorPlace, run: Run): Promise<void> {
  const known = new Set(gitsIn(world.root));
  while (!run.isOver && gitsIn(world.root).every((pid) => known.has(pid))) await sleep(0);
}

function gitsIn(root: string): number[] {
  return processesIn(root).filter((pid) => nameOf(pid) === 'git');
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return ''; // it has ended
  }
}

function kill(target: Target, run: Run, { world }: OperatorPlace, chance: Chance): string | null {
  switch (target) {
    case 'host':
      endProcess(run.pid);
      return target;
    case 'process group':
      endProcess(-run.pid);
      return target;
    case 'every process':
      // The parents first, so that none of them learns of the death of another.
      for (const pid of processesIn(world.root).sort((one, other) => one - other)) endProcess(pid);
      return target;
    case 'an agent':
      return killOne(agentProcesses(run.pid), chance, target);
    case 'a git':
      return killOne(gitsIn(world.root), chance, target);
    case 'Ctrl-C':
      // The terminal sends it to all programs of the group.
      endProcess(-run.pid, 'SIGINT');
      return target;
    default:
      endProcess(run.pid, target);
      return target;
  }
}

function killOne(pids: readonly number[], chance: Chance, name: string): string | null {
  if (pids.length === 0) return null;
  endProcess(chance.pick(pids));
  return name;
}
