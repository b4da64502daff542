/** What the engine says to a coordinator and its workers: fixed texts, so that equal situations give equal bytes. */
import { quoteText } from '../../conversation/quoted-text.ts';
import type { Coordination, RecordedWorker } from '../../journal/projections/coordination.ts';
import type { CoordinatorPhase } from '../../schema/status.ts';
import { headOf, visibleLine } from '../../system/text/visible-text.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import type { PhaseObstacle } from './phase-machine.ts';

interface NamedWorker {
  readonly id: string;
  readonly name: string | null;
  readonly description?: string;
}

const MOST_LISTED = 20;
const LONGEST_PURPOSE = 80;

export const NOT_COORDINATOR =
  'You are a worker: you start no agents, write to none, and change no phase. Do the task with your own tools, and report what is missing.';

export const ALONE =
  'In synthesis you work alone: no worker is started or continued. Read the results, decide what to change and where, then call Phase with to "implementation" and the plan, or with to "research" if something is still unknown.';

export const NO_FORKS =
  'A coordinator does not fork: a worker knows its prompt alone. Leave subagent_type out or name a type, and write everything that the worker needs into the prompt.';

export const NOTHING_CHANGED = 'The phase stays.';

export function ownWork(worker: NamedWorker): string {
  return `${who(worker)} has implemented something itself, and nobody verifies their own work. Start a fresh worker, or call Phase with to "implementation" if there is something to correct.`;
}

const NOTES: Readonly<Record<CoordinatorPhase, string>> = {
  research:
    'The coordinator is in its research phase. Find out, and change nothing: calls that change files are refused. Report facts with file and line.',
  synthesis: '',
  implementation:
    'The coordinator is in its implementation phase. Carry out the change that is described, all of it and nothing else, run what proves it, and report what you changed and what you ran.',
  verification:
    'The coordinator is in its verification phase. Prove by running it whether the behaviour is right: commands, their output, their exit codes. Do not repair anything: Write, Edit and commands that change a file of the repository by its name, such as sed -i, are refused. Of git, commands that look, add and commit run in the checkout. Report what fails as exactly as what works.',
};

export function workerNotes(phase: CoordinatorPhase, scratchpad: string): string {
  return `<worker>
${NOTES[phase]}
You see no other worker, and none sees you. Files that all may read and write are in ${scratchpad}: put long findings there, and name the file in your report.
</worker>`;
}

export function nowIn(phase: CoordinatorPhase): string {
  return `<worker>\n${NOTES[phase]}\n</worker>`;
}

const BEGINS: Readonly<Record<CoordinatorPhase, string>> = {
  research: 'Workers may read now, and change nothing.',
  synthesis: 'You work alone now. Read what was found and decide what to change, and where.',
  implementation:
    'Workers may change files now. Each delegation says where to work, what to change and how to prove it.',
  verification:
    'Workers run what proves the behaviour now, and repair nothing. Those who implemented do not verify: start fresh ones.',
};

export function phaseBegins(phase: CoordinatorPhase): string {
  return `The phase is ${phase}. ${BEGINS[phase]}`;
}

export function whyPhaseStays(
  obstacle: PhaseObstacle,
  {
    from,
    to,
    next,
    open,
  }: {
    from: CoordinatorPhase;
    to: CoordinatorPhase;
    next: readonly CoordinatorPhase[];
    open: readonly NamedWorker[];
  },
): string {
  switch (obstacle) {
    case 'order':
      return from === to
        ? `The phase is ${from} already.`
        : `The phase stays ${from}: ${next.join(' or ')} can follow it, and ${to} cannot.`;
    case 'open':
      return `The phase stays ${from}: ${listed(open)} ${open.length === 1 ? 'has' : 'have'} not reported. End your turn and wait for the notification, or stop ${open.length === 1 ? 'it' : 'them'} with TaskStop.`;
    case 'work':
      return `The phase stays ${from}: no worker has implemented anything, so there is nothing to verify.`;
    case 'plan':
      return `The phase stays ${from}: the plan names nothing concrete.`;
  }
}

export function comesBack(what: 'delegation' | 'phase' | 'answer', missing: string): string {
  const begin = what === 'phase' ? 'The phase stays: the plan is not ready' : 'No worker was given this';
  return `${begin}: ${missing}.`;
}

export function passedAnyway(missing: string): string {
  return `Note: this was passed on although ${missing}.`;
}

/** Why an answer does not end the turn yet. */
export interface AnswerProblem {
  readonly key: 'claim' | 'unverified' | 'changed';
  readonly reason: string;
  /** For people, when it ends the turn anyway. */
  readonly warning: string;
  /** Stands below the answer then. */
  readonly mark?: string;
}

export function claimed(sentence: string, open: readonly NamedWorker[]): AnswerProblem {
  const has = open.length === 1 ? 'has' : 'have';
  return {
    key: 'claim',
    reason: `You have no result of this: ${listed(open)} ${has} not reported. You wrote "${quoteText(visibleLine(headOf(sentence, 200)))}". Say again, without it, what you launched and what you wait for, and end your turn. The result arrives as a <task-notification>.`,
    warning: `the coordinator tells results of ${listed(open)}, which ${has} not reported`,
    mark: `[ramet: not reported yet: ${listed(open)}]`,
  };
}

export function notVerified(made: readonly NamedWorker[], phase: CoordinatorPhase): AnswerProblem {
  const how =
    phase === 'verification'
      ? 'Start a worker that runs what proves it: one that failed or was stopped has proved nothing.'
      : 'Call Phase with to "verification" and start a worker that runs what proves it.';
  return {
    key: 'unverified',
    reason: `Not done yet: nobody has verified what ${listed(made)} implemented. ${how} If it cannot be verified, say so, and why.`,
    warning: `nobody has verified what ${listed(made)} implemented`,
  };
}

export function changedMeanwhile(files: readonly string[]): AnswerProblem {
  const rest = files.length - MOST_LISTED;
  const shown = files.slice(0, MOST_LISTED).map((file) => quoteText(visibleLine(headOf(file, 300))));
  const names = `${shown.join(', ')}${rest > 0 ? ` and ${rest} more (git status shows them)` : ''}`;
  return {
    key: 'changed',
    reason: `Not done yet: ${files.length === 1 ? 'this file has' : 'these files have'} changed while they were verified: ${names}. What was proved may not hold for what is there now. Have a worker verify that, or tell the user which files changed and why.`,
    warning: `changed while they were verified, so what was proved may not hold for them: ${names}`,
  };
}

/** Whether an answer names the files that changed, as far as it was told their names. */
export function namesAll(text: string, files: readonly string[]): boolean {
  return files.slice(0, MOST_LISTED).every((file) => text.includes(file));
}

export function notNoted(why: string): string {
  return `what is verified could not be noted, so nobody will be told if it changes meanwhile: ${why}`;
}

export function stillOpen(open: readonly NamedWorker[]): string {
  return `Still running: ${listed(open)}. You have no result of ${open.length === 1 ? 'it' : 'them'} yet.`;
}

export function coordinatorNow({
  phase,
  note,
  workers,
  scratchpad,
  isOpen,
}: Pick<Coordination, 'phase' | 'note' | 'workers'> & {
  scratchpad: string;
  isOpen: (id: string) => boolean;
}): string {
  const lines = workers.slice(-MOST_LISTED).map((worker) => {
    const state = isOpen(worker.id) ? 'has not reported' : (worker.ended?.status ?? 'interrupted');
    return `- ${who(worker)}: ${worker.phase}, ${state}: ${purpose(worker)}`;
  });
  return `<coordinator-now>
This is your work as it is on record now. The phase is ${phase}${note === '' ? '' : `: ${quoteText(headOf(note, 2_000))}`}
Scratchpad: ${scratchpad}
${lines.length === 0 ? 'No worker has been started.' : `Workers:\n${lines.join('\n')}`}
</coordinator-now>`;
}

function listed(workers: readonly NamedWorker[]): string {
  const names = workers.slice(0, MOST_LISTED).map(who);
  const rest = workers.length - names.length;
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function who({ id, name }: NamedWorker): string {
  return name === null ? id : `${name} (${id})`;
}

function purpose({ description }: Pick<RecordedWorker, 'description'>): string {
  return quoteText(visibleLine(headOf(description, LONGEST_PURPOSE)));
}

/** By what a delegation is known again when its words change. */
export function keyOf(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, ' ').slice(0, 100);
}

export function withLines(outcome: ToolOutcome, lines: readonly (string | null)[]): ToolOutcome {
  const more = lines.filter((line) => line !== null);
  if (more.length === 0 || outcome.isError === true || typeof outcome.content !== 'string') return outcome;
  return { ...outcome, content: [outcome.content, ...more].join('\n') };
}
