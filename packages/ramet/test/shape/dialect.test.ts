import { describe, expect, test } from 'vitest';
import {
  ALLOW_FILE,
  countDialect,
  dialectAbove,
  dialectIn,
  dialectOfRepository,
  folderOf,
  lowered,
  readAllowed,
} from './dialect.ts';

const found = dialectOfRepository();

describe('plain English', () => {
  test(`is written everywhere but in the places that ${ALLOW_FILE} counts`, () => {
    expect(dialectAbove(readAllowed(), found)).toEqual([]);
  });

  test(`${ALLOW_FILE} allows no more than is there (npm run fix lowers it)`, () => {
    expect(readAllowed()).toEqual(lowered(readAllowed(), countDialect(found)));
  });
});

describe('the check for phrases', () => {
  const text = 'const a = 1;\n/**\n * It goes on\n * with the session.\n */\n';

  test('finds a phrase across the lines of a comment and names the line where it begins', () => {
    expect(dialectIn('a.ts', text)).toEqual([
      { path: 'a.ts', line: 3, phrase: 'go on with', write: 'resume, continue' },
    ]);
  });

  test.each([
    ['Going on with it', 1],
    ['It goes on without it', 0],
    ['whoever asked', 1],
    ['a tool that is not to be had', 1],
    ['ago on with', 0],
  ])('%j has %i', (line, count) => expect(dialectIn('a.md', line)).toHaveLength(count));

  test('says file, line and what to write where a folder has more than it may', () => {
    const path = 'packages/ramet/src/engine/loop/a.ts';
    const places = [...dialectIn(path, text), ...dialectIn('README.md', 'whoever')];
    const allowed = { 'packages/ramet/src/engine': { 'go on with': 1 } };
    expect(dialectAbove(allowed, places)).toEqual([
      'README.md:1: "whoever": write the caller, the user, anyone who (README.md has 1, may have 0)',
    ]);
    expect(dialectAbove(allowed, [...places, ...places])).toHaveLength(4);
  });

  test('lowers what is allowed and never raises it', () => {
    const allowed = { docs: { whoever: 3, somebody: 1 }, bench: { whoever: 1 } };
    const there = { docs: { whoever: 2, revive: 4 }, campaigns: { whoever: 1 } };
    expect(lowered(allowed, there)).toEqual({ docs: { whoever: 2 } });
  });

  test.each([
    ['README.md', 'README.md'],
    ['docs/decisions/1.md', 'docs'],
    ['packages/ramet/src/cli/commands/run.ts', 'packages/ramet/src/cli'],
    ['packages/ramet/src/cli/commands/run.test.ts', 'packages/ramet/src/cli (tests)'],
    ['packages/ramet/test/e2e/run.test.ts', 'packages/ramet/test/e2e'],
  ])('%s is counted for %s', (path, folder) => expect(folderOf(path)).toBe(folder));
});
