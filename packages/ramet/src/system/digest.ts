import { hash } from 'node:crypto';
import type { Digest } from '../schema/events.ts';

/** The name of some bytes: SHA-256, 43 characters. Equal digests mean equal bytes. */
export function digestOf(bytes: Uint8Array | string): Digest {
  return hash('sha256', bytes, 'base64url');
}
