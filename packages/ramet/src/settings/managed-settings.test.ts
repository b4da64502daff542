import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../test/fixtures/temporary.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { trust } from '../system/trust.ts';
import { managedSettings, readSettings } from './read-settings.ts';
import { refuseBadSettings, settingsNotices } from './settings-notices.ts';

const json = (value: unknown): string => JSON.stringify(value);

function placeIn(directory: string) {
  return {
    root: join(directory, 'repo'),
    home: join(directory, 'home'),
    userHome: null,
    managed: [join(directory, 'variable'), join(directory, 'fixed')],
  };
}

describe('EXT-1: managed settings', () => {
  test('win over every file and the environment, and lists grow by theirs', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'home/settings.json': json({ model: 'opus', maxTurns: 5, permissions: { deny: ['WebFetch'] } }),
      'repo/.ramet/settings.local.json': json({ model: 'fable' }),
      'fixed/settings.json': json({ model: 'haiku', permissions: { deny: ['Bash(curl:*)'] } }),
    });
    trust(place);
    const environment = [
      {
        level: 'environment',
        source: 'X',
        line: null,
        path: ['model'],
        value: 'y',
        isEntry: false,
        unused: null,
      },
    ] as const;
    const report = await readSettings(place, { defaults: {}, environment });
    expect(report.settings).toEqual({
      model: 'haiku',
      maxTurns: 5,
      permissions: { deny: ['WebFetch', 'Bash(curl:*)'] },
    });
    expect(report.managed).toEqual({ model: 'haiku', permissions: { deny: ['Bash(curl:*)'] } });
    const model = report.values.filter(({ path }) => path[0] === 'model');
    expect(model.map(({ level, unused }) => [level, unused === null])).toEqual([
      ['user', false],
      ['local', false],
      ['environment', false],
      ['managed', true],
    ]);
  });

  test('a folder that a variable adds cannot override the fixed one', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'variable/settings.json': json({ model: 'opus', policy: { bypassPermissions: true }, maxTurns: 3 }),
      'fixed/settings.json': json({ model: 'haiku', policy: { bypassPermissions: false } }),
    });
    const { settings } = await readSettings(place, { defaults: {} });
    expect(settings).toEqual({ model: 'haiku', policy: { bypassPermissions: false }, maxTurns: 3 });
  });

  test('policy counts from managed settings alone, and others are told so', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'home/settings.json': json({ policy: { models: ['x'] }, permissions: { allow: ['Bash(ls:*)'] } }),
      'fixed/settings.json': json({
        policy: { allowRules: 'managed' },
        permissions: { allow: ['WebFetch'] },
      }),
    });
    const report = await readSettings(place, { defaults: {} });
    expect(report.settings).toEqual({
      policy: { allowRules: 'managed' },
      permissions: { allow: ['WebFetch'] },
    });
    expect(settingsNotices(report)).toEqual([
      expect.stringContaining('ignored, only managed policy may set it: policy.models'),
      expect.stringContaining('ignored, managed policy allows only its own rules: permissions.allow'),
    ]);
  });

  test('plugins of other files are told and not in use where policy has its own alone', async ({
    directory,
  }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'home/settings.json': json({ plugins: ['mine'] }),
      'fixed/settings.json': json({ policy: { plugins: 'managed' }, plugins: ['/opt/ours'] }),
    });
    const report = await readSettings(place, { defaults: {} });
    expect(report.settings.plugins).toEqual(['/opt/ours']);
    expect(settingsNotices(report)).toEqual([
      expect.stringMatching(
        /settings\.json:1: ignored, managed policy allows only its own plugins: plugins$/,
      ),
    ]);
  });

  test('a bad managed file stops the command', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, { 'fixed/settings.json': '{ "policy": { "hooks": "none" } }' });
    const report = await readSettings(place, { defaults: {} });
    expect(() => refuseBadSettings(report)).toThrow(/fixed\/settings\.json:1: policy\.hooks/);
  });

  test('a tier that policy names means what managed settings say', async ({ directory }) => {
    const place = placeIn(directory);
    writeFiles(directory, {
      'home/settings.json': json({ models: { haiku: 'claude-opus-5', sonnet: 'my-sonnet' } }),
      'fixed/settings.json': json({ policy: { models: ['haiku'] } }),
    });
    const report = await readSettings(place, { defaults: {} });
    expect(report.settings.models).toEqual({ sonnet: 'my-sonnet' });
    expect(settingsNotices(report)).toEqual([
      expect.stringContaining('managed policy names this tier and says what it means: models.haiku'),
    ]);
    expect(
      (await managedSettings({ models: { haiku: 'x' } }, place.managed)).settings.models,
    ).toBeUndefined();
    writeFiles(directory, {
      'fixed/settings.json': json({ policy: { models: ['haiku'] }, models: { haiku: 'ours' } }),
    });
    expect((await readSettings(place, { defaults: {} })).settings.models?.haiku).toBe('ours');
  });

  test('a list of no models is a mistake', async ({ directory }) => {
    writeFiles(directory, { 'fixed/settings.json': json({ policy: { models: [] } }) });
    const report = await readSettings(placeIn(directory), { defaults: {} });
    expect(() => refuseBadSettings(report)).toThrow(/fixed\/settings\.json:1: policy\.models/);
  });

  test.for([
    ['a file that is a link', 'fixed/settings.json', 'it is a link that leads nowhere'],
    ['a folder that is a link', 'fixed', 'fixed is a link that leads nowhere'],
    ["the user's own file", 'home/settings.json', 'it is a link that leads nowhere'],
    ['the local file', 'repo/.ramet/settings.local.json', 'it is a link that leads nowhere'],
  ])('what cannot be found stops the command: %s', async ([, path = '', why = ''], { directory }) => {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    symlinkSync('/nowhere/at/all', join(directory, path));
    const report = await readSettings(placeIn(directory), { defaults: {} });
    expect(() => refuseBadSettings(report)).toThrow(why);
  });

  test('a managed folder that is a file stops the command', async ({ directory }) => {
    writeFiles(directory, { fixed: 'no folder' });
    const report = await readSettings(placeIn(directory), { defaults: {} });
    expect(() => refuseBadSettings(report)).toThrow('fixed is no folder');
  });

  test('hold for a program that brings its own settings', async ({ directory }) => {
    const { managed } = placeIn(directory);
    const given = { model: 'opus', permissions: { allow: ['Bash(ls:*)'] } };
    expect((await managedSettings(given, managed)).settings).toBe(given);
    writeFiles(directory, {
      'fixed/settings.json': json({ model: 'haiku', policy: { allowRules: 'managed' } }),
    });
    expect((await managedSettings(given, managed)).settings).toEqual({
      model: 'haiku',
      policy: { allowRules: 'managed' },
    });
  });
});
