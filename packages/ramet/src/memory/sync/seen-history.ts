/**
 * What a folder has seen of its server's history, and what happens to its record when the server has lost a part of that
 * because an old copy of its file was put back.
 *
 * Invariant: of what the server has lost nothing counts as agreed on. What it has from before is older than what is here,
 * so that is sent; what others have written in its place is another change, and both are kept.
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

/** Keys that were agreed on in what the server has lost, with what it has of them from before; null for another's change. */
export function lostKeys(
  agreed: ReadonlyMap<string, AgreedKey>,
  server: ReadonlyMap<string, MemoryEntry>,
  parted: number,
): Map<string, AgreedKey | null> {
  const lost = new Map<string, AgreedKey | null>();
  for (const [key, { etag }] of agreed) {
    const entry = server.get(key);
    if (entry === undefined || entry.etag === etag || versionOf(etag) <= parted) continue;
    const { version, deleted, checksum } = entry;
    lost.set(key, version > parted ? null : { etag: entry.etag, checksum: deleted ? null : checksum });
  }
  return lost;
}

/** Infinite where a record does not say it. */
function versionOf(etag: string): number {
  const [, version] = /^"(\d{1,15})-/.exec(etag) ?? [];
  return version === undefined ? Number.POSITIVE_INFINITY : Number(version);
}
