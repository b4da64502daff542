/**
 * What agents have seen of files, by version, so that a refusal can show what changed since. Bounded, the least
 * recently used go first: without it the refusal is shorter, not wrong.
 */
export interface KeptVersions {
  keep(version: string, bytes: Uint8Array): void;
  find(version: string): Uint8Array | null;
}

const LARGEST_FILE = 256 << 10;
const MOST_BYTES = 16 << 20;

export function createKeptVersions(mostBytes: number = MOST_BYTES): KeptVersions {
  const kept = new Map<string, Uint8Array>();
  let total = 0;
  return {
    keep(version, bytes) {
      const present = kept.get(version);
      if (present !== undefined) {
        kept.delete(version);
        kept.set(version, present);
        return;
      }
      if (bytes.byteLength > LARGEST_FILE) return;
      // A copy: the buffer that a file is read into may be a slice of a larger one.
      kept.set(version, Uint8Array.from(bytes));
      total += bytes.byteLength;
      for (const [oldest, { byteLength }] of kept) {
        if (total <= mostBytes) break;
        kept.delete(oldest);
        total -= byteLength;
      }
    },
    find: (version) => kept.get(version) ?? null,
  };
}
