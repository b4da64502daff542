import { expect, test } from 'vitest';
import { MADE_RUN, madeTask } from '../../../../../test/fixtures/operator-run.ts';
import { isolationFor } from './choose-isolation.ts';

test('OP-9: what can never work is refused before anything runs: the recipe model and patches', () => {
  const parts = { types: { definitions: [] } };
  const own = madeTask('a', { settings: { isolation: 'propose' } });
  const recipe = { tasks: [madeTask('a')], parts, model: 'recipe' };
  expect(() => isolationFor({ isolation: 'propose' }, MADE_RUN, recipe)).toThrow('writes no patches');
  expect(() => isolationFor({}, MADE_RUN, { ...recipe, tasks: [own] })).toThrow('writes no patches');
  expect(isolationFor({ isolation: 'propose' }, MADE_RUN, { ...recipe, model: 'opus' })).toEqual({
    isolation: 'propose',
  });
});
