/**
 * How many points an image has, read from its parts. Null says that a part is missing, cut off or broken, so that no decoder could
 * show it. PNG is checked to its data, since its parts carry sums; of the others the frame and the end.
 */
import { crc32, inflateSync } from 'node:zlib';
import type { ImageBlock } from '../schema/content.ts';

export interface ImageSize {
  width: number;
  height: number;
}

/** Of what a PNG holds, so much is unpacked: enough to see that it is none, and never a bomb. */
const UNPACKED = 1 << 20;

export const SIZE_READERS: Readonly<
  Record<ImageBlock['source']['media_type'], (data: Buffer) => ImageSize | null>
> = {
  'image/png': sizeOfPng,
  'image/jpeg': sizeOfJpeg,
  'image/gif': sizeOfGif,
  'image/webp': sizeOfWebp,
};

function sizeOf(width: number, height: number): ImageSize | null {
  return width > 0 && height > 0 ? { width, height } : null;
}

/** A header with a size, data that can be unpacked, and the end. */
function sizeOfPng(data: Buffer): ImageSize | null {
  if (data.length < 33 || data.toString('latin1', 12, 16) !== 'IHDR') return null;
  const packed: Buffer[] = [];
  for (let at = 8; at + 12 <= data.length; ) {
    const end = at + 8 + data.readUInt32BE(at);
    if (end + 4 > data.length || data.readUInt32BE(end) !== crc32(data.subarray(at + 4, end))) return null;
    const name = data.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') packed.push(data.subarray(at + 8, end));
    if (name === 'IEND')
      return unpacks(packed, data) ? sizeOf(data.readUInt32BE(16), data.readUInt32BE(20)) : null;
    at = end + 4;
  }
  return null;
}

/**
 * Without the parts whose sum is wrong though they show nothing, such as a profile of colours: some decoders pass over them, and
 * others refuse the image. What is no PNG comes back as it is.
 */
export function withoutBrokenExtras(data: Buffer): Buffer {
  const kept = [data.subarray(0, 8)];
  for (let at = 8; at + 12 <= data.length; ) {
    const end = at + 12 + data.readUInt32BE(at);
    if (end > data.length) return data;
    const isSound = data.readUInt32BE(end - 4) === crc32(data.subarray(at + 4, end - 4));
    if (isSound || !isExtra(data[at + 4] ?? 0)) kept.push(data.subarray(at, end));
    at = end;
  }
  const length = kept.reduce((sum, part) => sum + part.length, 0);
  return length === data.length ? data : Buffer.concat(kept);
}

/** A part with a name that begins with a small letter: an image can be shown without it. */
function isExtra(letter: number): boolean {
  return (letter & 0x20) !== 0;
}

/** Numbers for a point by the kind of colour: grey, colours, table, grey and clear, colours and clear. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** To all rows; of an image whose rows come in turns, to anything. */
function unpacks(packed: readonly Buffer[], data: Buffer): boolean {
  const [depth = 0, kind = 0, , , interlaced = 0] = data.subarray(24, 29);
  const channels = CHANNELS[kind];
  if (packed.length === 0 || channels === undefined) return false;
  const row = 1 + Math.ceil((data.readUInt32BE(16) * channels * depth) / 8);
  const whole = interlaced === 0 ? row * data.readUInt32BE(20) : 1;
  try {
    return inflateSync(Buffer.concat(packed), { maxOutputLength: UNPACKED }).length >= whole;
  } catch (error) {
    // So far it could be unpacked.
    return error instanceof RangeError;
  }
}

/** A frame with a size, before the data begins, and the end behind it. */
function sizeOfJpeg(data: Buffer): ImageSize | null {
  let size: ImageSize | null = null;
  for (let at = 2; at + 4 <= data.length; ) {
    if (data[at] !== 0xff) return null;
    const marker = data[at + 1] ?? 0;
    // Any number of them may stand before a marker, and these have no length.
    if (marker === 0xff || marker === 0x01) at += marker === 0xff ? 1 : 2;
    else if (marker === 0xda) return data.includes(Buffer.of(0xff, 0xd9), at + 12) ? size : null;
    else {
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
      if (isFrame && at + 9 <= data.length)
        size = sizeOf(data.readUInt16BE(at + 7), data.readUInt16BE(at + 5));
      at += 2 + data.readUInt16BE(at + 2);
    }
  }
  return null;
}

/** A screen, at least one image on it, and the sign that ends it. */
function sizeOfGif(data: Buffer): ImageSize | null {
  if (data.length < 14) return null;
  let images = 0;
  for (let at = 13 + tableSize(data[10] ?? 0); at < data.length; ) {
    const sign = data[at];
    if (sign === 0x3b) return images > 0 ? sizeOf(data.readUInt16LE(6), data.readUInt16LE(8)) : null;
    if (sign === 0x2c) {
      images += 1;
      at = afterBlocks(data, at + 11 + tableSize(data[at + 9] ?? 0));
    } else if (sign === 0x21) at = afterBlocks(data, at + 2);
    else return null;
  }
  return null;
}

/** The bytes of a GIF's table of colours, if the flags announce one. */
function tableSize(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}

/** A GIF has its data in blocks with their length, and an empty one at the end. */
function afterBlocks(data: Buffer, start: number): number {
  let at = start;
  while ((data[at] ?? 0) > 0) at += 1 + (data[at] ?? 0);
  return at + 1;
}

/** The whole file, with the size where its kind has it. */
function sizeOfWebp(data: Buffer): ImageSize | null {
  if (data.length < 30 || data.readUInt32LE(4) + 8 > data.length) return null;
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sizeOf(data.readUInt16LE(26) & 0x3fff, data.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      if (data[20] !== 0x2f) return null;
      const bits = data.readUInt32LE(21);
      return sizeOf((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sizeOf(data.readUIntLE(24, 3) + 1, data.readUIntLE(27, 3) + 1);
    default:
      return null;
  }
}
