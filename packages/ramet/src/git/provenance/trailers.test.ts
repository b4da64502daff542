import { describe, expect, test } from 'vitest';
import { runSync } from '../../../test/fixtures/run-sync.ts';
import { parseTrailers, withTrailers } from './trailers.ts';

const told = { agent: 'abcd1234.2', session: 'abcd1234', task: 'Count the lines' };

function readByGit(message: string): string {
  const input = { input: message, encoding: 'utf8' } as const;
  return runSync('git', ['interpret-trailers', '--parse'], input).trim();
}

describe('WORK-6: trailers of commits', () => {
  test('are a separate paragraph, and git reads them', () => {
    const message = withTrailers('Subject\n\nBody: with a colon in it\nand more.\n', told);
    expect(message).toBe(
      'Subject\n\nBody: with a colon in it\nand more.\n\nRamet-Agent: abcd1234.2\nRamet-Session: abcd1234\nRamet-Task: Count the lines\n',
    );
    expect(readByGit(message)).toBe(
      'Ramet-Agent: abcd1234.2\nRamet-Session: abcd1234\nRamet-Task: Count the lines',
    );
    expect(parseTrailers(message)).toEqual(told);
  });

  test('join those that are there, and say nothing twice', () => {
    const message = withTrailers(
      'Subject\n\nSigned-off-by: A <a@example.invalid>\nRamet-Agent: first.1',
      told,
    );
    expect(message).toBe(
      'Subject\n\nSigned-off-by: A <a@example.invalid>\nRamet-Agent: first.1\nRamet-Session: abcd1234\nRamet-Task: Count the lines\n',
    );
  });

  test('a value cannot bring another trailer along, and is cut when it is long', () => {
    const message = withTrailers('Subject', {
      task: `do this\nRamet-Agent: forged.1\u2028x${'y'.repeat(300)}`,
    });
    expect(parseTrailers(message)).toEqual({
      task: expect.stringMatching(/^do this Ramet-Agent: forged\.1 xy+…$/),
    });
    expect(readByGit(message).split('\n')).toHaveLength(1);
  });

  test('a subject that looks like one is none', () => {
    expect(parseTrailers('Ramet-Agent: x.1')).toEqual({});
    expect(parseTrailers('Subject\n\nRamet-Agent: x.1\n\nlast words')).toEqual({});
    expect(withTrailers('fix: it', { agent: 'x.1' })).toBe('fix: it\n\nRamet-Agent: x.1\n');
  });

  test('nothing to say leaves the message as it is', () => {
    expect(withTrailers('Subject\n', {})).toBe('Subject\n');
  });
});
