import { expect, test } from 'vitest';
import { collectRules } from './run-options.ts';

test.for<[string, string[]]>([
  ['Edit', ['Edit']],
  ['Edit,Write Read', ['Edit', 'Write', 'Read']],
  ['Bash(npm test:*), Bash(git log --format=a,b)', ['Bash(npm test:*)', 'Bash(git log --format=a,b)']],
  ['Bash(echo (a b)) Edit', ['Bash(echo (a b))', 'Edit']],
  ['Bash(npm test', ['Bash(npm test']],
  [' , ', []],
  ['', []],
])('RES-3: %j is read as the rules %j', ([text, rules]) => {
  expect(collectRules(text)).toEqual(rules);
});
