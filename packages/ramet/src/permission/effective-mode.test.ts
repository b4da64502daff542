import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES, SESSION_MODES, type SessionMode } from '../schema/status.ts';
import { effectiveMode, MODES_BY_WIDTH } from './policy.ts';

const widthOf = (mode: SessionMode): number => MODES_BY_WIDTH.indexOf(mode);

describe('RES-3: the mode an agent is judged under', () => {
  test('is its parent’s for an agent in bubble', () => {
    for (const ceiling of SESSION_MODES) expect(effectiveMode('bubble', ceiling)).toBe(ceiling);
  });

  test('is never wider than its parent’s, nor than its own', () => {
    for (const own of PERMISSION_MODES) {
      for (const ceiling of SESSION_MODES) {
        const mode = effectiveMode(own, ceiling);
        expect(widthOf(mode)).toBeLessThanOrEqual(widthOf(ceiling));
        if (own !== 'bubble') expect(widthOf(mode)).toBe(Math.min(widthOf(own), widthOf(ceiling)));
      }
    }
  });

  test('orders the modes from plan to bypassPermissions, and all of them', () => {
    expect(MODES_BY_WIDTH.join(' ')).toBe('plan dontAsk default acceptEdits bypassPermissions');
    expect([...MODES_BY_WIDTH].sort()).toEqual([...SESSION_MODES].sort());
  });

  test('is the narrowest where an agent in bubble has nobody above it', () => {
    expect(effectiveMode('bubble', null)).toBe('plan');
  });
});
