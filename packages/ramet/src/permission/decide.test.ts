import { describe, expect, test } from 'vitest';
import { decide, type PermissionSubject } from './decide.ts';

const details = { input: {}, cwd: '/' };
const read: PermissionSubject = { name: 'Read', effect: 'read' };
const write: PermissionSubject = { name: 'Write', effect: 'write' };
const bash: PermissionSubject = { name: 'Bash', effect: 'execute' };

describe('RES-3: permission modes', () => {
  test.for([
    ['bypassPermissions', [true, true, true]],
    ['plan', [true, false, false]],
    ['dontAsk', [true, false, false]],
  ] as const)('%s allows read, write, execute: %s', ([mode, expected]) => {
    expect([read, write, bash].map((tool) => decide(mode, tool, details).allowed)).toEqual(expected);
  });

  test.for(['plan', 'dontAsk'] as const)('%s says what was denied and which flag changes it', (mode) => {
    expect(decide(mode, bash, details)).toMatchObject({
      reason: expect.stringMatching(/^Bash is not permitted.*--permission-mode bypassPermissions/),
    });
  });
});
