import { describe, expect, test } from 'vitest';
import { recipeProvider } from '../model/recipe/recipe.ts';
import type { PermissionAnswer, PermissionQuestion } from '../permission/broker.ts';
import type { Settings } from '../settings/settings.ts';
import { scriptedModel } from '../testing/scripted-model.ts';
import { newSessionModel, resolveOptions } from './options.ts';

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

describe('EXT-1: managed policy and what a caller gives', () => {
  const settings = {
    settings: { policy: { allowRules: 'managed' as const, models: ['claude-sonnet-*'] } },
    notices: [],
  };

  test('allow rules of the caller that do not count are named with their flag', () => {
    const allow = ['Bash(touch:*)'];
    expect(resolveOptions({ env: {}, permissions: { allow } }, settings).notices).toEqual([
      'permissions.allow (--allowedTools): ignored, managed policy allows only its own rules: Bash(touch:*)',
    ]);
    expect(resolveOptions({ env: {}, permissions: { deny: allow } }, settings).notices).toEqual([]);
    expect(resolveOptions({ env: {}, permissions: { allow } }).notices).toEqual([]);
  });

  test('a tier that policy names means no other model, whatever a variable says', () => {
    const haiku = { settings: { policy: { models: ['haiku'] } }, notices: [] };
    const model =
      (env: Record<string, string>, settings: Settings = haiku.settings): (() => unknown) =>
      () =>
        newSessionModel(resolveOptions({ env, model: 'haiku' }, { ...haiku, settings }), scriptedModel());
    expect(model({})).not.toThrow();
    expect(model({ RAMET_MODEL_HAIKU: 'claude-opus-5' })).toThrow('forbids the model claude-opus-5');
    const ours = { ...haiku.settings, models: { haiku: 'ours' } };
    expect(model({}, ours)).not.toThrow();
  });

  test('a model that policy forbids is refused as that, also where no provider serves it', () => {
    const options = resolveOptions({ env: {}, model: 'opus' }, settings);
    expect(() => newSessionModel(options, recipeProvider())).toThrow('forbids the model');
    const allowed = resolveOptions({ env: {}, model: 'claude-sonnet-x' }, settings);
    expect(() => newSessionModel(allowed, recipeProvider())).toThrow('no provider for the model');
  });
});
