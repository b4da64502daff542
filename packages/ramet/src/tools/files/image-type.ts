import type { ImageBlock } from '../../schema/content.ts';

export type ImageMediaType = ImageBlock['source']['media_type'];

const SIGNATURES: readonly { type: ImageMediaType; matches(head: Buffer): boolean }[] = [
  { type: 'image/png', matches: (head) => head.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
  { type: 'image/jpeg', matches: (head) => head.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { type: 'image/gif', matches: (head) => /^GIF8[79]a/.test(head.toString('latin1')) },
  { type: 'image/webp', matches: (head) => /^RIFF.{4}WEBP/s.test(head.toString('latin1')) },
];

/** By the first bytes, never by the name. */
export function imageType(bytes: Uint8Array): ImageMediaType | null {
  const head = Buffer.from(bytes.subarray(0, 16));
  return SIGNATURES.find((signature) => signature.matches(head))?.type ?? null;
}
