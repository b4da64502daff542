import { expect, test } from 'vitest';
import { goalCommand } from './operate-flags.ts';

test('OP-1: the command for the file of a goal has every option that was given for the goal', () => {
  const flags = {
    ...{ into: 'out', check: 'npm test', parallel: 2, review: ['code-review', 'security'] },
    ...{ updateCheckout: true, marks: false, maxBudgetUsd: 1.5, allow: ['Bash(npm test:*)'] },
    ...{ yes: false, out: 'x.yaml', planModel: 'haiku', outputFormat: 'text' as const },
  };
  const options = [
    ...["--into out --check 'npm test' --parallel 2 --review code-review,security --update-checkout"],
    ...["--no-marks --max-budget-usd 1.5 --allowedTools 'Bash(npm test:*)'"],
  ];
  expect(goalCommand('wave hello.yaml', flags)).toBe(`ramet operate 'wave hello.yaml' ${options.join(' ')}`);
  expect(goalCommand('a.yaml', { marks: true, check: false })).toBe('ramet operate a.yaml --no-check');
});
