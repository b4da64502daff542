import { describe, expect, test } from 'vitest';
import { figureTable } from '../ledger/cost-table.ts';
import { displayWidth } from './format.ts';

const lines = (rows: string[][]): string[] => figureTable(rows).split('\n').slice(0, -1);

describe('UI-1: a table of figures', () => {
  test('has its figures aligned on the right, under their headings', () => {
    expect(
      lines([
        ['', 'READ', 'COST'],
        ['main', '5', '$0.25'],
        ['a fork', '12.3k', '$12.00'],
      ]),
    ).toEqual(['         READ    COST', 'main        5   $0.25', 'a fork  12.3k  $12.00']);
  });

  test('takes a row of one cell for a heading that no column is widened for', () => {
    expect(lines([['BY MODEL'], ['m', '1']])).toEqual(['BY MODEL', 'm         1']);
  });

  test.each([
    ['long names', 'x'.repeat(200)],
    ['names of wide characters', '界'.repeat(100)],
  ])('stays within 80 columns with %s, which are cut', (_, name) => {
    const shown = lines([
      ['', ...Array.from({ length: 8 }, () => 'HEADING')],
      [name, ...Array.from({ length: 8 }, () => '123.4k')],
    ]);
    expect(Math.max(...shown.map(displayWidth))).toBeLessThanOrEqual(80);
    expect(shown[1]).toContain('…');
    expect(shown[1]).toMatch(/( +123\.4k){8}$/);
  });
});

test('a wider terminal cuts less, and what is in brackets after a name stays', () => {
  const name = `${'a long name of an agent '.repeat(4).trim()} [effort low]`;
  const rows = [
    ['BY AGENT', 'COST'],
    [name, '$1.00'],
  ];
  expect(figureTable(rows, 200)).toContain(name);
  const [, narrow = ''] = figureTable(rows, null).split('\n');
  expect(narrow).toMatch(/^a long name.*… \[effort low\] +\$1\.00$/);
  expect(narrow.length).toBeLessThanOrEqual(80);
});

test('UI-1: leaves out the columns that matter least on a narrow screen, and says which', () => {
  const rows = [
    ['BY AGENT', 'REQ', 'INPUT', 'WRITE', 'READ', 'OUTPUT', 'HIT', 'SAVED', 'COST'],
    ['.1 main', '1', '0', '0', '2.6k', '1.7k', '100%', '$0.0059', '$0.0177'],
  ];
  const shown = figureTable(rows, 40).split('\n');
  expect(shown).toEqual([
    'BY AGENT  REQ  OUTPUT   HIT     COST',
    '.1 main     1    1.7k  100%  $0.0177',
    'no room here for WRITE, SAVED, READ,',
    '  INPUT',
    '',
  ]);
});
