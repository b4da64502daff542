import { describe, expect, test } from 'vitest';
import { askingOnce, denyingBroker, type PermissionAnswer, type PermissionQuestion } from './broker.ts';

const question: PermissionQuestion = {
  agent: 's.1',
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

describe('RES-3: equal questions are asked once', () => {
  test('while the first is open; the answer is everybody’s', async () => {
    const asked: string[] = [];
    const open = Promise.withResolvers<PermissionAnswer>();
    const broker = askingOnce({
      ask: ({ agent }) => {
        asked.push(agent);
        return open.promise;
      },
    });
    const answers = ['s.1', 's.2', 's.3'].map((agent) => broker.ask({ ...question, agent }, signal));
    const other = broker.ask({ ...question, summary: 'npm test' }, signal);
    open.resolve({ kind: 'once' });
    expect(await Promise.all([...answers, other])).toEqual(Array(4).fill({ kind: 'once' }));
    expect(asked).toEqual(['s.1', 's.1']);
    await broker.ask(question, signal);
    expect(asked).toHaveLength(3);
  });
});
