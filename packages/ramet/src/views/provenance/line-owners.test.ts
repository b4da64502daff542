import { describe, expect, test } from 'vitest';
import type { AttributedChange } from './file-changes.ts';
import { lineOwners } from './line-owners.ts';

/** Versions are the texts themselves. */
const contents = { read: (version: string) => Buffer.from(version) };

function change(agent: string, before: string | null, after: string): AttributedChange {
  return { session: 's', agent, purpose: null, time: 0, call: 'c', path: '/a', before, after };
}

const owners = (now: string, ...changes: AttributedChange[]) =>
  lineOwners(now, changes, contents).map((owner) => owner?.agent ?? null);

describe('WORK-6: whose a line is that nobody has committed', () => {
  test('is the agent that wrote it, and nobody known where a person did', () => {
    expect(owners('a\nb\nc\n', change('s.1', null, 'a\n'), change('s.2', 'a\n', 'a\nb\n'))).toEqual([
      's.1',
      's.2',
      null,
    ]);
  });

  test('is again whose it was when an undo has put it back, and when that is taken back', () => {
    const work = [change('s.1', null, 'a\nb\n'), change('s.2', 'a\nb\n', 'a\nc\n')];
    expect(owners('a\nb\n', ...work)).toEqual(['s.1', 's.1']);
    expect(owners('a\nd\n', ...work, change('s.3', 'a\nb\n', 'a\nd\n'))).toEqual(['s.1', 's.3']);
    expect(owners('a\nc\n', ...work)).toEqual(['s.1', 's.2']);
  });
});
