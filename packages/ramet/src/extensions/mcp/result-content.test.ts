import { describe, expect, test } from 'vitest';
import { blocksOfContent, blocksOfResource } from './result-content.ts';

/** One white point. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const picture = (data: string, mimeType = 'image/png') =>
  blocksOfContent([{ type: 'image', data, mimeType }]);

describe('EXT-4: pictures of a server', () => {
  test('go into the conversation as what their bytes are', () => {
    const source = { type: 'base64', media_type: 'image/png', data: PNG };
    expect(picture(PNG)).toEqual([{ type: 'image', source }]);
    expect(picture(PNG.replace(/.{20}/g, '$&\n'), 'image/jpeg')).toEqual([{ type: 'image', source }]);
  });

  test.for([
    ['no picture', 'enp6', 'image/png', 'it is no PNG, JPEG, GIF or WebP image'],
    ['no base64', 'a picture!', 'image/png', 'it is no PNG, JPEG, GIF or WebP image'],
    ['cut off', PNG.slice(0, 60), 'image/png', 'the PNG image is damaged or cut off'],
    ['nothing', '', 'image/gif', 'it is no PNG, JPEG, GIF or WebP image'],
    [
      'too large',
      Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(4 << 20)]).toString('base64'),
      'image/png',
      'can be shown',
    ],
  ])(
    '%s is a line that says why, since a provider would refuse each later request',
    ([, data = '', type = '', why = '']) => {
      const [block] = picture(data, type);
      expect(block).toMatchObject({ type: 'text' });
      expect(JSON.stringify(block)).toContain(why);
    },
  );

  test('other bytes of a resource are a line', () => {
    const contents = [{ uri: 'db://x', mimeType: 'application/zip', blob: 'UEsDBA==' }];
    expect(blocksOfResource({ contents })).toEqual([
      { type: 'text', text: '[db://x, application/zip, 1 KB: it cannot be shown]' },
    ]);
  });
});
