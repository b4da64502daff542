/**
 * What the members of a round do: each writes numbered letters to the others, to the lead and to everybody, competes for
 * tasks, and leaves a file for each task that it gets. A letter names its sender and its number, so one that is lost,
 * doubled or out of order shows.
 */
import type { Chance } from '../kill/random.ts';

export const EXECUTORS = ['in-process', 'process'] as const;

export interface TeamPlan {
  name: string;
  members: number;
  /** Letters of each member in each part of its work. */
  letters: number;
  executor: (typeof EXECUTORS)[number];
}

export type TeamStep =
  | { kind: 'letter'; to: string; text: string }
  /** With what follows for the one who gets it: the file, and that it is completed. */
  | { kind: 'task'; task: number };

/** The lead sends a member to each part; it rests before that. */
export const PARTS = 3;
const FEWEST_MEMBERS = 3;
const MOST_MEMBERS = 12;
const TRIES = 3;

export function teamPlan(chance: Chance, round: number): TeamPlan {
  const members = FEWEST_MEMBERS + chance.below(MOST_MEMBERS - FEWEST_MEMBERS + 1);
  const letters = 2 + chance.below(4);
  const executor = EXECUTORS[round % EXECUTORS.length] ?? 'in-process';
  return { name: `${members} members, ${executor}`, members, letters, executor };
}

export function memberNames({ members }: TeamPlan): string[] {
  return Array.from({ length: members }, (_, index) => `m${index}`);
}

/** As many as members: each is wanted by three of them. */
export function taskNumbers({ members }: TeamPlan): number[] {
  return Array.from({ length: members }, (_, index) => index + 1);
}

/** The steps of one part of a member's work; the last tells the lead that it is over. */
export function partOf(plan: TeamPlan, member: number, part: number): TeamStep[] {
  const names = memberNames(plan);
  const own = `m${member}`;
  const others = names.filter((name) => name !== own);
  const letters = Array.from({ length: plan.letters }, (_, index): TeamStep => {
    const to = others[(member + part * plan.letters + index) % others.length] ?? 'lead';
    return { kind: 'letter', to: index === 1 ? 'lead' : to, text: letterText(own, part, index) };
  });
  const broadcast: TeamStep[] =
    part === 2 && member < 2 ? [{ kind: 'letter', to: '*', text: letterText(own, part, plan.letters) }] : [];
  const tasks: TeamStep[] =
    part === 1
      ? Array.from({ length: TRIES }, (_, index) => ({
          kind: 'task',
          task: 1 + ((member + index) % plan.members),
        }))
      : [];
  return [...letters, ...broadcast, ...tasks, { kind: 'letter', to: 'lead', text: overText(own, part) }];
}

export function letterText(from: string, part: number, index: number): string {
  return `letter ${from} ${part} ${index};`;
}

export function overText(member: string, part: number): string {
  return `over ${member} ${part};`;
}

export function goText(member: string, part: number): string {
  return `go ${member} ${part};`;
}

export interface Letter {
  from: string;
  to: string;
  text: string;
}

/** Every letter of the plan, one for each receiver, in the order of its sender. */
export function lettersOf(plan: TeamPlan): Letter[] {
  const names = memberNames(plan);
  return names.flatMap((from, member) =>
    Array.from({ length: PARTS }, (_, index) => index + 1).flatMap((part) => [
      { from: 'lead', to: from, text: goText(from, part) },
      ...partOf(plan, member, part).flatMap((step) =>
        step.kind === 'letter' ? sent(names, from, step) : [],
      ),
    ]),
  );
}

function sent(names: readonly string[], from: string, { to, text }: { to: string; text: string }): Letter[] {
  const receivers = to === '*' ? ['lead', ...names].filter((name) => name !== from) : [to];
  return receivers.map((receiver) => ({ from, to: receiver, text }));
}
