import { expect, test } from 'vitest';
import { mergedTexts, takenBack } from './merged-texts.ts';

const NOTE = '## Notes of the user\n\n- first note\n';

test.each<[string, string | null, string, string, string | null, number?]>([
  ['below the note', '', NOTE, `${NOTE}- own line\n`, '## Notes of the user\n\n- own line\n', 1],
  [
    'a later note',
    '',
    NOTE,
    `${NOTE}- later\n\n## build\n- seen\n`,
    '## Notes of the user\n\n- later\n\n## build\n- seen\n',
    1,
  ],
  ['above it', '# A\n', `# A\n- note\n`, '# A\n- own line\n- note\n', '# A\n- own line\n'],
  ['between two', '- a\n', '- a\n- b\n- c\n', '- a\n- b\n- own\n- c\n', '- a\n- own\n'],
  ['the heading above it is gone', null, '## Notes of the user\n- note\n', '- note\n', null],
  ['the line above it is gone', '- a\n', '- a\n- note\n', '- note\n', ''],
  ['both neighbours are others', '- a\n- c\n', '- a\n- note\n- c\n', '- A\n- note\n- C\n', '- A\n- C\n'],
  ['no newline at the end, and a line above', '- a', '- a\n- note\n', '- own\n- a\n- note', '- own\n- a'],
  ['no newline at the end, and a line below', '- a', '- a\n- note\n', '- a\n- note\n- own', '- a\n- own'],
  ['other ends of lines', '- a\n', '- a\n- note\n', '- a\r\n- note\r\n- own\r\n', '- a\r\n- own\r\n'],
])(
  'MEM-1: undo takes a note back although a line of the person touches it: %s',
  (_, before, after, now, then, kept = 0) => {
    expect(takenBack({ path: 'MEMORY.md', before, after }, now)).toEqual({ text: then, kept });
  },
);

test('MEM-1: where both sides changed a line, that of the person stays, and is counted', () => {
  const merged = mergedTexts({ mine: '- mine\n', base: '- one\n', theirs: '- theirs\n' });
  expect(merged).toEqual({ text: '- mine\n', kept: 1 });
});

test('MEM-1: what both sides added in one place stays, and each line under its own heading', () => {
  const merged = mergedTexts({ mine: '- a\n- mine\n', base: '- a\n', theirs: '- a\n- theirs\n' });
  expect(merged).toEqual({ text: '- a\n- theirs\n- mine\n', kept: 0 });
  const notes = '## Notes of the user\n- a\n';
  const found = { mine: `${notes}- mine\n`, base: notes, theirs: `${notes}\n## build\n- theirs\n` };
  expect(mergedTexts(found).text).toBe(`${notes}- mine\n\n## build\n- theirs\n`);
});

test.each<[string, string | null, string | null, string | null, string | null, number?]>([
  ['one that was removed', '- a\n- b\n', '- a\n', '- A\n', '- A\n- b\n'],
  [
    'one beside a line of the person',
    '- a\n- b\n- c\n',
    '- a\n- c\n',
    '- a\n- own\n- c\n',
    '- a\n- b\n- own\n- c\n',
  ],
  ['two that became one, which is another now', '- a\n- b\n', '- ab\n', '- own\n', '- a\n- b\n- own\n', 1],
  ['of a section that is gone', '## build\n- a\n', '## build\n', '- own\n', '- own\n## build\n- a\n'],
  [
    'below another heading now',
    '## build\n- a\n- b\n',
    '## build\n- b\n',
    '## Notes of the user\n- b\n',
    '## Notes of the user\n- b\n## build\n- a\n',
  ],
  [
    'with its heading, where a note has come',
    '## Notes of the user\n- a\n## build\n- b\n',
    '## Notes of the user\n- a\n',
    '## Notes of the user\n- a\n- own\n',
    '## Notes of the user\n- a\n- own\n## build\n- b\n',
  ],
  ['of a file that is gone', '- a\n- b\n', '- a\n', null, '- b\n'],
  ['of a file that was removed', '- a\n', null, '- own\n', '- a\n- own\n'],
])('MEM-1: undo brings back a line, under its own heading: %s', (_, before, after, now, then, kept = 0) => {
  expect(takenBack({ path: 'MEMORY.md', before, after }, now)).toEqual({ text: then, kept });
});

test('MEM-1: a line that the user has put under their notes is theirs, and so is a heading that lines stand under', () => {
  const change = {
    path: 'MEMORY.md',
    before: '## Notes of the user\n',
    after: '## Notes of the user\n## build\n- b\n',
  };
  expect(takenBack(change, '## Notes of the user\n- b\n')).toEqual({
    text: '## Notes of the user\n- b\n',
    kept: 1,
  });
  const own = '## Notes of the user\n## build\n- own\n- b\n';
  expect(takenBack(change, own)).toEqual({ text: '## Notes of the user\n## build\n- own\n', kept: 1 });
});

test('MEM-1: an undo of a long text with thousands of blank lines takes seconds at most', () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => (index % 2 ? '' : `- line ${index}`));
  const before = `${lines.join('\n')}\n`;
  const after = `${lines.filter((_, index) => index % 7).join('\n')}\n`;
  const { text, kept } = takenBack({ path: 'MEMORY.md', before, after }, `${after}- own\n`);
  const solid = (all: string): string[] => all.split('\n').filter((line) => line !== '');
  expect([solid(text ?? ''), kept]).toEqual([[...solid(before), '- own'], 0]);
});
