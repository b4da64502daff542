/** Whether the sessions of this repository can be read whole. */
import { statSync } from 'node:fs';
import { listSessions } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import type { SessionId } from '../../schema/ids.ts';
import { type DoctorContext, type HealthCheck, limited, ok } from './health-check.ts';

/** The newest sessions up to this size are read: about two seconds' work. */
const MOST_READ_BYTES = 256_000_000;

export function checkSessions({ place: { project } }: DoctorContext): HealthCheck {
  const damaged: SessionId[] = [];
  let bytes = 0;
  let read = 0;
  const sessions = listSessions(project);
  for (const { session, file } of sessions) {
    bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MOST_READ_BYTES && read > 0) break;
    read += 1;
    if (isDamaged(project, session)) damaged.push(session);
  }
  const rest = read < sessions.length ? `; ${sessions.length - read} older not checked` : '';
  const [first] = damaged;
  if (first === undefined) return ok('sessions', `${read} can be read whole${rest}`);
  return limited('sessions', `damaged: ${damaged.join(', ')}${rest}`, `run ramet doctor --repair ${first}`);
}

function isDamaged(project: string, session: SessionId): boolean {
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      for (const _ of reader.events()) if (reader.damage.length > 0) return true;
      return (
        reader.damage.length > 0 || reader.isMetaDamaged() || reader.damagedBlocks() > 0 || !reader.isSound()
      );
    } finally {
      reader.close();
    }
  } catch {
    return true;
  }
}
