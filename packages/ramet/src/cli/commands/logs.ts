/** `ramet logs`: what happened in a session or to one agent, event by event, and with `--follow` what happens. */
import { timelineLine } from '../../journal/projections/timeline.ts';
import { systemClock } from '../../schema/clock.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import { EXIT, exitCodeOf } from '../exit-code.ts';
import { printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { viewAgents } from '../session-target.ts';

/** The journal is looked at again this often; readers of another process get no wake-up. */
const LOOK_AGAIN_MS = 200;

export async function logs(
  wanted: string | undefined,
  options: { follow?: boolean; json?: boolean },
  io: CommandIo,
): Promise<number> {
  using view = viewAgents(wanted, io);
  const of = view.agent === null ? {} : { agent: view.agent };
  const line = options.json ? jsonLine : (event: RecordedEvent) => printable(timelineLine(event));
  let after = 0;
  for (;;) {
    const alive = view.writerAlive();
    for (const event of view.reader.events({ ...of, after })) {
      io.out(`${line(event)}\n`);
      after = event.seq;
    }
    if (io.signal.aborted) return exitCodeOf({ status: 'interrupted', cause: String(io.signal.reason) });
    if (!options.follow || !alive) return EXIT.done;
    await systemClock.sleep(LOOK_AGAIN_MS, io.signal);
  }
}

function jsonLine({ seq, time, agent, event }: RecordedEvent): string {
  return JSON.stringify({ seq, time: new Date(time).toISOString(), agent, ...event });
}
