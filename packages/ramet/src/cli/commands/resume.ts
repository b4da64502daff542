/** `ramet resume`: goes on with a session that was interrupted, without a new prompt; prints as `ramet -p` does. */
import { agentStatuses, statusBoardOf } from '../../journal/projections/status.ts';
import { listSessions, type SessionEntry } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import { UserMistake } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import type { AgentStatus } from '../../schema/status.ts';
import { findPlace } from '../../sdk/place.ts';
import { isInside } from '../../system/path-inside.ts';
import { parseTarget, viewAgents } from '../../views/session-target.ts';
import { tellUnreadable } from '../../views/session-view.ts';
import type { CommandIo } from '../io.ts';
import { carryOut, type PrintOptions } from './print.ts';

export async function resume(
  wanted: string | undefined,
  options: PrintOptions,
  io: CommandIo,
): Promise<number> {
  const session = wanted === undefined ? latestInterrupted(io) : namedSession(wanted, io);
  return carryOut(null, options, session, io);
}

/** An agent cannot go on alone: who started it waits for it. */
function namedSession(wanted: string, io: CommandIo): string {
  if (parseTarget(wanted).agent === null) return wanted;
  using view = viewAgents(wanted, findPlace(io).project);
  const { session } = view.entry;
  io.note(`agents go on with their session: going on with all of ${session} that was interrupted`);
  return session;
}

/** The newest session of this working tree whose main agent was interrupted, by whatever. */
function latestInterrupted(io: CommandIo): string {
  const { project, cwd, repository } = findPlace(io);
  const root = repository?.root ?? cwd;
  const here = listSessions(project).filter((entry) => isInside(entry.cwd, root));
  const ended = here.filter(({ live }) => !live);
  const found = ended.find((entry) => statusOfMain(project, entry, io) === 'interrupted');
  if (found !== undefined) return found.session;
  const running = here.filter(({ live }) => live).map(({ session }) => session);
  const [latest] = ended;
  const hint =
    running.length > 0
      ? `${running.slice(0, 5).join(', ')} still ${running.length === 1 ? 'runs' : 'run'} (ramet ps)`
      : latest === undefined
        ? 'there is no session yet'
        : `to go on with the latest, give a prompt: ramet -p --resume ${latest.session} PROMPT`;
  throw new UserMistake(
    'nothing_to_resume',
    `nothing to resume: no session of this working tree was interrupted; ${hint}`,
  );
}

function statusOfMain(project: string, entry: SessionEntry, io: CommandIo): AgentStatus | null {
  try {
    const reader = openReader({ project, session: entry.session });
    try {
      const events = reader.events({ agent: agentId(entry.session, 1) });
      return agentStatuses(statusBoardOf(events), { writerAlive: false })[0]?.status ?? null;
    } finally {
      reader.close();
    }
  } catch (error) {
    tellUnreadable(entry, error, io);
    return null;
  }
}
