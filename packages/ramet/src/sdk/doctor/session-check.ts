/** Whether the sessions of this repository can be read whole. */
import { statSync } from 'node:fs';
import { missingFiles, missingText } from '../../journal/missing-files.ts';
import { listSessions } from '../../journal/session-list.ts';
import { openReader } from '../../journal/sessions.ts';
import type { SessionId } from '../../schema/ids.ts';
import { type DoctorContext, type HealthCheck, limited, ok } from './health-check.ts';

/** The newest sessions up to this size are read: about two seconds' work. */
const MOST_READ_BYTES = 256_000_000;

export function checkSessions({ place: { project } }: DoctorContext): HealthCheck {
  const damaged: SessionId[] = [];
  const cutShort: SessionId[] = [];
  let bytes = 0;
  let read = 0;
  const sessions = listSessions(project);
  for (const { session, file } of sessions) {
    bytes += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MOST_READ_BYTES && read > 0) break;
    read += 1;
    const trouble = troubleOf(project, session);
    if (trouble === 'damaged') damaged.push(session);
    if (trouble === 'cut short') cutShort.push(session);
  }
  const rest = read < sessions.length ? `; ${sessions.length - read} older not checked` : '';
  const missing = missingFiles(project);
  const first = damaged[0] ?? missing.find(({ left }) => left === 'WAL')?.session;
  const found = [
    ...(damaged.length === 0 ? [] : [`damaged: ${damaged.join(', ')}`]),
    ...missing.map(missingText),
    ...(cutShort.length === 0 ? [] : [`the end is missing: ${cutShort.join(', ')}`]),
  ].join('; ');
  if (found === '') return ok('sessions', `${read} can be read whole${rest}`);
  return limited('sessions', `${found}${rest}`, remedyFor(first, cutShort[0]));
}

function remedyFor(damaged: SessionId | undefined, cutShort: SessionId | undefined): string {
  if (damaged !== undefined) return `run ramet doctor --repair ${damaged}`;
  if (cutShort !== undefined)
    return `ramet resume ${cutShort} continues from what is there; or restore a backup`;
  return 'restore it from a backup (ramet gc lists what is left)';
}

function troubleOf(project: string, session: SessionId): 'damaged' | 'cut short' | null {
  try {
    const reader = openReader({ project, session, forgiving: true });
    try {
      for (const _ of reader.events()) if (reader.damage.length > 0) return 'damaged';
      const isDamaged =
        reader.damage.length > 0 || reader.isMetaDamaged() || reader.damagedBlocks() > 0 || !reader.isSound();
      if (isDamaged) return 'damaged';
      return reader.missingAtEnd() > 0 ? 'cut short' : null;
    } finally {
      reader.close();
    }
  } catch {
    return 'damaged';
  }
}
