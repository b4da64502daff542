import { expect, test } from 'vitest';
import { hookMatcher } from './hook-matcher.ts';

test.for([
  ['', 'Bash', true],
  ['*', 'Bash', true],
  ['Bash', 'Bash', true],
  ['Bash', 'BashOutput', false],
  ['Edit|Write', 'Write', true],
  ['Edit, Write', 'Write', true],
  ['edit', 'Edit', false],
  ['mcp__.*__write', 'mcp__disk__write_all', true],
  ['^Note', 'TodoWrite', false],
  ['Task', 'Agent', true],
  ['Bash', null, true],
] as const)('EXT-2: the matcher "%s" and the name %s: %s', ([text, name, runs]) => {
  expect(hookMatcher(text)?.(name)).toBe(runs);
});

test('EXT-2: what is no regular expression is no matcher', () => {
  expect(hookMatcher('(')).toBeNull();
});
