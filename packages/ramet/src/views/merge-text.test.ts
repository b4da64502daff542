import { describe, expect, test } from 'vitest';
import { showMatrix, showReport } from './merge-text.ts';

describe('UI-1: merges in words', () => {
  test('the checkout that a person is in goes without its path, another does not', () => {
    const report = {
      ...{ target: 'main', before: 'a'.repeat(40), after: 'b'.repeat(40), kept: null, entries: [] },
      checkout: '/srv/app',
    };
    const moved = 'main: aaaaaaaaaa to bbbbbbbbbb, with the files of';
    expect(showReport(report, '/srv/app')).toContain(`${moved} this checkout\n`);
    expect(showReport(report, '/srv')).toContain(`${moved} /srv/app\n`);
  });

  test('one branch is one', () => {
    const matrix = { target: 'main', conflicts: [], nothing: [], order: [] };
    const found = (branches: string[]): string => showMatrix({ ...matrix, branches });
    expect(found(['a'])).toContain('no conflicts: one branch with main');
    expect(found(['a', 'b'])).toContain('no conflicts: 2 branches with main');
  });
});
