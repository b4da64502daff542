/** `ramet resume`: resumes an interrupted session without a new prompt; prints as `ramet -p` does. */

import { latestInterrupted, refuseRun } from '../../sdk/calls/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { parseTarget, viewAgents } from '../../views/session-target.ts';
import { type CommandIo, callFrom } from '../io.ts';
import type { PrintOptions } from '../print-options.ts';
import { carryOut } from './print.ts';

export async function resume(
  wanted: string | undefined,
  { json, ...options }: PrintOptions & { json?: boolean },
  io: CommandIo,
): Promise<number> {
  const session = wanted === undefined ? latestInterrupted(callFrom(io)) : namedSession(wanted, io);
  if (wanted !== undefined) refuseRun(session, callFrom(io));
  return carryOut(null, json ? { ...options, outputFormat: 'json' } : options, session, io);
}

/** An agent cannot resume alone: its parent waits for it. */
function namedSession(wanted: string, io: CommandIo): string {
  if (parseTarget(wanted).agent === null) return wanted;
  using view = viewAgents(wanted, findPlace(io).project);
  const { session } = view.entry;
  io.note(`agents resume with their session: resuming all interrupted agents of ${session}`);
  return session;
}
