import { describe, expect, test } from 'vitest';
import { resolveOptions } from './options.ts';

describe('LAUNCH-1: how children are launched is a choice of the caller', () => {
  test('the option comes before the setting, and the setting before `auto`', () => {
    const settings = { settings: { launch: 'staggered' } as const, notices: [] };
    expect(resolveOptions({ env: {} }).launch).toBe('auto');
    expect(resolveOptions({ env: {} }, settings).launch).toBe('staggered');
    expect(resolveOptions({ env: {}, launch: 'parallel' }, settings).launch).toBe('parallel');
  });
});
