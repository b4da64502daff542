import type { BigIntStats } from 'node:fs';

export interface SeenVersion {
  version: string;
  /** Null when it was seen in an earlier process. */
  stats: BigIntStats | null;
}

/** The versions one agent has seen, by real path; the least recently used go first. */
export interface SeenVersions {
  get(path: string): SeenVersion | undefined;
  set(path: string, seen: SeenVersion): void;
  forget(path: string): void;
  /** Like `get`, and not a use. */
  peek(path: string): SeenVersion | undefined;
  /** The least recently used first. */
  entries(): Iterable<[path: string, seen: SeenVersion]>;
  clone(): SeenVersions;
  versions(): Map<string, string>;
}

/** An evicted file must be read again before it is changed: safe, only slower. */
const REMEMBERED_FILES = 10_000;

export function createSeenVersions(entries?: Iterable<[string, SeenVersion]>): SeenVersions {
  const versions = new Map(entries);
  const set = (path: string, seen: SeenVersion): void => {
    versions.delete(path);
    versions.set(path, seen);
    const oldest = versions.size > REMEMBERED_FILES ? versions.keys().next().value : undefined;
    if (oldest !== undefined) versions.delete(oldest);
  };
  return {
    get(path) {
      const seen = versions.get(path);
      if (seen !== undefined) set(path, seen);
      return seen;
    },
    set,
    forget: (path) => void versions.delete(path),
    versions: () => new Map([...versions].map(([path, { version }]) => [path, version])),
    peek: (path) => versions.get(path),
    entries: () => versions.entries(),
    clone: () => createSeenVersions(versions),
  };
}
