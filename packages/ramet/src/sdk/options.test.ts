import { describe, expect, test } from 'vitest';
import { resolveOptions } from './options.ts';

describe('EXT-1: how children are launched is read from option, setting and default', () => {
  test('the option comes before the setting, and the setting before `auto`', () => {
    const settings = { settings: { launch: 'staggered' } as const, notices: [] };
    expect(resolveOptions({ env: {} }).launch).toBe('auto');
    expect(resolveOptions({ env: {} }, settings).launch).toBe('staggered');
    expect(resolveOptions({ env: {}, launch: 'parallel' }, settings).launch).toBe('parallel');
  });
});
