/**
 * What a folder has seen of its server's history, and what happens to its record when the server has lost a part of that
 * because an old copy of its file was put back.
 *
 * Invariants
 * 1. Of what the server has lost nothing counts as agreed on. What it has from before is older than what is here,
 *    so that is sent; what others have written in its place is another change, and both are kept.
 * 2. A deletion still counts for the text that was deleted, whenever another folder brings that back.
 */
import type { MemoryEntry, MemoryListing } from '../wire/memory-shapes.ts';
import type { AgreedKey } from './plan-key.ts';

/** The oldest say the least. */
const MOST_PARTS = 20;

/** As the server reads it: parts with their highest version. Own writes of a sync that was killed count too. */
export function seenText(fact: string | null, agreed: Iterable<AgreedKey>): string | null {
  if (fact === null) return null;
  const parts = fact.split(',');
  const [name = '', version = '0'] = (parts.pop() ?? '').split('.');
  const written = Array.from(agreed, ({ etag }) => versionOf(etag)).filter(Number.isFinite);
  return [...parts, `${name}.${written.reduce((most, one) => Math.max(most, one), Number(version))}`].join(
    ',',
  );
}

/** With what this listing shows. */
export function seenWith(seen: string | null, { part, version, parted }: MemoryListing): string | null {
  if (part === undefined || part === '') return null;
  const before = (seen ?? '').split(',').filter((one) => one !== '' && !one.startsWith(`${part}.`));
  // What was lost is not to be looked for again.
  const kept = parted == null ? before : [];
  return [...kept, `${part}.${version}`].slice(-MOST_PARTS).join(',');
}

/** In place of the ETag of a key that the server has lost. */
export const LOST = 'lost';

/**
 * Keys that were agreed on in what the server has lost, now or before, with what counts in place of that: what it has of them
 * from before, or again as it was; null for another's change.
 */
export function lostKeys(
  agreed: ReadonlyMap<string, AgreedKey>,
  server: ReadonlyMap<string, MemoryEntry>,
  parted: number | null,
): Map<string, AgreedKey | null> {
  const lost = new Map<string, AgreedKey | null>();
  for (const [key, { etag, checksum: last, gone = null }] of agreed) {
    const isNew = etag !== LOST && parted !== null && versionOf(etag) > parted;
    const entry = server.get(key);
    if (entry?.etag === etag || !(isNew || etag === LOST)) continue;
    const was = last ?? gone;
    if (entry === undefined) {
      if (isNew) lost.set(key, { etag: LOST, checksum: last, gone: was });
      continue;
    }
    const { version, deleted, checksum } = entry;
    if ((isNew && version <= parted) || (!deleted && checksum === was))
      lost.set(key, { etag: entry.etag, checksum: deleted ? null : checksum });
    else if (isNew) lost.set(key, null);
  }
  return lost;
}

/** Infinite where a record does not say it. */
function versionOf(etag: string): number {
  const [, version] = /^"(\d{1,15})-/.exec(etag) ?? [];
  return version === undefined ? Number.POSITIVE_INFINITY : Number(version);
}
