import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { testAgent } from '../../../test/fixtures/tool-context.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

/** A frame of one pixel, and the beginning of its data. */
const JPEG = Buffer.from(
  `ffd8ffe000040000ffc0000b080001000101011100ffda0008010100003f00${'00'.repeat(12)}ffd9`,
  'hex',
);
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const WEBP = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function read(directory: string, content: string | Uint8Array, fields: object = {}): Promise<string> {
  writeFileSync(join(directory, 'file.txt'), content);
  return testAgent(directory).text(readTool, { file_path: 'file.txt', ...fields });
}

describe('RES-6: Read shows text', () => {
  test('with line numbers, as `cat -n` does', async ({ directory }) => {
    const text = await read(directory, 'one\n\n  three\n');
    expect(`${text}\n`).toBe(execFileSync('cat', ['-n', join(directory, 'file.txt')], { encoding: 'utf8' }));
  });

  test('but no private key, also from its second line on', async ({ directory }) => {
    const body = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n`.repeat(3);
    const key = `a\n-----BEGIN PRIVATE ${'KEY'}-----\n${body}-----END PRIVATE ${'KEY'}-----\nz\n`;
    const text = await read(directory, key, { offset: 4, limit: 4 });
    expect(text).not.toContain('MIIE');
    expect(text).toContain('     4\t[redacted: private key]\n');
    expect(text).toContain('     7\tz');
    expect(await read(directory, `if (x === '-----BEGIN PRIVATE ${'KEY'}-----')\n  return;\n`)).toContain(
      'return;',
    );
  });

  test('by relative and absolute path and through a symlink', async ({ directory }) => {
    mkdirSync(join(directory, 'sub'));
    writeFileSync(join(directory, 'sub/a.txt'), 'x\n');
    symlinkSync('sub/a.txt', join(directory, 'link'));
    const agent = testAgent(directory);
    for (const file_path of ['sub/a.txt', './sub/../sub/a.txt', join(directory, 'sub/a.txt'), 'link']) {
      expect(await agent.text(readTool, { file_path })).toBe('     1\tx');
    }
  });

  test('from an offset, up to a limit, and says where to continue', async ({ directory }) => {
    expect(await read(directory, 'a\nb\nc\nd\n', { offset: 2, limit: 2 })).toBe(
      '     2\tb\n     3\tc\n(More follows: continue with offset 4.)',
    );
    expect(await read(directory, 'a\nb\nc\n', { offset: 2, limit: 2 })).toBe('     2\tb\n     3\tc');
  });

  test('2,000 lines when no limit is given', async ({ directory }) => {
    const text = await read(directory, 'x\n'.repeat(2_001));
    expect(text.split('\n')).toHaveLength(2_001);
    expect(text).toContain('continue with offset 2001.');
  });

  test('of a long line its beginning, without splitting a character in two', async ({ directory }) => {
    const text = await read(directory, `${'a'.repeat(1_999)}${'😀'.repeat(50)}\n`);
    expect(text).toBe(`     1\t${'a'.repeat(1_999)}... [100 more characters in this line]`);
  });

  test('about 100 KB at once, whatever the limit', async ({ directory }) => {
    const text = await read(directory, `${'x'.repeat(990)}\n`.repeat(500), { limit: 500 });
    expect(text.length).toBeLessThan(101_000);
    expect(text).toMatch(/continue with offset 101\.\)$/);
  });

  test('with CRLF as plain line ends, without the byte-order mark, and from UTF-16', async ({
    directory,
  }) => {
    expect(await read(directory, '\ufeffa\r\nb\r\n')).toBe('     1\ta\n     2\tb');
    expect(await read(directory, Buffer.from('\ufeffgrün\r\n', 'utf16le'))).toBe('     1\tgrün');
  });

  test('and says so for an empty file, or an offset after its end', async ({ directory }) => {
    expect(await read(directory, '')).toBe('(The file is empty.)');
    expect(await read(directory, 'a\nb\n', { offset: 3 })).toBe(
      '(The file has 2 lines: offset 3 is past its end.)',
    );
  });

  test('of another encoding as well as it can, and says so', async ({ directory }) => {
    expect(await read(directory, Buffer.from([0x63, 0xe9, 0x0a]))).toMatch(
      /^ {5}1\tc\ufffd\n\(Not valid UTF-8/,
    );
  });
});

describe('RES-6: Read of a large file', () => {
  test('streams it, shows the part asked for, and lets it be written after', async ({ directory }) => {
    const path = join(directory, 'large.txt');
    writeFileSync(path, Array.from({ length: 800_000 }, (_, index) => `line ${index + 1}\r\n`).join(''));
    const agent = testAgent(directory);
    const text = await agent.text(readTool, { file_path: path, offset: 700_000, limit: 2 });
    expect(text).toBe(
      '700000\tline 700000\n700001\tline 700001\n(More follows: continue with offset 700002.)',
    );
    expect(await agent.text(readTool, { file_path: path, offset: 800_000 })).toBe('800000\tline 800000');
    expect(await agent.run(writeTool, { file_path: path, content: 'small\n' })).not.toHaveProperty('isError');
  });

  test('of one endless line stays small', async ({ directory }) => {
    writeFileSync(join(directory, 'one.json'), 'x'.repeat(12_000_000));
    const text = await testAgent(directory).text(readTool, { file_path: 'one.json' });
    expect(text).toBe(`     1\t${'x'.repeat(2_000)}... [11998000 more characters in this line]`);
  });

  test('of a gigabyte of nothing names its size, in flat memory', async ({ directory }) => {
    writeFileSync(join(directory, 'sparse'), '');
    truncateSync(join(directory, 'sparse'), 1_000_000_000);
    const before = process.memoryUsage().rss;
    expect(await testAgent(directory).run(readTool, { file_path: 'sparse' })).toEqual({
      content: expect.stringContaining('binary file of 1000.0 MB'),
      isError: true,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  test('stops when it is aborted', async ({ directory }) => {
    writeFileSync(join(directory, 'large'), 'x\n'.repeat(6_000_000));
    const agent = testAgent(directory);
    agent.abort();
    expect(await agent.run(readTool, { file_path: 'large' })).toMatchObject({ isError: true });
  });
});

describe('RES-6: Read of what is not text', () => {
  test.for([
    ['image/png', PNG],
    ['image/jpeg', JPEG],
    ['image/gif', GIF],
    ['image/webp', WEBP],
  ] as const)('gives %s as an image, whatever its name', async ([media_type, bytes], { directory }) => {
    writeFileSync(join(directory, 'picture.dat'), bytes);
    expect(await testAgent(directory).run(readTool, { file_path: 'picture.dat' })).toEqual({
      content: [{ type: 'image', source: { type: 'base64', media_type, data: bytes.toString('base64') } }],
    });
  });

  test.for([
    ['PNG', PNG.subarray(0, 8)],
    ['PNG', PNG.subarray(0, -12)],
    ['PNG', Buffer.concat([PNG.subarray(0, 16), Buffer.alloc(8), PNG.subarray(24)])],
    ['JPEG', JPEG.subarray(0, 21)],
    ['JPEG', Buffer.from('ffd8ffe000104a464946', 'hex')],
    ['GIF', GIF.subarray(0, 13)],
    ['WEBP', WEBP.subarray(0, 20)],
  ] as const)(
    'refuses a %s that nobody can show, which a provider would refuse ever after',
    async ([name, bytes], { directory }) => {
      writeFileSync(join(directory, 'a.png'), bytes);
      const outcome = await testAgent(directory).run(readTool, { file_path: 'a.png' });
      expect(outcome.isError).toBe(true);
      expect(outcome.content).toContain(`a.png cannot be shown: the ${name} image is damaged or cut off.`);
    },
  );

  test.for([4_000_000, 12_000_000])('refuses an image of %i bytes', async (size, { directory }) => {
    writeFileSync(join(directory, 'a.png'), Buffer.concat([PNG, Buffer.alloc(size - PNG.length)]));
    expect(await testAgent(directory).text(readTool, { file_path: 'a.png' })).toContain(
      `image of ${size / 1e6}.0 MB`,
    );
  });

  test('refuses binary with its size', async ({ directory }) => {
    writeFileSync(join(directory, 'a.bin'), Buffer.from([1, 0, 2]));
    expect(await testAgent(directory).run(readTool, { file_path: 'a.bin' })).toEqual({
      content: expect.stringContaining('binary file of 3 bytes'),
      isError: true,
    });
  });

  test('sends a directory to Glob, refuses a fifo and a device', async ({ directory }) => {
    runSync('mkfifo', [join(directory, 'pipe')]);
    const agent = testAgent(directory);
    expect(await agent.text(readTool, { file_path: '.' })).toContain('Glob');
    expect(await agent.text(readTool, { file_path: 'pipe' })).toContain('is a fifo');
    expect(await agent.text(readTool, { file_path: '/dev/zero' })).toContain('is a device');
  });

  test('names what is near when the file is missing', async ({ directory }) => {
    for (const name of ['config.ts', 'README.md', 'other.json']) writeFileSync(join(directory, name), '');
    const agent = testAgent(directory);
    expect(await agent.text(readTool, { file_path: 'config.js' })).toContain('config.ts');
    expect(await agent.text(readTool, { file_path: 'readme.md' })).toContain('README.md');
    expect(await agent.text(readTool, { file_path: 'zzzzzz' })).toMatch(/does not exist\. Find it/);
    expect(await agent.text(readTool, { file_path: 'no/such/file' })).toContain('nor does its directory');
    expect(await agent.run(readTool, { file_path: 'a\0b' })).toMatchObject({ isError: true });
  });
});

describe('RES-6: Read of a notebook', () => {
  const notebook = {
    cells: [
      { cell_type: 'markdown', source: ['# Title\n', 'text'] },
      {
        cell_type: 'code',
        source: 'print(1)',
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n'] },
          { output_type: 'display_data', data: { 'image/png': 'AAAA', 'text/plain': ['<Figure>'] } },
          { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[31mE\u001b[0m: v'] },
        ],
      },
    ],
  };

  test('shows cells with index, source and text outputs', async ({ directory }) => {
    writeFileSync(join(directory, 'a.ipynb'), JSON.stringify(notebook));
    const text = await testAgent(directory).text(readTool, { file_path: 'a.ipynb' });
    expect(text.split('\n')).toEqual([
      ...['[cell 0: markdown]', '# Title', 'text', ''],
      ...[
        '[cell 1: code]',
        'print(1)',
        '[output of cell 1]',
        '1',
        '<Figure>',
        '(image/png output left out)',
        'E: v',
      ],
      '(A notebook, shown by cells; Edit works on its JSON.)',
    ]);
  });

  test('shows one that is no valid notebook like any other file', async ({ directory }) => {
    writeFileSync(join(directory, 'a.ipynb'), '{"cells": 1}\n');
    expect(await testAgent(directory).text(readTool, { file_path: 'a.ipynb' })).toBe('     1\t{"cells": 1}');
    expect(readFileSync(join(directory, 'a.ipynb'), 'utf8')).toBe('{"cells": 1}\n');
  });
});
