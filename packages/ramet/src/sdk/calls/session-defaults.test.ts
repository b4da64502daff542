import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { refuseUnknownType, sessionDefaults } from './session-defaults.ts';

describe('UI-3: what a session would begin with is known before its first prompt', () => {
  test('without a key it is the recipe model, and that is said', async ({ directory }) => {
    const env = { HOME: directory, RAMET_HOME: join(directory, 'home') };
    expect(await sessionDefaults({ cwd: directory, env })).toEqual({
      model: 'recipe',
      permissionMode: 'default',
      isKeyless: true,
    });
    expect(
      await sessionDefaults({ cwd: directory, env: { ...env, RAMET_PROVIDER: 'recipe' } }),
    ).toMatchObject({
      isKeyless: false,
    });
  });

  test('with a key it is what settings and options name', async ({ directory }) => {
    const home = join(directory, 'home');
    mkdirSync(home);
    writeFileSync(join(home, 'settings.json'), '{"permissions": {"defaultMode": "plan"}}');
    const env = { HOME: directory, RAMET_HOME: home, ANTHROPIC_API_KEY: 'sk-ant-test' };
    const found = await sessionDefaults({ cwd: directory, env, model: 'haiku' });
    expect(found).toMatchObject({
      model: expect.stringContaining('haiku'),
      permissionMode: 'plan',
      isKeyless: false,
    });
  });

  test('an agent type that nobody has defined is refused before there is a session', async ({
    directory,
  }) => {
    const env = { HOME: directory, RAMET_HOME: join(directory, 'home') };
    const here = { cwd: directory, env };
    await expect(refuseUnknownType(here, 'Explor')).rejects.toThrow(
      'there is no agent type "Explor": did you mean Explore?',
    );
    await refuseUnknownType(here, 'Explore');
    const agentTypes = { zed: { description: 'one', prompt: 'two' } };
    await refuseUnknownType({ ...here, agentTypes }, 'zed');
  });
});
