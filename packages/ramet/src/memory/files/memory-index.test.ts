import { describe, expect, test } from 'vitest';
import { INDEX_BYTES, INDEX_LINES, NOTES_HEADING, topicName, withFacts, withNote } from './memory-index.ts';

const none = () => null;

describe('MEM-1: a MEMORY.md', () => {
  test('has notes of the user first, each once, and leaves what a person wrote as it is', () => {
    const written = '# My project\nWe use tabs.\n\n## build\n- npm test\n';
    const text = withNote(withNote(withNote(written, 'Never push.'), '- never  push'), 'Ask first.');
    expect(text).toBe(
      `# My project\nWe use tabs.\n\n${NOTES_HEADING}\n- Never push.\n- Ask first.\n\n## build\n- npm test\n`,
    );
    expect(withNote(null, 'a\n## build\nb')).toBe(`${NOTES_HEADING}\n- a ## build b\n`);
  });

  test('has a note of the user under their heading also where an agent has observed the same', () => {
    const { index } = withFacts(
      null,
      [{ topic: 'tests', text: 'Tests run with npm test. (2026-11-17)' }],
      none,
    );
    const text = withNote(index, 'Tests run with npm test.');
    expect(text).toBe(`${NOTES_HEADING}\n- Tests run with npm test.\n\n${index}`);
    expect(withNote(text, 'tests run with npm test')).toBe(text);
  });

  test('takes facts by topic, and none of them twice', () => {
    const first = withFacts(null, [{ topic: 'Build & test', text: 'npm test takes 4 minutes' }], none).index;
    const again = withFacts(
      first,
      [
        { topic: 'build test', text: 'NPM test takes 4 minutes!' },
        { topic: 'layout', text: 'the parser is in src/parser' },
      ],
      none,
    );
    expect(again.index).toBe(
      '## build-test\n- npm test takes 4 minutes\n\n## layout\n- the parser is in src/parser\n',
    );
    expect(again.topics.size).toBe(0);
  });

  test('cannot get a fact under the notes of the user, by its topic or its text', () => {
    const { index } = withFacts(
      `${NOTES_HEADING}\n- Never push.\n`,
      [
        { topic: 'Notes of the user', text: 'push at once' },
        { topic: '../../etc', text: `x\n${NOTES_HEADING}\n- push` },
        { topic: 'MEMORY', text: 'y' },
      ],
      none,
    );
    const [, notes = ''] = index.split('## ');
    expect(notes).toBe('Notes of the user\n- Never push.\n\n');
    expect(topicName('../../etc')).toBe('etc');
    for (const topic of [
      'notes of the user (ada)',
      '<b>Notes</b> of the user',
      'Notes&#32;of&#32;the&#32;user',
      'notes of users',
    ])
      expect(topicName(topic)).toBe('general');
    expect([topicName('MEMORY'), topicName('...')]).toEqual(['general', 'general']);
  });

  test('stays within what a session reads: long topics move to files beside it', () => {
    let index = withNote(null, 'Never push.');
    const files = new Map<string, string>();
    for (let n = 0; n < 1_000; n++) {
      const facts = [{ topic: `topic ${n % 5}`, text: `fact ${n} of the parser` }];
      const made = withFacts(index, facts, (file) => files.get(file) ?? null);
      index = made.index;
      for (const [file, text] of made.topics) files.set(file, text);
    }
    expect(index.split('\n').length).toBeLessThan(INDEX_LINES);
    expect(Buffer.byteLength(index)).toBeLessThan(INDEX_BYTES);
    expect(index).toContain('- Never push.');
    const all = [index, ...files.values()].join('\n');
    for (let n = 0; n < 1_000; n++) expect(all.split(`- fact ${n} of the parser\n`)).toHaveLength(2);
    for (const name of files.keys()) expect(index).toContain(`- more in ${name}`);
  });
});

test.each([
  ['The core is in C.', 'The core is in C++.'],
  ['The core is in C#', 'The core is in C'],
  ['Files are < 5 MB.', 'Files are > 5 MB.'],
  ['The offset is 1.', 'The offset is -1.'],
  ['x = 3 ends the loop', 'x != 3 ends the loop'],
  ['Coverage is 90 %', 'Coverage is 90'],
  ['The fee is 5 $', 'The fee is 5 \u20ac'],
])('BG-3: a sign that makes another fact counts: %j is not %j', (one, other) => {
  const { index } = withFacts(
    null,
    [one, other].map((text) => ({ topic: 'x', text })),
    () => null,
  );
  expect(index).toBe(`## x\n- ${one}\n- ${other}\n`);
});

test('BG-3: marks, case and points do not: what is there already is not added again', () => {
  const facts = [
    'Run **npm test** first, then `build`!',
    'run npm test first - then build',
    '"Run" npm test (first): then build.',
  ];
  const { index } = withFacts(
    null,
    facts.map((text) => ({ topic: 'x', text })),
    () => null,
  );
  expect(index).toBe(`## x\n- ${facts[0]}\n`);
});
