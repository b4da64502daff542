import { describe, expect, test } from 'vitest';
import { RecentDigests } from './writer-file.ts';

describe('recent digests', () => {
  test('are new once', () => {
    const recent = new RecentDigests(10);
    expect(recent.add('a')).toBe(true);
    expect(recent.add('a')).toBe(false);
  });

  test('are remembered for at least one generation and forgotten after two', () => {
    const recent = new RecentDigests(2);
    for (const digest of ['a', 'b', 'c']) recent.add(digest);
    expect(recent.add('a')).toBe(false);
    for (const digest of ['d', 'e', 'f', 'g', 'h']) recent.add(digest);
    expect(recent.add('b')).toBe(true);
  });
});
