/** `ramet cost`: the bill of a session by agent, type and model, or of all sessions with their sum. */
import { UserMistake } from '../../schema/errors.ts';
import { type BilledSession, costOfAll, whyNone } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { costObject, lineObject } from '../../views/ledger/cost-object.ts';
import { costTable, ledgerText, noteLines, totalNotes } from '../../views/ledger/cost-table.ts';
import { type LedgerLine, sumOfLines } from '../../views/ledger/ledger.ts';
import { tellDamage, viewSession } from '../../views/session-view.ts';
import { excerpt } from '../../views/text/format.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintTable, styleFor } from '../output/painted.ts';

interface CostOptions {
  json?: boolean;
  all?: boolean;
  /** True where no name is given. */
  team?: string | true;
}

export async function cost(wanted: string | undefined, options: CostOptions, io: CommandIo): Promise<void> {
  if (options.team !== undefined) {
    if (wanted !== undefined || options.all === true) {
      const also = wanted ?? '--all';
      throw new UserMistake('bad_usage', `name a team, or what else to show, not both: ${also}`);
    }
    return showTeamCost(options.team, options, io);
  }
  if (options.all === true) {
    if (wanted !== undefined)
      throw new UserMistake('bad_usage', `name a session or --all, not both: ${wanted}`);
    showAll(options, io);
    return;
  }
  using view = viewSession(wanted, findPlace(io).project);
  const { entry, ledger } = view;
  if (options.json) io.out(`${JSON.stringify(costObject(entry.session, ledger))}\n`);
  else io.out(paintTable(`session ${entry.session}\n${ledgerText(ledger, io.columns)}`, styleFor(io)));
  tellDamage(view, io);
}

async function showTeamCost(team: string | true, { json }: CostOptions, io: CommandIo): Promise<void> {
  const [{ showTeam }, { teamCostObject, teamCostText, viewTeamCost }] = await Promise.all([
    import('../../sdk/calls/teams.ts'),
    import('../../views/ledger/team-cost.ts'),
  ]);
  const found = showTeam(team === true ? undefined : team, callFrom(io));
  using view = viewTeamCost(found.session, findPlace(io).project);
  const { cost } = view;
  if (json) io.out(`${JSON.stringify(teamCostObject(found, cost))}\n`);
  else io.out(paintTable(teamCostText(found, cost, io.columns), styleFor(io)));
  tellDamage(view, io);
}

function showAll({ json }: CostOptions, io: CommandIo): void {
  const bills = costOfAll(callFrom(io));
  const total = sumOfLines(bills.map(({ ledger }) => ledger.total));
  if (json) {
    const sessions = bills.map(({ session, ledger }) => costObject(session.session, ledger));
    io.out(`${JSON.stringify({ sessions, total: lineObject(total) })}\n`);
  } else if (bills.length === 0) {
    io.out(`${whyNone(callFrom(io), 0)}\n`);
  } else {
    const sections = [
      {
        heading: 'BY SESSION',
        lines: bills.map(({ session, ledger }) => [label(session), ledger.total] as const),
      },
      { heading: 'BY TYPE', lines: merged(bills.map(({ ledger }) => ledger.types)) },
      { heading: 'BY MODEL', lines: merged(bills.map(({ ledger }) => ledger.models)) },
    ];
    io.out(
      paintTable(
        `${costTable(sections, total, io.columns)}\n${noteLines(totalNotes(total), io.columns)}`,
        styleFor(io),
      ),
    );
  }
}

function label({ session, title }: BilledSession['session']): string {
  return title === null ? session : `${session} ${excerpt(title, 60)}`;
}

function merged(maps: readonly ReadonlyMap<string, LedgerLine>[]): [string, LedgerLine][] {
  const groups = Map.groupBy(
    maps.flatMap((lines) => [...lines]),
    ([name]) => name,
  );
  return Array.from(groups, ([name, lines]) => [name, sumOfLines(lines.map(([, line]) => line))]);
}
