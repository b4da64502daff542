import { describe, expect, test } from 'vitest';
import type { PermissionAnswer, PermissionQuestion } from '../permission/broker.ts';
import { resolveOptions } from './options.ts';

describe('EXT-1: how children are launched is read from option, setting and default', () => {
  test('the option comes before the setting, and the setting before `auto`', () => {
    const settings = { settings: { launch: 'staggered' } as const, notices: [] };
    expect(resolveOptions({ env: {} }).launch).toBe('auto');
    expect(resolveOptions({ env: {} }, settings).launch).toBe('staggered');
    expect(resolveOptions({ env: {}, launch: 'parallel' }, settings).launch).toBe('parallel');
  });
});

test('RES-3: equal questions of two agents reach the caller as one', async () => {
  const asked: string[] = [];
  const given = Promise.withResolvers<PermissionAnswer>();
  const ask = ({ agent }: PermissionQuestion): Promise<PermissionAnswer> => {
    asked.push(agent);
    return given.promise;
  };
  const { broker } = resolveOptions({ env: {}, broker: { ask } });
  const question = { agentName: null, parent: null, cwd: '/srv', tool: 'Bash', summary: 'npm publish' };
  const rest = { command: 'npm publish', reason: 'it runs npm publish', suggestedRules: [], input: {} };
  const { signal } = new AbortController();
  const answers = ['s.1', 's.2'].map((agent) => broker.ask({ agent, ...question, ...rest }, signal));
  given.resolve({ kind: 'once' });
  expect(await Promise.all(answers)).toEqual([{ kind: 'once' }, { kind: 'once' }]);
  expect(asked).toEqual(['s.1']);
});
