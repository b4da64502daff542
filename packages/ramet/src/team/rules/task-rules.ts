/** Who may do what to a task, and what follows from it. Nothing here reads or writes anything. */
import { LEAD, type TeamMember, type TeamTask } from '../../schema/team.ts';

const LONGEST_SUBJECT = 300;
const LONGEST_TEXT = 64 * 1024;

interface TaskWords {
  subject?: string | undefined;
  description?: string | undefined;
  evidence?: string | null | undefined;
  note?: string | null | undefined;
}

type Held = Pick<TeamTask, 'number' | 'status' | 'owner' | 'createdBy' | 'blockedBy'>;

/** Why a task cannot be claimed now; null if it can, or is claimed by the same already. */
export function claimProblem(task: Held, by: string): string | null {
  const { number, status, owner, blockedBy } = task;
  if (status === 'in_progress') return owner === by ? null : `task ${number} is taken by ${owner}`;
  if (status !== 'pending') return `task ${number} is ${status}`;
  if (owner !== null && owner !== by) return `task ${number} is taken: it is assigned to ${owner}`;
  return blockedBy.length === 0 ? null : `task ${number} waits for ${listed(blockedBy)}`;
}

/** `override`: the lead does what only the owner may. */
export type Right = { problem: string } | { override: boolean };

/** An owner changes its task. Of a task without an owner, its maker does. */
export function rightTo(what: string, task: Held, by: string): Right {
  const holder = task.owner ?? task.createdBy;
  if (holder === by) return { override: false };
  if (by === LEAD) return { override: task.owner !== null };
  const unclaimed = what === 'end' ? endProblem(task) : null;
  if (unclaimed !== null) return { problem: unclaimed };
  const whose = task.owner === null ? `made by ${holder}` : `${holder}'s`;
  const who = holder === LEAD ? LEAD : `${holder} or ${LEAD}`;
  return { problem: `cannot ${what} task ${task.number}: it is ${whose}; only ${who} may` };
}

/** Ending a task needs a claim: what nobody works on cannot be completed. */
export function endProblem({ number, status }: Held): string | null {
  if (status === 'in_progress') return null;
  return status === 'pending'
    ? `task ${number} is pending: claim it first (status in_progress)`
    : `task ${number} is ${status} already`;
}

/** The tasks on a cycle that `task` would close if it needed `needed`: from `task` back to itself. Null for none. */
export function cycleWith(
  task: number,
  needed: number,
  needsOf: (task: number) => readonly number[],
): number[] | null {
  const cameFrom = new Map<number, number>([[needed, task]]);
  const open = [needed];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === task) return pathBack(task, cameFrom);
    for (const next of needsOf(at)) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      open.push(next);
    }
  }
  return null;
}

function pathBack(task: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path = [task];
  // A task that needs itself has come from itself.
  for (let at = cameFrom.get(task); at !== undefined && at !== task; at = cameFrom.get(at)) path.unshift(at);
  return [task, ...path];
}

/** Whom to wake for tasks that have become free: their owners, and one idle member for each of the others. */
export function whoToWake(
  freed: readonly Pick<TeamTask, 'owner'>[],
  members: readonly TeamMember[],
): string[] {
  const idle = members.filter(({ name, state }) => state === 'idle' && name !== LEAD).map(({ name }) => name);
  const assigned = freed.flatMap(({ owner }) => (owner === null ? [] : [owner]));
  const woken = new Set(assigned.filter((name) => idle.includes(name)));
  const open = freed.length - assigned.length;
  for (const name of idle.filter((each) => !woken.has(each)).slice(0, open)) woken.add(name);
  return [...woken];
}

export function listed(numbers: readonly number[]): string {
  return `${numbers.length === 1 ? 'task' : 'tasks'} ${numbers.join(', ')}`;
}

/** What is wrong with the words of a task; null if nothing is. */
export function textProblem({ subject, ...texts }: TaskWords): string | null {
  if (subject !== undefined && (subject.trim() === '' || subject.length > LONGEST_SUBJECT)) {
    return `a task needs a subject of 1 to ${LONGEST_SUBJECT} characters`;
  }
  const long = Object.entries(texts).find(([, text]) => (text?.length ?? 0) > LONGEST_TEXT);
  if (long === undefined) return null;
  const [which, text] = long;
  return `the ${which} has ${text?.length} characters, and at most ${LONGEST_TEXT} are allowed: write it to a file and name that`;
}
