/** Which images a model takes: by their first bytes, never by a name, whole, and up to a size. */
import type { ImageBlock } from '../schema/content.ts';
import { describeSize } from '../system/text/visible-text.ts';
import { SIZE_READERS, withoutBrokenExtras } from './image-size.ts';

type ImageMediaType = ImageBlock['source']['media_type'];

const SIGNATURES: readonly { type: ImageMediaType; matches(head: Buffer): boolean }[] = [
  { type: 'image/png', matches: (head) => head.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
  { type: 'image/jpeg', matches: (head) => head.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { type: 'image/gif', matches: (head) => /^GIF8[79]a/.test(head.toString('latin1')) },
  { type: 'image/webp', matches: (head) => /^RIFF.{4}WEBP/s.test(head.toString('latin1')) },
];

/** Of those signatures: most files begin with another, and need not be compared with each. */
const FIRST_BYTES: readonly number[] = [0x89, 0xff, 0x47, 0x52];

/** In base64 this is 5 MB, the most a request may hold for one image. */
export const IMAGE_LIMIT: number = 3_932_160;

/** Points of a side. A provider refuses a request with an image that has more. */
const SIDE_LIMIT = 8_000;

/** By the first bytes, never by the name. */
export function imageType(bytes: Uint8Array): ImageMediaType | null {
  if (!FIRST_BYTES.includes(bytes[0] ?? 0)) return null;
  const head = Buffer.from(bytes.subarray(0, 16));
  return SIGNATURES.find((signature) => signature.matches(head))?.type ?? null;
}

/** An image as a model takes it. */
export interface SoundImage {
  readonly type: ImageMediaType;
  readonly bytes: Uint8Array;
}

/** What kind of image it is, with the bytes that may be sent, or why no model takes it. */
export function imageProblem(given: Uint8Array): SoundImage | { problem: string } {
  const type = imageType(given);
  if (type === null) return { problem: 'it is no PNG, JPEG, GIF or WebP image' };
  // To read 100 MB stops every agent of the process for seconds. Parts that show nothing do not count in the end.
  if (given.length > 2 * IMAGE_LIMIT) return tooLarge(given);
  const bytes = mended(given, type);
  const damage = imageDamage(bytes, type);
  if (damage !== null) return { problem: damage };
  return bytes.length <= IMAGE_LIMIT ? { type, bytes } : tooLarge(bytes);
}

function tooLarge({ length }: Uint8Array): { problem: string } {
  const most = describeSize(IMAGE_LIMIT);
  return { problem: `the image has ${describeSize(length)}; at most ${most} can be shown` };
}

/** The same bytes, unless a part of them that shows nothing would have it refused. */
export function mended(bytes: Uint8Array, type: ImageMediaType): Uint8Array {
  if (type !== 'image/png') return bytes;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = withoutBrokenExtras(data);
  return whole === data ? bytes : whole;
}

/**
 * Why no model can be shown it, by its parts; null if it can. A provider refuses a request with a broken or a very wide image, and
 * each later one of that conversation, so it must not get there.
 */
export function imageDamage(bytes: Uint8Array, type: ImageMediaType): string | null {
  const size = SIZE_READERS[type](Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const name = type.slice('image/'.length).toUpperCase();
  if (size === null) return `the ${name} image is damaged or cut off`;
  if (Math.max(size.width, size.height) <= SIDE_LIMIT) return null;
  return `the ${name} image has ${size.width} by ${size.height} points; at most ${SIDE_LIMIT} by ${SIDE_LIMIT} can be shown`;
}
