import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { imageProblem } from './image-type.ts';

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length, 0);
  numbers.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)]);
}

function png(
  width: number,
  height: number,
  data = deflateSync(Buffer.alloc(Math.ceil(width / 8) * height + height)),
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** With another byte, and the sum of its header that fits. */
function odd(image: Buffer, at: number, value: number): Buffer {
  image[at] = value;
  image.writeUInt32BE(crc32(image.subarray(12, 29)), 29);
  return image;
}

const jpeg = (width: number, height: number, end = 'ffd9') =>
  Buffer.from(
    `ffd8ffe000040000ffc0000b08${hex(height)}${hex(width)}01011100ffda0008010100003f00${'00'.repeat(12)}${end}`,
    'hex',
  );
const hex = (size: number) => size.toString(16).padStart(4, '0');

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const gif = (width: number) => {
  const made = Buffer.from(GIF);
  made.writeUInt16LE(width, 6);
  return made;
};

/** One point each, as encoders write it. */
const LOSSLESS = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
const LOSSY = Buffer.from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=', 'base64');
const extended = (width: number) => {
  const made = Buffer.alloc(30);
  made.write('RIFF', 0, 'latin1');
  made.writeUInt32LE(22, 4);
  made.write('WEBPVP8X', 8, 'latin1');
  made.writeUIntLE(width - 1, 24, 3);
  return made;
};

describe('EXT-4, RES-6: an image', () => {
  test.for([
    ['image/png', png(1, 1)],
    ['image/png', png(8_000, 8_000)],
    ['image/jpeg', jpeg(8_000, 1)],
    ['image/gif', GIF],
    ['image/webp', LOSSLESS],
    ['image/webp', LOSSY],
    ['image/webp', extended(8_000)],
  ] as const)('of the kind %s is taken where it is whole', ([type, bytes]) => {
    expect(imageProblem(bytes)).toEqual({ type, bytes });
  });

  test.for([
    ['PNG', png(8_001, 1)],
    ['PNG', png(1, 60_000)],
    ['JPEG', jpeg(1, 8_001)],
    ['GIF', gif(9_000)],
    ['WEBP', extended(12_000)],
  ] as const)(
    'of the kind %s with too many points is left out, and the line says how many',
    ([name, bytes]) => {
      const problem = new RegExp(
        `^the ${name} image has \\d+ by \\d+ points; at most 8000 by 8000 can be shown$`,
      );
      expect(imageProblem(bytes)).toEqual({ problem: expect.stringMatching(problem) });
    },
  );

  test.for([
    ['PNG', 'data that cannot be unpacked', png(4, 4, Buffer.from('no data of an image'))],
    ['PNG', 'data that is cut off', png(400, 400, deflateSync(Buffer.alloc(20_400)).subarray(0, -8))],
    ['PNG', 'fewer rows than it says', png(40, 40, deflateSync(Buffer.alloc(60)))],
    ['PNG', 'an unknown kind of colour', odd(png(4, 4), 25, 9)],
    ['PNG', 'a sum that is wrong', png(4, 4).fill(7, 44, 46)],
    ['JPEG', 'no end', jpeg(4, 4, '')],
    ['GIF', 'no end', GIF.subarray(0, -1)],
    ['GIF', 'no image', Buffer.concat([GIF.subarray(0, 19), GIF.subarray(-1)])],
    ['WEBP', 'an unknown kind of data', Buffer.from(LOSSLESS).fill('Z', 15, 16)],
    ['WEBP', 'a wrong mark', Buffer.from(LOSSLESS).fill(0, 20, 21)],
  ] as const)('%s with %s is left out', ([name, , bytes]) => {
    expect(imageProblem(bytes)).toEqual({ problem: `the ${name} image is damaged or cut off` });
  });

  test('of the kind PNG loses parts that show nothing where their sum is wrong, and is whole again', () => {
    const profile = chunk('iCCP', Buffer.from('a profile'));
    const good = Buffer.concat([png(4, 4).subarray(0, 33), profile, png(4, 4).subarray(33)]);
    expect(imageProblem(good)).toEqual({ type: 'image/png', bytes: good });
    const broken = Buffer.from(good);
    broken[broken.indexOf('a profile')] = 0;
    expect(imageProblem(broken)).toEqual({ type: 'image/png', bytes: png(4, 4) });
  });

  test('whatever bytes it has, is read without an error', () => {
    const whole = [png(9, 9), jpeg(9, 9), GIF, LOSSLESS, LOSSY, extended(9)];
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }),
        fc.nat(80),
        (image, changes, length) => {
          const bytes = Buffer.from(image);
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          expect(() => imageProblem(bytes.subarray(0, length))).not.toThrow();
        },
      ),
    );
  });
});
