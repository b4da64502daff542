/** `ramet logs`: what happened in a session or to one agent, event by event, and with `--follow` what happens. */
import { systemClock } from '../../schema/clock.ts';
import type { JournalEvent, RecordedEvent } from '../../schema/events.ts';
import { findPlace } from '../../sdk/place.ts';
import { viewAgents } from '../../views/session-target.ts';
import { tellDamage } from '../../views/session-view.ts';
import { printable } from '../../views/text/format.ts';
import { wrapLines } from '../../views/text/narrow-table.ts';
import { recordedLine, timelineLine } from '../../views/timeline.ts';
import { type CommandIo, EXIT, exitCodeOf } from '../io.ts';
import { paintEvent, styleFor } from '../output/painted.ts';

/** The journal is read again this often; readers of another process get no wake-up. */
const LOOK_AGAIN_MS = 200;

export async function logs(
  wanted: string | undefined,
  options: { follow?: boolean; json?: boolean },
  io: CommandIo,
): Promise<number> {
  using view = viewAgents(wanted, findPlace(io).project);
  const of = view.agent === null ? {} : { agent: view.agent };
  const style = styleFor(io);
  const line = options.json
    ? recordedLine
    : (event: RecordedEvent) => paintEvent(wrapLines(printable(timelineLine(event)), io.columns), style);
  const child = view.agents.find(({ id, parent }) => id === view.agent && parent !== null);
  let after = 0;
  let ended = false;
  let told = false;
  for (;;) {
    const alive = view.writerAlive();
    const before = after;
    for (const recorded of view.reader.events({ ...of, after })) {
      io.out(`${line(recorded)}\n`);
      after = recorded.seq;
      ended = isEnded(recorded.event, ended);
    }
    if (!told) tellDamage(view, io);
    told = true;
    // What is recorded just after its end is awaited; others may continue for long.
    if (child !== undefined && ended && after === before) return EXIT.done;
    if (io.signal.aborted) return exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) });
    if (!options.follow || !alive) return EXIT.done;
    await systemClock.sleep(LOOK_AGAIN_MS, io.signal);
  }
}

/** An agent that has ended may run again: it gets a message, or is resumed. */
function isEnded({ type }: JournalEvent, before: boolean): boolean {
  if (type === 'agent.ended') return true;
  return before && type !== 'agent.resumed' && type !== 'message.appended' && type !== 'request.started';
}
