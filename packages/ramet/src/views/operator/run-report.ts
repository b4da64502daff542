/**
 * `report.md`: what a run of the operator did, for people who were not there. Pure: what checks printed is passed in. Titles,
 * messages and paths are anybody's: none of them becomes Markdown or HTML.
 */
import { isolationText, memberIn } from '../../operator/run/isolation.ts';
import {
  type OperatorState,
  type TaskAttempt,
  type TaskState,
  tasksOf,
} from '../../operator/run/operator-state.ts';
import type { AttemptReview } from '../../schema/operator-events.ts';
import { addUsage, hitRate, NO_USAGE } from '../../schema/usage.ts';
import { visibleLine, visibleText } from '../../system/text/visible-text.ts';
import { duration, percent, usageTokens } from '../text/format.ts';
import { code, fenced, markdownLine, markdownTable } from './markdown.ts';
import { type StepLine, stepLines, stepOf } from './person-step.ts';
import {
  clockOf,
  countsText,
  isEmptied,
  needsPerson,
  resumeText,
  spendText,
  statusText,
  summaryOf,
  timeOf,
  whyText,
} from './run-summary.ts';
import { filesOf, landingLines, landingSteps } from './run-table.ts';
import { costText } from './task-rows.ts';

const LINE = 300;
const MOST_FILES = 50;
const REASONS = 1_000;
const LONGEST_STEP = 5_000;

export interface RunReportFacts {
  session: string;
  now: number;
  /** The end of what a check printed, by the name of its file; null when that cannot be read. */
  outputOf(file: string): string | null;
  /** Whether a branch, or another ref, is there. One that is gone is of no use to anybody: its commit is told. */
  hasBranch(name: string): boolean;
  /** What each member of its team has cost in all; null when that is unknown. Empty for a run without one. */
  members: ReadonlyMap<string, number | null>;
}

export function runReport(state: OperatorState, facts: RunReportFacts): string {
  const tasks = tasksOf(state);
  return [
    `# ${markdownLine(state.run?.file ?? 'Tasks', LINE)}: ${headline(state)}`,
    overview(state, facts),
    people(state),
    '## Tasks',
    taskTable(tasks, clockOf(state, facts.now)),
    memberTable(tasks, facts),
    ...tasks
      .filter(({ attempts, status }) => attempts.length > 0 || status !== 'queued')
      .map((task) => taskPart(task, state, facts)),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n');
}

/** Who did what in a team; empty where no member did anything. */
function memberTable(tasks: readonly TaskState[], { members }: RunReportFacts): string {
  const passed = tasks.flatMap(({ attempts }) => attempts.filter(({ state }) => state === 'passed'));
  const rows = [...members].toSorted().map(([name, costUsd]) => {
    const done = passed.filter((attempt) => memberIn(attempt) === name).length;
    return [markdownLine(name, LINE), String(done), costText({ attempts: [{ costUsd }] })];
  });
  return rows.length === 0 ? '' : markdownTable(['member', 'tasks done', 'cost'], rows);
}

function headline(state: OperatorState): string {
  const { done, total } = summaryOf(state);
  return `${done} of ${total} tasks done`;
}

function overview(state: OperatorState, { session, now }: RunReportFacts): string {
  const { run, status, startedAt, resumed } = state;
  const summary = summaryOf(state);
  const until = status === 'ended' ? state.at : now;
  const why = markdownLine(whyText(state), LINE);
  const rate = hitRate(summary.usage);
  const rows: [string, string][] = [
    ['session', code(session)],
    ['run', `${status === 'draining' ? 'stopped' : status}${why === '' ? '' : `: ${why}`}`],
    ['tasks', countsText(summary)],
    [
      'target',
      // How it is taken stands below.
      markdownLine(landingLines(state)[0] ?? '-', LINE),
    ],
    [
      'policy',
      `${markdownLine(run?.policy ?? '-', LINE)}; agents at once: ${run?.width ?? run?.parallel ?? '-'}${run?.width === undefined ? '' : ' (auto)'}`,
    ],
    ['isolation', run === null ? '-' : markdownLine(isolationText(run), LINE)],
    ...reviewRows(run?.review ?? []),
    [
      'check',
      run?.check ? `${code(run.check.command)}${baseText(state)}` : 'none: results were merged without one',
    ],
    [
      'time',
      `${duration(until - startedAt)}, from ${timeText(startedAt)}${resumed === 0 ? '' : `, resumed ${times(resumed)}`}`,
    ],
    ['cost', `${spendText(summary, run?.budget.usd)}${idleText(state)}`],
    [
      'prompt cache',
      rate === null
        ? 'unknown'
        : `${percent(rate)} of the input was read from it (${usageTokens(summary.usage)} tokens in all)`,
    ],
  ];
  return markdownTable(['', ''], rows);
}

/** It is in no task's cost. */
function idleText(state: OperatorState): string {
  const attempts = tasksOf(state).flatMap(({ attempts }) => attempts.flatMap(({ idle }) => idle ?? []));
  if (attempts.every(({ costUsd }) => costUsd === 0)) return '';
  return `, of it ${costText({ attempts })} of members while they held no task`;
}

function baseText({ baseCheck }: OperatorState): string {
  if (baseCheck === null || baseCheck.passed) return '';
  return `; it failed without any task (${markdownLine(baseCheck.ending, LINE)}, ${code(baseCheck.output)})`;
}

function reviewRows(types: readonly string[]): [string, string][] {
  return types.length === 0 ? [] : [['review', `by ${types.map(code).join(', ')}: all must approve`]];
}

/** A result that is not on the target though its run is over, with the whole reason: it names what to do. */
function unlanded(state: OperatorState): string {
  const { landing, run } = state;
  const steps = landingSteps(state);
  if (landing === null || landing.state === 'moved' || steps.length === 0 || isEmptied(state)) return '';
  const target = markdownLine(run?.target ?? 'the target', 60);
  return `- **The result** is ${code(landing.commit)} and is not on ${target}\n\n${indented(stepText(steps))}`;
}

function people(state: OperatorState): string {
  const tasks = tasksOf(state);
  const landing = unlanded(state);
  const waiting = tasks.filter(needsPerson);
  const unfinished = tasks.filter(
    ({ status }) => status !== 'done' && status !== 'skipped' && status !== 'cancelled',
  );
  if (unfinished.length === 0 && waiting.length === 0 && landing === '')
    return '## What needs a person\n\nNothing.';
  const items = waiting.map((task) => {
    const { id, title } = task.task;
    const lines = stepLines(task, state);
    const said = lines.length > 0 ? lines : [{ text: task.message ?? '', isCommand: false }];
    return `- **${markdownLine(id, 40)}** ${markdownLine(title, LINE)} (${markdownLine(statusText(task, 0), LINE)})\n\n${indented(stepText(said))}`;
  });
  const rest = unfinished
    .filter((task) => !waiting.includes(task))
    .map(({ task: { id } }) => markdownLine(id, 40));
  const others =
    rest.length === 0
      ? ''
      : `Not done: ${rest.join(', ')}. To run what is left:\n\n${fenced(resumeText(state))}`;
  return ['## What needs a person', landing, ...items, others].filter((part) => part !== '').join('\n\n');
}

/** Commands in blocks that run as they stand, with what is said about them between the blocks. */
function stepText(lines: readonly StepLine[]): string {
  const parts: { text: string; isCommand: boolean }[] = [];
  for (const { text, isCommand } of lines) {
    const last = parts.at(-1);
    const line = isCommand ? visibleLine(text) : markdownLine(text, LONGEST_STEP);
    if (last !== undefined && isCommand && last.isCommand) last.text += `\n${line}`;
    else parts.push({ text: line, isCommand });
  }
  return parts.map(({ text, isCommand }) => (isCommand ? fenced(text) : text)).join('\n\n');
}

function taskTable(tasks: readonly TaskState[], now: number): string {
  const rows = tasks.map((task) => {
    const {
      task: { id, title },
      attempts,
      result,
    } = task;
    const time = timeOf(task, now);
    return [
      markdownLine(id, 40),
      markdownLine(title, 100),
      markdownLine(statusText(task, now), LINE),
      result === null ? '-' : code(result.slice(0, 10)),
      ...[String(filesOf(task).length), String(attempts.length), time === null ? '-' : duration(time)],
      ...[attempts.length === 0 ? '-' : costText(task), percent(cacheOf(attempts))],
    ];
  });
  return markdownTable(
    ['task', 'title', 'status', 'commit', 'files', 'tries', 'time', 'cost', 'cache'],
    rows,
  );
}

function cacheOf(attempts: readonly TaskAttempt[]): number | null {
  return hitRate(attempts.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE));
}

function taskPart(task: TaskState, state: OperatorState, facts: RunReportFacts): string {
  const { id, title, file, line } = task.task;
  const files = filesOf(task);
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  const step = stepOf(task, state);
  const lines = [
    `- status: ${markdownLine(statusText(task, facts.now), LINE)}${task.message === null ? '' : `: ${markdownLine(task.message, LINE)}`}`,
    file === null ? '' : `- from: ${code(`${file}:${line}`)}`,
    task.result === null ? '' : `- merged as: ${code(task.result)}`,
    files.length === 0 ? '' : `- files: ${files.slice(0, MOST_FILES).map(code).join(', ')}${more}`,
    conflictLine(task),
    ...task.attempts.flatMap((attempt) => [
      attemptLine(attempt, facts),
      ...attempt.notes.map((note) => `  - ${markdownLine(note, LINE)}`),
      ...attempt.reviews.map(reviewLine),
    ]),
    task.marked?.written === false
      ? `- not marked in its file: ${markdownLine(task.marked.why ?? '', LINE)}`
      : '',
    step === null
      ? ''
      : `- to do: ${[step.what === '' ? '' : markdownLine(step.what, LINE), step.commands.map(code).join(' or ')].filter((part) => part !== '').join(': ')}`,
  ];
  const parts = [
    `## ${markdownLine(id, 40)}: ${markdownLine(title, LINE)}`,
    lines.filter((one) => one !== '').join('\n'),
  ];
  return [...parts, ...checkParts(task, facts)].join('\n\n');
}

function conflictLine({ conflict }: TaskState): string {
  if (conflict === null) return '';
  const { files, rounds, resolvedBy = [] } = conflict;
  const agents = resolvedBy.map(
    ({ agent, session, costUsd }) =>
      `; resolved by agent ${code(agent)} (${costText({ attempts: [{ costUsd }] })} of the task's cost, ${code(`ramet show ${session}`)})`,
  );
  return `- conflicts: ${files.map(code).join(', ')}; given to the policy ${times(rounds)}${agents.join('')}`;
}

function attemptLine(attempt: TaskAttempt, { now, hasBranch }: RunReportFacts): string {
  const { number, state, isolation, agent, branch, commit, cause, message } = attempt;
  const { costUsd, usage, startedAt, endedAt, waitedMs } = attempt;
  const why = [cause, message]
    .flatMap((part) => (part === null ? [] : [markdownLine(part, LINE)]))
    .join(': ');
  const facts = [
    isolation === null || isolation === 'worktree' ? '' : isolation,
    ...[
      agent === null ? '' : `agent ${code(agent)}`,
      branch === null || branch === commit || !hasBranch(branch) ? '' : `branch ${code(branch)}`,
    ],
    commit === null ? '' : `commit ${code(commit)}`,
    duration((endedAt ?? now) - startedAt - waitedMs),
    ...(endedAt === null ? [] : [`${usageTokens(usage)} tokens`, costText({ attempts: [{ costUsd }] })]),
  ].filter((one) => one !== '');
  return `- try ${number}: ${state}${why === '' ? '' : `: ${why}`} (${facts.join(', ')})`;
}

function reviewLine({ type, commit, agent, approved, reasons, costUsd }: AttemptReview): string {
  const facts = [
    ...[`commit ${code(commit)}`, ...(agent === null ? [] : [`agent ${code(agent)}`])],
    costText({ attempts: [{ costUsd }] }),
  ];
  return `  - ${code(type)} ${approved ? 'approves' : 'does not approve'} it: ${markdownLine(reasons, REASONS)} (${facts.join(', ')})`;
}

function checkParts({ check }: TaskState, { outputOf }: RunReportFacts): string[] {
  if (check === null) return [];
  const { command, passed, ending, output } = check;
  const said = `Check ${code(command)}: ${passed ? 'passed' : 'failed'}, ${markdownLine(ending, LINE)}. All it printed is in ${code(output)}.`;
  const text = passed ? null : outputOf(output);
  return text === null ? [said] : [said, `It ended with:\n\n${fenced(visibleText(text))}`];
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
