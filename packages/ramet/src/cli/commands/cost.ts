/** `ramet cost`: the bill of a session by agent, type and model, or of all sessions with their sum. */

import type { SessionEntry } from '../../journal/session-list.ts';
import { UserMistake } from '../../schema/errors.ts';
import { findPlace } from '../../sdk/place.ts';
import { costObject, lineObject } from '../../views/ledger/cost-object.ts';
import { costTable, forkTable, sessionSections, totalNotes } from '../../views/ledger/cost-table.ts';
import type { Ledger } from '../../views/ledger/ledger.ts';
import { type LedgerLine, sumOfLines } from '../../views/ledger/ledger-line.ts';
import { foldSessions, tellDamage, viewSession } from '../../views/session-view.ts';
import { excerpt } from '../../views/text/format.ts';
import type { CommandIo } from '../io.ts';

interface CostOptions {
  json?: boolean;
  all?: boolean;
}

export function cost(wanted: string | undefined, options: CostOptions, io: CommandIo): void {
  if (options.all === true) {
    if (wanted !== undefined)
      throw new UserMistake('bad_usage', `name a session or --all, not both: ${wanted}`);
    costOfAll(options, io);
    return;
  }
  using view = viewSession(wanted, findPlace(io).project);
  if (options.json) io.out(`${JSON.stringify(costObject(view.entry.session, view.ledger))}\n`);
  else io.out(`session ${view.entry.session}\n${ledgerText(view.ledger, io.columns)}`);
  tellDamage(view, io);
}

export function ledgerText(ledger: Ledger, columns: number | null = null): string {
  const forks = forkTable(ledger);
  const parts = [
    costTable(sessionSections(ledger), ledger.total, columns),
    totalNotes(ledger.total)
      .map((note) => `${note}\n`)
      .join(''),
    ...(forks === '' ? [] : [forks]),
  ];
  return parts.join('\n');
}

function costOfAll({ json }: CostOptions, io: CommandIo): void {
  const bills = foldSessions(findPlace(io).project, Number.POSITIVE_INFINITY, io, ({ entry, ledger }) => ({
    entry,
    ledger,
  }));
  const total = sumOfLines(bills.map(({ ledger }) => ledger.total));
  if (json) {
    const sessions = bills.map(({ entry, ledger }) => costObject(entry.session, ledger));
    io.out(`${JSON.stringify({ sessions, total: lineObject(total) })}\n`);
  } else if (bills.length === 0) {
    io.out('no sessions of this directory yet: start one with ramet -p PROMPT\n');
  } else {
    const sections = [
      {
        heading: 'BY SESSION',
        lines: bills.map(({ entry, ledger }) => [label(entry), ledger.total] as const),
      },
      { heading: 'BY TYPE', lines: merged(bills.map(({ ledger }) => ledger.types)) },
      { heading: 'BY MODEL', lines: merged(bills.map(({ ledger }) => ledger.models)) },
    ];
    io.out(`${costTable(sections, total, io.columns)}\n${totalNotes(total).join('\n')}\n`);
  }
}

function label({ session, title }: SessionEntry): string {
  return title === null ? session : `${session} ${excerpt(title, 60)}`;
}

function merged(maps: readonly ReadonlyMap<string, LedgerLine>[]): [string, LedgerLine][] {
  const groups = Map.groupBy(
    maps.flatMap((lines) => [...lines]),
    ([name]) => name,
  );
  return Array.from(groups, ([name, lines]) => [name, sumOfLines(lines.map(([, line]) => line))]);
}
