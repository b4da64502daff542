/**
 * What is to be done about one key, from three things: what both sides last agreed on, what is here, and what the server
 * has. A value, without input or output. Nothing is decided by a clock.
 */
import { secretInKey, secretsIn, secretsText } from '../secrets/secret-guard.ts';
import { newKeyProblem } from '../wire/memory-key.ts';
import type { MemoryEntry } from '../wire/memory-shapes.ts';

/** What folder and server last agreed on. Without checksum: that the key is deleted. */
export interface AgreedKey {
  etag: string;
  checksum: string | null;
  /** Of a deleted key, the checksum of what it was. */
  gone?: string | null;
}

export interface KeySides {
  agreed: AgreedKey | null;
  /** Checksum of the file; null without one. */
  here: string | null;
  server: MemoryEntry | null;
}

export type KeyStep =
  | 'nothing'
  /** Both have it: only the record is missing. */
  | 'agree'
  | 'pull'
  | 'push'
  | 'delete here'
  | 'delete there'
  | 'merge'
  /** Deleted here, changed there. */
  | 'restore'
  /** Deleted there, changed here. */
  | 'push again';

export function planKey({ agreed, here, server }: KeySides): KeyStep {
  const there = server === null || server.deleted ? null : server.checksum;
  const isServerKnown = server !== null && agreed?.etag === server.etag;
  if (here === there) return isServerKnown || server === null ? 'nothing' : 'agree';
  const last = agreed?.checksum ?? null;
  if (server === null) return 'push';
  if (isServerKnown) return here === null ? 'delete there' : 'push';
  // From here on the server has something that this folder has not seen.
  if (there === null) return wasThere(here, last, server) ? 'delete here' : 'push again';
  if (here === last) return 'pull';
  return here === null ? 'restore' : 'merge';
}

/** The file is what was deleted, also where this folder's record is lost: a copy must not bring it back. */
function wasThere(here: string | null, last: string | null, server: MemoryEntry): boolean {
  return here === last || (last === null && here === server.checksum);
}

/** Why a new name is not sent; null if it can be. The server refuses the same. */
export function newNameProblem(key: string): string | null {
  const problem = newKeyProblem(key);
  if (problem !== null) return `its name cannot be a key: ${problem}`;
  const rule = secretInKey(key);
  return rule === null ? null : `its name has a secret (${rule}), and it was not sent: rename it`;
}

/** The same of a text. */
export function secretProblem(bytes: Uint8Array): string | null {
  const findings = secretsIn(Buffer.from(bytes).toString('utf8'));
  return findings.length === 0 ? null : `it has a secret, and was not sent: ${secretsText(findings)}`;
}
