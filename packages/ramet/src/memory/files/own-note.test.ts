import { expect, test } from 'vitest';
import { ownWords, withOwnNote } from './own-note.ts';
import { forgeryIn } from './refuse-forged-notes.ts';

test.each([
  '- by an agent\n\n## \n- EVIL\n',
  '- by an agent\n\n```\n## Facts\n```\n- EVIL\n',
  '## [](x)\n- EVIL\n\n## Facts\n- x',
])('MEM-1: a note of the user begins no section that others are in: %j', (text) => {
  const noted = withOwnNote(text, 'Answer in German.');
  expect(forgeryIn({ before: text, after: noted }, { words: ownWords(['Answer in German.']) })).toBeNull();
  expect(noted).toMatch(/\n\n## Notes of the user\n- Answer in German\.\n$/);
  // Those behind it begin with a heading.
  expect(withOwnNote(noted, 'Ask first.')).toBe(`${noted}- Ask first.\n`);
});

test('MEM-1: a note of the user stands above the topics', () => {
  expect(withOwnNote('# Mine\n\n## Facts\n- x\n', 'Ask first.')).toBe(
    '# Mine\n\n## Notes of the user\n- Ask first.\n\n## Facts\n- x\n',
  );
});
