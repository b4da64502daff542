/**
 * A run of the operator while it works, as the rows of one block on a terminal: how far it is, what was spent, which task
 * waits for which, and what needs a person. Pure: who calls it draws them.
 */
import { type OperatorState, tasksOf } from '../../operator/run/operator-state.ts';
import { hitRate } from '../../schema/usage.ts';
import { visibleLine } from '../../system/text/visible-text.ts';
import { displayWidth, duration, fitText, percent, wrapText } from '../text/format.ts';
import { stepOf } from './person-step.ts';
import { graphLine } from './run-graph.ts';
import {
  countsText,
  holdOf,
  plainLine,
  type RunSummary,
  spendText,
  summaryOf,
  whyText,
} from './run-summary.ts';
import { type BlockSize, type LiveFigures, liveAgents, type ProgressRow, taskRows } from './task-rows.ts';

const BAR = 10;
const LONGEST = 200;
/** Rows that stay free, so that the block never meets the top of the screen. */
const FREE_ROWS = 2;

export function progressRows(state: OperatorState, live: LiveFigures, size: BlockSize): ProgressRow[] {
  // The last column stays free: a terminal that has written there is between two rows.
  const columns = Math.max(1, size.columns - 1);
  const summary = withLiveCost(summaryOf(state), state, live);
  const head = [headRow(state, summary, live.now), spendRow(state, summary)];
  const tail = [...personRows(state, summary, columns), ...runRows(state, columns)];
  const room = size.rows - FREE_ROWS - head.length - tail.length;
  const graph = room < 4 ? [] : graphRow(state, columns);
  const tasks = taskRows(state, live, { columns, rows: Math.max(0, room - graph.length) });
  return [...head, ...graph, ...tasks, ...tail]
    .slice(0, Math.max(1, size.rows - 1))
    .map(({ text, tone }) => ({ text: fitText(text, columns), tone }));
}

/** What running agents have cost is not in the journal's state yet. */
function withLiveCost(summary: RunSummary, state: OperatorState, live: LiveFigures): RunSummary {
  const running = tasksOf(state).flatMap((task) => liveAgents(task, live));
  const atLeastUsd = running.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), summary.atLeastUsd);
  const isKnown = summary.costUsd !== null && running.every(({ costUsd }) => costUsd !== null);
  return { ...summary, atLeastUsd, costUsd: isKnown ? atLeastUsd : null };
}

function headRow({ run, startedAt }: OperatorState, summary: RunSummary, now: number): ProgressRow {
  const others = countsText({ counts: summary.counts.filter(([status]) => status !== 'done') });
  const parts = [
    `${summary.done} of ${summary.total} tasks done`,
    ...(others === '' ? [] : [others]),
    duration(now - startedAt),
    `${plainLine(run?.file ?? 'tasks', 40)} into ${plainLine(run?.target ?? '', 40)}`,
  ];
  return { text: parts.join(' · '), tone: 'plain' };
}

function spendRow({ run }: OperatorState, summary: RunSummary): ProgressRow {
  const budget = run?.budget.usd;
  const share = budget === undefined || budget <= 0 ? null : summary.atLeastUsd / budget;
  const bar = share === null ? '' : ` ${bars(share)} ${percent(share)}`;
  const tone = share !== null && share >= 0.9 ? 'care' : 'dim';
  const rate = hitRate(summary.usage);
  const cache = rate === null ? '' : ` · cache ${percent(rate)}`;
  return { text: `spent ${spendText(summary, budget)}${bar}${cache}`, tone };
}

function bars(share: number): string {
  const full = Math.min(BAR, Math.max(0, Math.round(share * BAR)));
  return `[${'█'.repeat(full)}${'░'.repeat(BAR - full)}]`;
}

function graphRow(state: OperatorState, columns: number): ProgressRow[] {
  const text = graphLine(state, columns);
  return text === null ? [] : [{ text, tone: 'dim' }];
}

/** The first one. Its command is never cut: it has rows of its own where the screen is narrow. */
function personRows(state: OperatorState, { people }: RunSummary, columns: number): ProgressRow[] {
  const steps = people.flatMap((task) => {
    const step = stepOf(task, state);
    return step === null ? [] : [{ id: plainLine(task.task.id, 40), ...step }];
  });
  const [first] = steps;
  if (first === undefined) return [];
  const count = steps.length === 1 ? 'needs you' : `${steps.length} need you`;
  const what = [count, first.id, plainLine(first.what, LONGEST)].filter((part) => part !== '').join(': ');
  return hinted(what, ': ', visibleLine(first.command), columns);
}

/** What the whole run is, where it is not simply running. */
function runRows(state: OperatorState, columns: number): ProgressRow[] {
  if (state.status === 'running' || state.status === 'ended') return [];
  const why = whyText(state);
  const { what, next } = holdOf(state);
  return hinted(`${what}${why === '' ? '' : ` (${why})`}`, '; ', next, columns);
}

/** On one row, or what to do below it. */
function hinted(what: string, between: string, next: string, columns: number): ProgressRow[] {
  const whole = next === '' ? what : `${what}${between}${next}`;
  const rows =
    next === '' || displayWidth(whole) <= columns
      ? [whole]
      : [what, ...wrapText(next, Math.max(1, columns - 2)).map((row) => `  ${row}`)];
  return rows.map((text) => ({ text, tone: 'care' }));
}
