import { describe, expect, test } from 'vitest';
import { MISSING, NOT_YET, REQUIREMENTS } from '../requirements.ts';
import { citations, citedIds, REQUIREMENTS_PAGE, requirementsPage, standingOf } from './citations.ts';
import { readText } from './repository.ts';

const found = citations();

describe('requirements', () => {
  test('no test cites a requirement that does not exist', () => {
    expect(found.filter(({ id }) => !(id in REQUIREMENTS))).toEqual([]);
  });

  test('the page of requirements shows who cites what today (npm run fix rewrites it)', () => {
    expect(readText(REQUIREMENTS_PAGE)).toBe(requirementsPage(found));
  });

  test('what is kept, whole or in part, is cited by a test; what is not yet there is cited by none', () => {
    const cited = new Set(found.map(({ id }) => id));
    const wrong = Object.keys(REQUIREMENTS).filter((id) => cited.has(id) === (standingOf(id) === NOT_YET));
    expect(wrong).toEqual([]);
    expect(Object.keys(MISSING).filter((id) => !(id in REQUIREMENTS))).toEqual([]);
  });

  test('a promise is one line that fits into a table', () => {
    const unfit = [...Object.values(REQUIREMENTS), ...Object.values(MISSING)].filter(
      (promise) => /[|\n]/.test(promise) || promise.length > 120,
    );
    expect(unfit).toEqual([]);
  });
});

describe('a citation', () => {
  test.each([
    ['LOG-1: survives a kill', ['LOG-1']],
    ['keeps FORK-1 and FORK-7', ['FORK-1', 'FORK-7']],
    ['reads UTF-8 and hashes with SHA-256', []],
    ['cites what is unknown: EMU-99', ['EMU-99']],
  ])('is found in "%s"', (title, ids) => {
    expect(citedIds(title)).toEqual(ids);
  });
});
