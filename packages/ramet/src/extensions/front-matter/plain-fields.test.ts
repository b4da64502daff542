import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { plainFields } from './plain-fields.ts';

const word = fc.constantFrom(
  'Read',
  'a b',
  'x:y',
  'it: is',
  'a #b',
  'true',
  'no',
  '12',
  '0x1',
  '1e3',
  '',
  '~',
);
const text = fc.oneof(
  word,
  fc.string({ maxLength: 12 }),
  fc.stringMatching(/^[ -~]{0,16}$/),
  fc.string({ maxLength: 12, unit: 'grapheme' }).map((inner) => JSON.stringify(inner)),
  fc.stringMatching(/^"[ -~]{0,9}"$/),
  word.map((inner) => `"${inner}"`),
  word.map((inner) => `'${inner}'`),
  fc.array(word, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
  fc.array(word, { maxLength: 3 }).map((items) => JSON.stringify(items)),
  fc.stringMatching(/^\[[\w ,"'-]{0,9}\]$/),
);
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom('name', 'tools', 'model', 'x-y', 'a_b'), text)
    .map(([key, value]) => `${key}: ${value}`),
  fc.constantFrom('name:', 'tools:', '# a comment', '', '  more', '- item', '...', 'plain'),
  text.map((item) => `  - ${item}`),
);

function strictly(source: string): Map<string, unknown> | null {
  const document = parseDocument(source, { logLevel: 'silent' });
  return document.errors.length > 0 ? null : new Map(Object.entries(document.toJS() ?? {}));
}

describe('TYPE-3: fields that are written plainly', () => {
  test('are what YAML makes of them, whenever they are read without YAML', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const source = lines.join('\n');
        const plain = plainFields(source, 1);
        if (plain === null) return;
        const values = new Map([...plain].map(([key, { value }]) => [key, value]));
        expect({ source, values }).toEqual({ source, values: strictly(source) });
      }),
      { numRuns: 2_000 },
    );
  });

  test('are read without YAML in the shapes that most files have', () => {
    const fields = plainFields(
      'name: reviewer\n# a comment\ndescription: Reviews code, and says why.\ntools:\n  - Read\n  - Bash(git log:*)\nmodel: "opus"\nmaxTurns: 12\nbackground: true\nskills: [a, b]\nhooks:\n',
      2,
    );
    expect(fields?.get('tools')).toEqual({ value: ['Read', 'Bash(git log:*)'], line: 5 });
    expect([...(fields ?? [])].map(([, { value }]) => value)).toEqual([
      'reviewer',
      'Reviews code, and says why.',
      ['Read', 'Bash(git log:*)'],
      'opus',
      12,
      true,
      ['a', 'b'],
      null,
    ]);
  });

  test('a description with colons and no quotes is taken as it stands, and marked: YAML refuses it', () => {
    const source = 'name: x\ndescription: Use when: now. <example>user: "Why?"</example>\nmodel: opus';
    expect(strictly(source)).toBeNull();
    expect(plainFields(source, 1)?.get('description')).toEqual({
      value: 'Use when: now. <example>user: "Why?"</example>',
      line: 2,
      recovered: true,
    });
    for (const other of ['a: b #c', '"a: b', '- a: b', 'a: b\n  c'])
      expect(plainFields(`description: ${other}`, 1)).toBeNull();
  });

  test.each(['name: a: b', 'name: &x y', 'name: >\n  folded', 'a: 1\na: 2', 'name: [a, [b]]', '\tname: x'])(
    'are left to YAML when it takes more: %j',
    (source) => {
      expect(plainFields(source, 1)).toBeNull();
    },
  );
});
