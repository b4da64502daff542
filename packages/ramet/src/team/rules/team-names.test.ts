import { describe, expect, test } from 'vitest';
import { keyOf, nameProblem, unknownName } from './team-names.ts';

describe('TEAM-1: names of members', () => {
  test.each([
    'ada',
    'Reviewer 2',
    'front-end',
    'v.next',
    'Zoë',
    '検査',
    'Ада',
    'API 検査',
    'user-docs',
    'main window',
  ])('%s is a name', (name) => {
    expect(nameProblem(name, 'member')).toBeNull();
  });

  test.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['a\nb', 'it has control characters'],
    ['a\u202eb', 'it has control characters'],
    ['a\u0000', 'it has control characters'],
    ['../etc', 'it is a path'],
    ['a/b', 'it is a path'],
    ['a\\b', 'it is a path'],
    ['..', 'it is a path'],
    ['lead', 'lead, main, user, all, * are reserved'],
    ['Lead', 'lead, main, user, all, * are reserved'],
    ['ＬＥＡＤ', 'lead, main, user, all, * are reserved'],
    ['*', 'lead, main, user, all, * are reserved'],
    ['user', 'lead, main, user, all, * are reserved'],
    ['the user', 'lead, main, user, all, * are reserved'],
    ['The-Lead', 'lead, main, user, all, * are reserved'],
    ['The command line', 'it names who writes from outside the team'],
    ['l\u0435ad', 'it mixes alphabets whose letters look alike'],
    ['\u0430da', 'it mixes alphabets whose letters look alike'],
    ['\u03bfda', 'it mixes alphabets whose letters look alike'],
    ['abcdefgh.12', "it looks like an agent's id"],
    ['-f', 'use letters, digits, spaces, dots, dashes and underscores, with a letter or digit first'],
    ['a<b', 'use letters, digits, spaces, dots, dashes and underscores, with a letter or digit first'],
    ['a ', 'it begins or ends with a space'],
    ['x'.repeat(61), 'it has 61 characters, and at most 60 are allowed'],
  ])('%j is refused in one line', (name, why) => {
    const problem = nameProblem(name, 'member');
    expect(problem).toMatch(/^[^\n\p{Cc}\p{Cf}]*$/u);
    expect(problem).toContain(`cannot be a member's name: ${why}`);
  });

  test('are the same in any case and width', () => {
    expect(keyOf('ADA')).toBe(keyOf('ada'));
    expect(keyOf('Ａda')).toBe(keyOf('ada'));
  });

  test('an unknown one is answered with those there are', () => {
    expect(unknownName('bob', ['lead', 'ada'])).toBe('nobody here is called "bob"; there are lead, ada');
    expect(unknownName('bob', [])).toBe('nobody here is called "bob"; there is nobody');
  });
});
