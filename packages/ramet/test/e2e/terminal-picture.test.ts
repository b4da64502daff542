import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { terminalPicture } from '../../scripts/terminal-picture.ts';
import { VirtualTerminal } from '../fixtures/virtual-terminal.ts';
import { ROOT } from '../shape/repository.ts';

const SIZE = { columns: 20, rows: 3, title: 'a & b', description: 'A test.' };

describe('UI-1: the film of a terminal', () => {
  test('has every screen at its moment, in its colours and columns', () => {
    const terminal = new VirtualTerminal(SIZE.columns, SIZE.rows);
    terminal.write('$ run\r\n\u001b[1mwork <1>\u001b[22m  \u001b[32mdone\u001b[39m\r\n');
    const first = { rows: terminal.styledRows, seconds: 1 };
    terminal.write('one\r\ntwo\r\n');
    const picture = terminalPicture([first, { rows: terminal.styledRows, seconds: 3 }], SIZE);
    expect(picture).toContain('<title>a &amp; b</title>');
    expect(picture).toMatch(
      /<text class="bold" x="16" y="14" textLength="67.2" [^>]*>work &lt;1&gt;<\/text>/,
    );
    expect(picture).toMatch(/<text class="green" x="100" [^>]*>done<\/text>/);
    // The first row has scrolled away; the film shows the first screen for a quarter of the time.
    expect(picture.match(/<use [^>]+>/g)).toHaveLength(4);
    expect(picture).toContain('0%{transform:translateX(0px)}25%{transform:translateX(-200px)}');
    expect(picture).toContain('<g class="film" transform="translate(-200 0)">');
  });

  test('of the README is of the demo as it is now, and names no folder of a machine (npm run picture)', () => {
    const picture = readFileSync(join(ROOT, 'docs/demo.svg'), 'utf8');
    const said = picture.match(/(?<=<text[^>]*>)[^<]+/g) ?? [];
    for (const text of [
      '$ ramet demo',
      'waits for 5 agents',
      'ramet resume',
      'with the files of this checkout',
      'The bill, from the journal',
      'in your own repository:',
    ])
      expect(
        said.some((one) => one.includes(text)),
        text,
      ).toBe(true);
    expect(said.filter((one) => /\b1 agents\b/.test(one))).toEqual([]);
    expect(said.filter((one) => /(?:^|\s)\/\w|\b(?:home|Users|tmp|shm)\//.test(one))).toEqual([]);
    const [, times] = /^Five agents for the price of (\d\.\d)\.$/m.exec(said.join('\n')) ?? [];
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    expect(readme).toContain(`for the price of ${times}`);
    expect(readme.indexOf('docs/demo.svg')).toBeLessThan(1500);
  });
});
