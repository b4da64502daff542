import { expect, test } from 'vitest';
import { mergedTexts, takenBack } from './merged-texts.ts';

const NOTE = '## Notes of the user\n\n- first note\n';

test.each<[string, string | null, string, string, string | null]>([
  ['below the note', '', NOTE, `${NOTE}- own line\n`, '## Notes of the user\n\n- own line\n'],
  [
    'a later note',
    '',
    NOTE,
    `${NOTE}- later\n\n## build\n- seen\n`,
    '## Notes of the user\n\n- later\n\n## build\n- seen\n',
  ],
  ['above it', '# A\n', `# A\n- note\n`, '# A\n- own line\n- note\n', '# A\n- own line\n'],
  ['between two', '- a\n', '- a\n- b\n- c\n', '- a\n- b\n- own\n- c\n', '- a\n- own\n'],
])(
  'MEM-1: undo takes a note back although a line of the person touches it: %s',
  (_, before, after, now, then) => {
    expect(takenBack({ path: 'MEMORY.md', before, after }, now)).toEqual({ text: then, kept: 0 });
  },
);

test('MEM-1: where both sides changed a line, that of the person stays, and is counted', () => {
  const merged = mergedTexts({ mine: '- mine\n', base: '- one\n', theirs: '- theirs\n' });
  expect(merged).toEqual({ text: '- mine\n', kept: 1 });
});
