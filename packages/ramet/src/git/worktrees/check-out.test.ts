import { describe, expect, test } from 'vitest';
import { conePatterns } from './check-out.ts';

describe('WORK-2: sparse paths', () => {
  test('open the folders on the way and take everything below the last', () => {
    expect(conePatterns(['./packages/web/', 'docs', '/packages/web/src']).split('\n')).toEqual([
      '/*',
      '!/*/',
      '/packages/',
      '!/packages/*/',
      '/docs/',
      '/packages/web/',
      '/packages/web/src/',
      '',
    ]);
  });
});
