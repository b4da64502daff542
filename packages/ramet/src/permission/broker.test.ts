import { describe, expect, test } from 'vitest';
import { denyingBroker, type PermissionQuestion } from './broker.ts';

const question: PermissionQuestion = {
  agent: 's.1',
  agentName: null,
  parent: null,
  cwd: '/srv',
  tool: 'Bash',
  summary: 'npm publish',
  reason: 'it runs npm publish',
  suggestedRules: ['Bash(npm publish:*)'],
  input: {},
};
const { signal } = new AbortController();

describe('RES-3: where nobody can answer', () => {
  test('the denial says what would have allowed the call', async () => {
    expect(await denyingBroker.ask(question, signal)).toEqual({
      kind: 'denied',
      reason: expect.stringContaining(
        '--allowedTools "Bash(npm publish:*)" or --permission-mode bypassPermissions',
      ),
    });
  });

  test('it names no rule where none would help', async () => {
    const answer = await denyingBroker.ask({ ...question, suggestedRules: [] }, signal);
    expect(JSON.stringify(answer)).not.toContain('--allowedTools');
  });
});
