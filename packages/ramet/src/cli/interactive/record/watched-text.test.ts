import { expect, test } from 'vitest';
import type { AgentOverview } from '../../../sdk/index.ts';
import { endingLine } from './watched-text.ts';

/** Only what the line is made of. */
const watched = (...agents: readonly Partial<AgentOverview>[]) =>
  ({
    entry: { session: 'abcdefgh' },
    main: agents[0],
    agents,
    total: { costUsd: 0 },
    // A whole overview has thirty fields more.
  }) as unknown as Parameters<typeof endingLine>[0];

const main = { id: 'abcdefgh.1', parent: null, status: 'done', cause: null } as const;
const child = { id: 'abcdefgh.2', parent: 'abcdefgh.1', status: 'interrupted', cause: null } as const;

test('UI-1: the end of a watched session says which agents were cut off, and how to continue', () => {
  expect(endingLine(watched(main))).toBe('session abcdefgh has ended: done ($0.00); ramet show abcdefgh');
  expect(endingLine(watched(main, child))).toBe(
    'session abcdefgh has ended: done, with 1 agent interrupted ($0.00); ramet resume abcdefgh',
  );
  expect(endingLine(watched({ ...main, status: 'interrupted' }))).toBe(
    'session abcdefgh has ended: interrupted ($0.00); ramet resume abcdefgh',
  );
});
