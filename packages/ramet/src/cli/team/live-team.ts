/** `ramet team show --watch`: a team as it changes. One block that is drawn again on a terminal, else one after the other. */
import { systemClock } from '../../schema/clock.ts';
import { type TeamReport, watchTeam } from '../../sdk/calls/teams.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import { teamText } from '../../views/team-text.ts';
import { displayWidth, fitText } from '../../views/text/format.ts';
import { createScreen, type LiveRows, type ScreenSize } from '../interactive/screen/screen.ts';
import { type CommandIo, callFrom, EXIT, exitCodeOf } from '../io.ts';
import { paintGroups, styleFor } from '../output/painted.ts';

/** The record is read this often: a change of a state wakes nobody. */
const LOOK_AGAIN_MS = 200;

/** Ends when no process hosts the team any more, and with a signal. */
export async function followTeam(
  wanted: string | undefined,
  { json }: { json?: boolean | undefined },
  io: CommandIo,
): Promise<number> {
  using shown = displayFor(io, json === true);
  const watched = watchTeam(wanted, callFrom(io));
  let last = '';
  for (;;) {
    const team = watched.look();
    const now = JSON.stringify(team);
    if (now !== last) shown.show(team);
    last = now;
    if (team.host === null) return EXIT.done;
    if (io.signal.aborted) return exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) });
    await systemClock.sleep(LOOK_AGAIN_MS, io.signal);
  }
}

interface TeamDisplay extends Disposable {
  show(team: TeamReport): void;
}

function displayFor(io: CommandIo, json: boolean): TeamDisplay {
  if (!json && io.isTerminal && io.env.TERM !== 'dumb') return blockDisplay(io);
  return {
    show: (team) => io.out(json ? jsonLine(team) : `${teamText(team)}\n`),
    [Symbol.dispose]() {},
  };
}

/** What it showed last stays. */
function blockDisplay(io: CommandIo): TeamDisplay {
  const style = styleFor(io);
  const size = (): ScreenSize => ({ columns: io.columns ?? 80, rows: io.rows ?? 24 });
  const screen = createScreen((bytes) => io.out(bytes), size());
  let drawn = size();
  let last: TeamReport | null = null;
  return {
    show(team) {
      const now = size();
      const shape = rowsOf(team, now, (text) => paintGroups(text, style));
      if (now.columns === drawn.columns) screen.draw(shape);
      else screen.resized(shape, now);
      drawn = now;
      last = team;
    },
    [Symbol.dispose]() {
      screen.close();
      if (last !== null) io.out(paintGroups(teamText(last), style));
    },
  };
}

function rowsOf(team: TeamReport, { columns, rows }: ScreenSize, paint: (text: string) => string): LiveRows {
  const all = teamText(team, columns).trimEnd().split('\n');
  const most = Math.max(1, rows - 1);
  const lines =
    all.length <= most ? all : [...all.slice(0, most - 1), `... ${all.length - most + 1} more lines`];
  const fitted = lines.map((line) => fitText(line, Math.max(1, columns - 1)));
  const painted = paint(fitted.join('\n')).split('\n');
  return {
    rows: fitted.map((text, at) => ({ text: painted[at] ?? text, width: displayWidth(text) })),
    cursorRow: fitted.length - 1,
    cursorColumn: 0,
  };
}
