/** The bill for people: who took how many tokens of which kind, what came from the cache, and what it cost. */
import { isDearer } from '../../engine/budget/fork-cost.ts';
import { searchCost } from '../../model/prices.ts';
import type { AgentId } from '../../schema/ids.ts';
import { hitRate, isUncertain, type TokenCount } from '../../schema/usage.ts';
import { agentLabel, agentTree, purposeOf, shortId, thinkingText } from '../agent-label.ts';
import {
  atLeastDollars,
  atLeastTokens,
  displayWidth,
  dollars,
  duration,
  fitText,
  percent,
  tokens,
} from '../text/format.ts';
import { wrapLines } from '../text/narrow-table.ts';
import {
  type ComparedFork,
  isBelowMinimum,
  type Ledger,
  type LedgerAgent,
  type LedgerLine,
  mostUnanswered,
} from './ledger.ts';

const COLUMNS = 80;

/** On a screen that is narrower yet, lines break. */
const LEAST_COLUMNS = 30;

/** What a narrow screen shows last. */
const LEAST_WANTED = ['1H', 'WRITE 5M', 'WRITE', 'SAVED', 'READ', 'INPUT', 'OUTPUT', 'REQ'];

const LEAST_NAME = 12;

/** A name cut shorter says nothing. */
const LEAST_CUT = 6;

export interface CostSection {
  heading: string;
  lines: readonly (readonly [name: string, line: LedgerLine])[];
}

const BELOW_MINIMUM = '<min';
const STRANGER = { type: '', parent: null, name: null, description: null, thinking: null, source: null };

/** The whole bill of a session. */
export function ledgerText(ledger: Ledger, columns: number | null = null): string {
  const forks = forkTable(ledger, undefined, columns);
  const parts = [
    costTable(sessionSections(ledger), ledger.total, columns),
    noteLines([...totalNotes(ledger.total), ...rewriteNotes(ledger), ...speculationNotes(ledger)], columns),
    ...(forks === '' ? [] : [forks]),
  ];
  return parts.join('\n');
}

/** One line each, wrapped where the screen is narrow. */
export function noteLines(notes: readonly string[], columns: number | null): string {
  return wrapLines(notes.map((note) => `${note}\n`).join(''), columns);
}

function rewriteNotes({ rewrites }: Ledger): string[] {
  return [...rewrites.values()].flatMap((rewrite) =>
    rewrite === null
      ? []
      : `the first member of a team brought tools: the prompt was written again, ${tokens(rewrite.tokens)} tokens in a request of ${dollars(rewrite.costUsd)}`,
  );
}

function speculationNotes({ speculation: { tries, hits }, sources }: Ledger): string[] {
  if (tries === 0) return [];
  const costUsd = sources.get('speculation')?.costUsd ?? 0;
  return [
    `worked ahead of you ${tries === 1 ? 'once' : `${tries} times`}: ${hits} used, ${dollars(costUsd)}`,
  ];
}

export function sessionSections(ledger: Ledger, only?: AgentId): CostSection[] {
  const agents = agentTree(ledgerAgents(ledger))
    .filter(({ agent }) => only === undefined || agent.id === only)
    .map(({ agent, level }) => {
      const line = ledger.agents.get(agent.id);
      const thinking = thinkingText(agent.thinking);
      const label = `${agentLabel(agent, only === undefined ? level : 0)}${thinking && ` [${thinking}]`}`;
      return line && ([label, line] as const);
    });
  const byAgent = { heading: 'BY AGENT', lines: agents.filter((entry) => entry !== undefined) };
  if (only !== undefined) return [byAgent];
  return [
    byAgent,
    { heading: 'BY TYPE', lines: ledger.types.size > 1 ? [...ledger.types] : [] },
    { heading: 'BY MODEL', lines: [...ledger.models] },
    { heading: 'BESIDE THE CONVERSATION', lines: [...ledger.sources] },
  ];
}

/** Also of an agent whose beginning the journal does not hold. */
function ledgerAgents({ known, agents }: Ledger): LedgerAgent[] {
  const strangers = [...agents.keys()].filter((id) => !known.has(id)).map((id) => ({ ...STRANGER, id }));
  return [...known.values(), ...strangers];
}

export function costTable(
  sections: readonly CostSection[],
  total: LedgerLine | null,
  columns: number | null = null,
): string {
  const shown = sections.filter(({ lines }) => lines.length > 0);
  const all = [...shown.flatMap(({ lines }) => lines.map(([, line]) => line)), ...(total ? [total] : [])];
  const longLived = all.some(({ usage }) => usage.cache_creation_1h_input_tokens > 0);
  const [first, ...others] = shown;
  const rows = [
    [first?.heading ?? '', ...headings(longLived)],
    ...(first?.lines ?? []).map(([name, line]) => row(name, line, longLived)),
    ...others.flatMap(({ heading, lines }) => [
      [heading],
      ...lines.map(([name, line]) => row(name, line, longLived)),
    ]),
    ...(total ? [row('TOTAL', total, longLived)] : []),
  ];
  return figureTable(rows, columns);
}

/** Writes for an hour get a column of their own where there are any. */
function headings(longLived: boolean): string[] {
  const writes = longLived ? ['WRITE 5M', '1H'] : ['WRITE'];
  return ['REQ', 'INPUT', ...writes, 'READ', 'OUTPUT', 'HIT', 'SAVED', 'COST'];
}

function row(name: string, line: LedgerLine, longLived: boolean): string[] {
  const { requests, usage, costUsd, atLeastUsd, reused } = line;
  const long = usage.cache_creation_1h_input_tokens;
  const shown = (count: TokenCount, less = 0): string =>
    atLeastTokens(Math.max(0, usage[count] - less), isUncertain(usage, count));
  return [
    name,
    String(requests),
    shown('input_tokens'),
    shown('cache_creation_input_tokens', long),
    ...(longLived ? [shown('cache_creation_1h_input_tokens')] : []),
    shown('cache_read_input_tokens'),
    (usage.estimated === true ? '~' : '') + shown('output_tokens'),
    isBelowMinimum(line) ? BELOW_MINIMUM : percent(hitRate(usage)),
    reused.tokens === 0 ? '-' : dollars(reused.savedUsd),
    atLeastDollars(costUsd, atLeastUsd),
  ];
}

/** What the figures mean, one plain line each. */
export function totalNotes(total: LedgerLine): string[] {
  const { requests, retries, responses, durationMs, belowMinimum, reused, unanswered } = total;
  const { usage, costUsd, atLeastUsd } = total;
  const retried = retries === 0 ? '' : `, ${retries} of them tried again`;
  const notes = [`${count(requests, 'request')}${retried}; ${duration(durationMs)} of answers`];
  if (costUsd === null && atLeastUsd > 0)
    notes.push(`the cost is at least ${dollars(atLeastUsd)}; a part of it is unknown (+)`);
  const { web_search_requests: searches = 0 } = usage;
  if (searches > 0)
    notes.push(
      `${searches === 1 ? '1 search' : `${searches} searches`} of the web by the provider, ${dollars(searchCost(searches))} of the cost`,
    );
  if (isUncertain(usage))
    notes.push(`the provider gave impossible numbers of tokens: such a sum is at least what it says (+)`);
  if (usage.estimated === true)
    notes.push('an answer was cut off before the provider told its count: its output is estimated (~)');
  if (unanswered.requests > 0) {
    const most = mostUnanswered(unanswered);
    const bound = most === null ? '' : `, at most ${dollars(most)}`;
    notes.push(`${count(unanswered.requests, 'request')} without a response: cost unknown${bound}`);
  }
  if (reused.tokens > 0)
    notes.push(
      `saved against no sharing: ${tokens(reused.tokens)} tokens that other agents had written, ${dollars(reused.savedUsd)}`,
    );
  if (belowMinimum > 0)
    notes.push(
      `${belowMinimum} of ${count(responses, 'prompt')} ${belowMinimum === 1 ? 'was' : 'were'} below minimum (${BELOW_MINIMUM}): too short to be cached, no ${belowMinimum === 1 ? 'miss' : 'misses'}`,
    );
  return notes;
}

/** Every fork beside the fresh agent that could have done it. */
export function forkTable({ forks, known }: Ledger, only?: AgentId, columns: number | null = null): string {
  const compared = [...known.keys()].flatMap((id) => {
    const fork = forks.get(id);
    return fork !== undefined && (only === undefined || id === only) ? [[id, fork] as const] : [];
  });
  if (compared.length === 0) return '';
  const named = (id: AgentId): LedgerAgent => known.get(id) ?? { ...STRANGER, id };
  const rows = compared.map(([id, fork]) => [
    `${shortId(id)} ${purposeOf(named(id))}`.trimEnd(),
    tokens(fork.forkTokens),
    tokens(fork.freshTokens),
    dollars(fork.forkUsd),
    dollars(fork.freshUsd),
  ]);
  const headings = ['FORK OR FRESH (INPUT)', 'TOKENS', 'FRESH', 'COST', 'FRESH'];
  const dearer = compared.filter(([, fork]) => isDearer(fork)).map(([id, fork]) => dearerLine(id, fork));
  return figureTable([headings, ...rows], columns) + wrapLines(dearer.join(''), columns);
}

function dearerLine(id: AgentId, { forkUsd, freshUsd, forkTokens, freshTokens }: ComparedFork): string {
  const fresh =
    forkUsd === null || freshUsd === null
      ? `about ${tokens(forkTokens - freshTokens)} tokens' worth`
      : `about ${dollars(forkUsd - freshUsd)}`;
  return `${shortId(id)} was dearer as a fork: a fresh agent would have cost ${fresh} less\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * Names on the left, figures on the right: a table that fits the terminal, or 80 columns, whatever the names are.
 *
 * Figures keep their width; names get what is left, and are cut where that is too little.
 */
export function figureTable(all: readonly (readonly string[])[], wanted: number | null = null): string {
  const columns = Math.max(LEAST_COLUMNS, wanted ?? COLUMNS);
  const { rows, leftOut } = narrowed(all, columns);
  const widths = columnWidths(rows);
  const figures = widths.slice(1);
  const gap = fits(widths, 2, columns) ? 2 : 1;
  const left = columns - figures.reduce((sum, width) => sum + width + gap, 0);
  const name = Math.min(widths[0] ?? 0, Math.max(LEAST_NAME, left));
  const note = leftOut.length === 0 ? '' : `no room here for ${leftOut.join(', ')}\n`;
  return rows.map((row) => line(row, name, figures, gap)).join('') + wrapLines(note, columns);
}

/** Without the columns that matter least, where not all have room. */
function narrowed(
  all: readonly (readonly string[])[],
  columns: number,
): { rows: readonly (readonly string[])[]; leftOut: string[] } {
  const leftOut: string[] = [];
  let rows = all;
  for (const heading of LEAST_WANTED) {
    const [, ...figures] = columnWidths(rows);
    if (fits([LEAST_NAME, ...figures], 1, columns)) break;
    const at = rows[0]?.indexOf(heading) ?? -1;
    if (at <= 0) continue;
    leftOut.push(heading);
    rows = rows.map((row) => row.filter((_, column) => column !== at));
  }
  return { rows, leftOut };
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
}

function fits(widths: readonly number[], gap: number, columns: number): boolean {
  return widths.reduce((sum, width) => sum + width + gap, -gap) <= columns;
}

function line(
  [name = '', ...cells]: readonly string[],
  nameWidth: number,
  widths: readonly number[],
  gap: number,
): string {
  if (cells.length === 0) return `${fitText(name, COLUMNS)}\n`;
  const shown = fitName(name, nameWidth);
  const padding = ' '.repeat(Math.max(0, nameWidth - displayWidth(shown)));
  const figures = cells.map((cell, index) => ' '.repeat(gap) + cell.padStart(widths[index] ?? 0));
  return `${`${shown}${padding}${figures.join('')}`.trimEnd()}\n`;
}

/** What is in brackets after a name stays whole: it is short, and says what the name does not. */
function fitName(name: string, width: number): string {
  const [, head = name, note = ''] = /^(.*?)( \[[^[\]]*\])$/.exec(name) ?? [];
  const left = width - displayWidth(note);
  return left < LEAST_CUT ? fitText(name, width) : `${fitText(head, left)}${note}`;
}
