import { expect, test } from 'vitest';
import { NO_USAGE } from '../../schema/usage.ts';
import { lineObject } from './cost-object.ts';
import { costTable, totalNotes } from './cost-table.ts';
import { emptyLine } from './ledger.ts';

test('MODEL-3: a bill with an unknown part shows what it is at least', () => {
  const unknown = ['cache_read_input_tokens', 'output_tokens'] as const;
  const usage = { ...NO_USAGE, input_tokens: 120, output_tokens: 60, unknown };
  const line = { ...emptyLine(), requests: 2, responses: 2, usage, costUsd: null, atLeastUsd: 1.375 };
  const shown = costTable([{ heading: 'BY MODEL', lines: [['m', line]] }], line);
  expect(shown).toMatch(/TOTAL +2 +120 +0 +\? +60\+ +- +- +\$1\.38\+\n$/);
  expect(totalNotes(line)).toEqual(
    expect.arrayContaining([
      'the cost is at least $1.38; a part of it is unknown (+)',
      'the provider gave impossible numbers of tokens: such a sum is at least what it says (+)',
    ]),
  );
  const searched = { ...emptyLine(), usage: { ...NO_USAGE, web_search_requests: 3 }, costUsd: 0.03 };
  expect(totalNotes(searched)).toContainEqual(
    expect.stringMatching(/^3 searches of the web by the provider, \$0\.03\d* of the cost$/),
  );
  expect(lineObject(line)).toMatchObject({ usage: { unknown }, total_cost_usd: null, at_least_usd: 1.375 });
});
