/** Which images a model takes: by their first bytes, never by a name, and up to a size. */
import type { ImageBlock } from '../schema/content.ts';
import { describeSize } from '../system/text/visible-text.ts';

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

/** By the first bytes, never by the name. */
export function imageType(bytes: Uint8Array): ImageMediaType | null {
  if (!FIRST_BYTES.includes(bytes[0] ?? 0)) return null;
  const head = Buffer.from(bytes.subarray(0, 16));
  return SIGNATURES.find((signature) => signature.matches(head))?.type ?? null;
}

/** What kind of image it is, or why no model takes it. */
export function imageProblem(bytes: Uint8Array): { type: ImageMediaType } | { problem: string } {
  const type = imageType(bytes);
  if (type === null) return { problem: 'it is no PNG, JPEG, GIF or WebP image' };
  const damage = imageDamage(bytes, type);
  if (damage !== null) return { problem: damage };
  if (bytes.length <= IMAGE_LIMIT) return { type };
  const most = describeSize(IMAGE_LIMIT);
  return { problem: `the image has ${describeSize(bytes.length)}; at most ${most} can be shown` };
}

/**
 * Why no decoder could show it, by its parts; null if they are there. A model refuses a request with a broken image, and each
 * later one of that conversation, so it must not get there.
 */
export function imageDamage(bytes: Uint8Array, type: ImageMediaType): string | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return WHOLE[type](data)
    ? null
    : `the ${type.slice('image/'.length).toUpperCase()} image is damaged or cut off`;
}

const WHOLE: Readonly<Record<ImageMediaType, (data: Buffer) => boolean>> = {
  'image/png': isWholePng,
  'image/jpeg': isWholeJpeg,
  // Its screen, a first image, and the sign that ends it or more data.
  'image/gif': (data) => data.length >= 26 && data.readUInt16LE(6) > 0 && data.readUInt16LE(8) > 0,
  'image/webp': (data) =>
    data.length >= 30 &&
    data.readUInt32LE(4) + 8 <= data.length &&
    /^VP8[ LX]/.test(data.toString('latin1', 12, 16)),
};

/** A header with a size, data, and the end. */
function isWholePng(data: Buffer): boolean {
  if (data.length < 33 || data.toString('latin1', 12, 16) !== 'IHDR') return false;
  if (data.readUInt32BE(16) === 0 || data.readUInt32BE(20) === 0) return false;
  let hasData = false;
  for (let at = 8; at + 12 <= data.length; at += 12 + data.readUInt32BE(at)) {
    const name = data.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') hasData = true;
    if (name === 'IEND') return hasData;
  }
  return false;
}

/** A frame with a size, before the data begins. */
function isWholeJpeg(data: Buffer): boolean {
  let hasFrame = false;
  for (let at = 2; at + 4 <= data.length; ) {
    if (data[at] !== 0xff) return false;
    const marker = data[at + 1] ?? 0;
    // Any number of them may stand before a marker, and these have no length.
    if (marker === 0xff || marker === 0x01) at += marker === 0xff ? 1 : 2;
    else if (marker === 0xda) return hasFrame && data.length > at + 12;
    else {
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
      if (isFrame && at + 9 <= data.length)
        hasFrame = data.readUInt16BE(at + 5) > 0 && data.readUInt16BE(at + 7) > 0;
      at += 2 + data.readUInt16BE(at + 2);
    }
  }
  return false;
}
