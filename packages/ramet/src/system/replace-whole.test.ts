import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test } from 'vitest';
import { replaceWhole } from './replace-whole.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-replace-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const temporaryDirectory = (): string => mkdtempSync(join(root, 'case-'));
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('a file that is replaced whole', () => {
  test('is made where there was none, and replaced where there was one', () => {
    const file = join(temporaryDirectory(), 'note');
    replaceWhole(file, 'one');
    replaceWhole(file, new Uint8Array([116, 119, 111]));
    expect(readFileSync(file, 'utf8')).toBe('two');
  });

  test('has the mode that was asked for, whatever the mask of the process', () => {
    const file = join(temporaryDirectory(), 'program');
    replaceWhole(file, '', 0o777);
    expect(modeOf(file)).toBe(0o777);
    replaceWhole(file, '', 0o600);
    expect(modeOf(file)).toBe(0o600);
  });

  test('keeps its mode where none was asked for', () => {
    const file = join(temporaryDirectory(), 'note');
    writeFileSync(file, 'one');
    chmodSync(file, 0o464);
    replaceWhole(file, 'two');
    expect(modeOf(file)).toBe(0o464);
  });

  test('takes the place of a link, and leaves alone what the link leads to', () => {
    const directory = temporaryDirectory();
    const [file, elsewhere] = [join(directory, 'note'), join(directory, 'elsewhere')];
    writeFileSync(elsewhere, 'not ours');
    symlinkSync(elsewhere, file);
    replaceWhole(file, 'ours', 0o600);
    expect([file, elsewhere].map((path) => readFileSync(path, 'utf8'))).toEqual(['ours', 'not ours']);
  });

  test('leaves what was there and nothing else when it fails', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'note');
    mkdirSync(file);
    expect(() => replaceWhole(file, 'text')).toThrow(/EISDIR|EEXIST|ENOTEMPTY/);
    expect(() => replaceWhole(join(directory, 'absent', 'note'), 'text')).toThrow(/ENOENT/);
    expect(readdirSync(directory)).toEqual(['note']);
  });

  test('is whole for readers while others replace it', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'note');
    const whole = (letter: string): string => letter.repeat(200_000);
    replaceWhole(file, whole('x'));
    const source = (letter: string): string => `
      import(${JSON.stringify(new URL('./replace-whole.ts', import.meta.url).href)}).then(({ replaceWhole }) => {
        for (let i = 0; i < 100; i++) replaceWhole(${JSON.stringify(file)}, ${JSON.stringify(letter)}.repeat(200_000));
      });`;
    const writers = ['a', 'b'].map((letter) => new Worker(source(letter), { eval: true }));
    let running = writers.length;
    const ends = writers.map(async (writer) => {
      const [code] = await once(writer, 'exit');
      running--;
      return code;
    });
    while (running > 0) {
      const text = readFileSync(file, 'utf8');
      expect(text === whole(text[0] ?? '')).toBe(true);
      await new Promise(setImmediate);
    }
    expect(await Promise.all(ends)).toEqual([0, 0]);
    expect(readFileSync(file, 'utf8')).toMatch(/^[ab]/);
    expect(readdirSync(directory)).toEqual(['note']);
  });
});
