/** Sessions as a person tells them apart: title, time, branch, cost and status. */
import { hasWorkLeft } from '../journal/projections/work-left.ts';
import type { SessionEntry } from '../journal/session-list.ts';
import { agentId, type SessionId } from '../schema/ids.ts';
import { localTime } from '../schema/local-time.ts';
import type { AgentStatus } from '../schema/status.ts';
import { RecordedExchanges } from './exchanges.ts';
import type { EventTaker, SessionView } from './session-view.ts';
import { dollars, excerpt, fitText, printable, table } from './text/format.ts';
import { stackedTable } from './text/narrow-table.ts';

export interface SessionSummary {
  readonly session: SessionId;
  readonly title: string | null;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** When something was last done in it. */
  readonly lastUsed: number;
  /** Where it began; null for no branch, or when that is not on record. */
  readonly branch: string | null;
  /** Null when a part of it is unknown. */
  readonly costUsd: number | null;
  readonly prompts: number;
  /** Of its main agent; `interrupted` also where a resume continues others. Null before it has one. */
  readonly status: AgentStatus | null;
  readonly agents: number;
}

/** To be given to the reading of a session, and asked once it is read. */
export function summarizing(session: SessionId): { take: EventTaker; of(view: SessionView): SessionSummary } {
  const exchanges = new RecordedExchanges(agentId(session, 1));
  let branch: string | null = null;
  return {
    take(recorded) {
      exchanges.take(recorded);
      if (recorded.event.type === 'session.started') branch = recorded.event.branch ?? null;
    },
    of({ entry, agents, ledger, reader }) {
      const { title, cwd, created, lastUsed } = entry;
      return {
        ...{ session, title, cwd, created, lastUsed, branch },
        costUsd: ledger.total.costUsd,
        prompts: exchanges.count,
        status: statusOf(agents, reader),
        agents: agents.length,
      };
    },
  };
}

function statusOf(agents: SessionView['agents'], reader: SessionView['reader']): SessionSummary['status'] {
  const main = agents.find(({ parent }) => parent === null);
  if (main === undefined) return null;
  return main.status === 'done' && hasWorkLeft(reader, main.id, agents) ? 'interrupted' : main.status;
}

const BRANCH_LENGTH = 24;
const TITLE_LENGTH = 80;
/** With less room the title stands below the other cells. */
const LEAST_TITLE = 12;
const HEADINGS = ['SESSION', 'LAST USED', 'BRANCH', 'COST', 'STATUS', 'TITLE'];

/** `columns` is the width of the screen, null without one. */
export function sessionTable(
  sessions: readonly SessionSummary[],
  columns: number | null,
  now: number,
): string {
  const rows = sessions.map(({ session, lastUsed, branch, costUsd, status, title }) => [
    session,
    localTime(lastUsed, now),
    fitText(printable(branch ?? '-'), BRANCH_LENGTH),
    dollars(costUsd),
    status ?? '-',
    titleText(title),
  ]);
  const lines = table([HEADINGS, ...rows]).split('\n');
  if (columns === null) return lines.join('\n');
  const room = columns - (lines[0] ?? '').lastIndexOf(HEADINGS.at(-1) ?? '');
  if (room < LEAST_TITLE) return stackedTable([HEADINGS, ...rows], columns);
  return lines.map((line) => fitText(line, columns)).join('\n');
}

export function titleText(title: string | null): string {
  return title === null ? '(no title)' : excerpt(title, TITLE_LENGTH);
}

/** Beside the title in a list to choose from: when, where, for how much. */
export function summaryText(
  { lastUsed, branch, costUsd, prompts, status }: SessionSummary,
  now: number,
): string {
  return [
    localTime(lastUsed, now),
    ...(branch === null ? [] : [fitText(printable(branch), BRANCH_LENGTH)]),
    dollars(costUsd),
    `${prompts} prompt${prompts === 1 ? '' : 's'}`,
    ...(status === null || status === 'done' ? [] : [status]),
  ].join(' · ');
}

export function sessionObject(summary: SessionSummary): Record<string, unknown> {
  const { session, title, cwd, created, lastUsed, branch, costUsd, prompts, status, agents } = summary;
  return {
    session_id: session,
    title,
    status,
    created: new Date(created).toISOString(),
    last_used: new Date(lastUsed).toISOString(),
    cwd,
    branch,
    prompts,
    agents,
    total_cost_usd: costUsd,
  };
}

/** Of an entry alone, for one that cannot be read. */
export function unreadSummary({ session, title, cwd, created, lastUsed }: SessionEntry): SessionSummary {
  return {
    ...{ session, title, cwd, created, lastUsed },
    ...{ branch: null, costUsd: null, prompts: 0, status: null, agents: 0 },
  };
}
