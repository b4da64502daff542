/** What is said of a journal that cannot be read whole. */
import { JournalError } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import type { DamagedEvent, JournalReader } from './journal.ts';

/** Reads the whole journal to know. */
export function damageOf(reader: JournalReader): readonly DamagedEvent[] {
  for (const _ of reader.events()) if (reader.damage.length > MOST_NAMED) break;
  return reader.damage;
}

const MOST_NAMED = 5;

/** One line for whoever looks at the session; null for a journal that is whole. */
export function damageLine(
  session: SessionId,
  damage: readonly DamagedEvent[],
  { blocks = 0, meta = false }: { blocks?: number; meta?: boolean } = {},
): string | null {
  const count = damage.length + blocks + (meta ? 2 : 0);
  if (count === 0) return null;
  const parts = [
    ...(damage.length === 0 ? [] : [eventsText(damage)]),
    ...(blocks === 0 ? [] : [`${blocks === 1 ? '1 block' : `${blocks} blocks`} of what was said`]),
    ...(meta ? ['its title and who wrote it'] : []),
  ];
  return `session ${session} is damaged: ${parts.join(' and ')} cannot be read and ${count === 1 ? 'is' : 'are'} left out here; save the rest with: ramet doctor --repair ${session}`;
}

/** To whoever wants to continue it: what is left out could be a call that has been carried out. */
export function refuseDamaged(session: SessionId, damage: readonly DamagedEvent[]): void {
  if (damage.length === 0) return;
  throw new JournalError(
    'journal_damaged',
    'terminal',
    `session ${session} cannot be resumed as it is: ${eventsText(damage)} of its journal cannot be read; repair it with ramet doctor --repair ${session}, then resume it`,
  );
}

/** `event 17`, `3 events (17, 18, 30)`. */
export function eventsText(damage: readonly DamagedEvent[]): string {
  const [first] = damage;
  if (damage.length === 1) return `event ${first?.seq}`;
  const named = damage.slice(0, MOST_NAMED).map(({ seq }) => seq);
  return `${damage.length} events (${named.join(', ')}${damage.length > named.length ? ', ...' : ''})`;
}
