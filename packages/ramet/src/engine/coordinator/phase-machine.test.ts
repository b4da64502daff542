import { describe, expect, test } from 'vitest';
import { COORDINATOR_PHASES } from '../../schema/status.ts';
import { nextPhases, phaseObstacle } from './phase-machine.ts';

const FREE = { open: 0, implemented: 1, isPlanned: true };

describe('COORD-1: the phases of a coordinator', () => {
  test('each phase has its successors, and every other change is out of order', () => {
    const next = Object.fromEntries(COORDINATOR_PHASES.map((from) => [from, nextPhases(from)]));
    expect(next).toEqual({
      research: ['synthesis'],
      synthesis: ['research', 'implementation'],
      implementation: ['verification', 'synthesis'],
      verification: ['implementation', 'synthesis', 'research'],
    });
    for (const from of COORDINATOR_PHASES)
      for (const to of COORDINATOR_PHASES) {
        const expected = nextPhases(from).includes(to) ? null : 'order';
        expect([from, to, phaseObstacle(from, to, FREE)]).toEqual([from, to, expected]);
      }
  });

  test('no phase is left while a result has not arrived', () => {
    for (const from of COORDINATOR_PHASES)
      for (const to of nextPhases(from)) expect(phaseObstacle(from, to, { ...FREE, open: 1 })).toBe('open');
  });

  test('implementation needs a plan, and verification something to verify', () => {
    expect(phaseObstacle('synthesis', 'implementation', { ...FREE, isPlanned: false })).toBe('plan');
    expect(phaseObstacle('verification', 'implementation', { ...FREE, isPlanned: false })).toBe('plan');
    expect(phaseObstacle('implementation', 'verification', { ...FREE, implemented: 0 })).toBe('work');
    expect(phaseObstacle('implementation', 'synthesis', { ...FREE, implemented: 0 })).toBeNull();
  });
});
