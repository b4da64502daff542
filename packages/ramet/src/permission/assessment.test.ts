import { describe, expect, test } from 'vitest';
import type { SessionMode } from '../schema/status.ts';
import { type Assessment, settle, stoppedAssessment } from './assessment.ts';

function assessment(changes: Partial<Assessment> = {}): Assessment {
  const question = { summary: 'ls', reason: 'it runs ls', suggestedRules: ['Bash(ls:*)'] };
  return { denied: null, asked: null, harmless: true, allowed: true, question, ...changes };
}

const modes: readonly SessionMode[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

describe('RES-3: how freely a permitted command runs', () => {
  test.for(modes)('%s: what was judged to only read runs where it was judged to', (mode) => {
    for (const where of ['wall', 'host'] as const) {
      expect(settle({ mode }, 'Bash', assessment({ where }))).toEqual({ kind: 'allow', confinement: where });
    }
  });

  test('bypassPermissions: only agents that only read are confined', () => {
    const mode = 'bypassPermissions';
    const where = 'wall';
    expect(settle({ mode }, 'Bash', assessment({ where }))).toEqual({ kind: 'allow', confinement: 'none' });
    expect(settle({ mode, readOnly: true }, 'Bash', assessment({ where }))).toEqual({
      kind: 'allow',
      confinement: 'wall',
    });
  });

  test('what rules cover whole needs no judgement, except where rules do not count', () => {
    const ruled = assessment({ where: 'wall', covered: true });
    const confinement = (mode: SessionMode, readOnly = false): unknown =>
      settle({ mode, readOnly }, 'Bash', ruled);
    expect(confinement('default')).toMatchObject({ confinement: 'none' });
    expect(confinement('plan')).toMatchObject({ confinement: 'wall' });
    expect(confinement('default', true)).toMatchObject({ confinement: 'wall' });
  });

  test('a tool that is no command has no confinement', () => {
    expect(settle({ mode: 'plan' }, 'Read', assessment())).toEqual({ kind: 'allow', confinement: 'none' });
  });
});

describe('RES-3: a command that the sandbox stopped', () => {
  const stopped = stoppedAssessment(assessment({ where: 'wall' }), 'a file system is read-only');

  test('is a question', () => {
    expect(settle({ mode: 'default' }, 'Bash', stopped)).toMatchObject({
      kind: 'ask',
      question: { reason: 'the read-only sandbox stopped it: a file system is read-only' },
    });
  });

  test.for<[SessionMode, boolean]>([
    ['plan', false],
    ['dontAsk', false],
    ['default', true],
    ['bypassPermissions', true],
  ])('is denied in %s, where nobody is asked (only reading: %s)', ([mode, readOnly]) => {
    expect(settle({ mode, readOnly }, 'Bash', stopped)).toMatchObject({ kind: 'deny' });
  });

  test('runs where rules cover it by now', () => {
    const covered = stoppedAssessment(assessment({ where: 'wall', covered: true }), 'no network');
    expect(settle({ mode: 'dontAsk' }, 'Bash', covered)).toEqual({ kind: 'allow', confinement: 'none' });
  });
});
