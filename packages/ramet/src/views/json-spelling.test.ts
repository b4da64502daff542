import { expect, test } from 'vitest';
import { jsonLine, snakeCased } from './json-spelling.ts';

test('UI-1: names of ours are in snake case, at every depth; ids, paths and values stay as they are', () => {
  expect(
    snakeCased({
      costUsd: 1,
      startedAt: 2,
      list: [{ isSingle: true }],
      'src/aB.ts': 'aB',
      ab12: null,
      input_tokens: 3,
    }),
  ).toEqual({
    total_cost_usd: 1,
    started_at: 2,
    list: [{ is_single: true }],
    'src/aB.ts': 'aB',
    ab12: null,
    input_tokens: 3,
  });
  expect(jsonLine([{ aB: undefined }])).toBe('[{}]\n');
});
