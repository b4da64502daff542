import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../../../test/fixtures/temporary.ts';
import { test } from '../../../test/fixtures/temporary-directory.ts';
import { CHANGED, UNTRUSTED } from '../../settings/setting-value.ts';
import { callerOf } from '../calls/caller.ts';
import { readSettingsInDetail } from '../calls/settings-report.ts';
import { changeTrust } from '../calls/trust.ts';
import { findPlace } from '../place.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import { checkOthers } from './place-checks.ts';

describe('UI-1: what doctor says about settings of other tools', () => {
  test('is a few names and a count, however many there are', async ({ directory }) => {
    mkdirSync(join(directory, 'home'));
    const keys = Array.from({ length: 60 }, (_, index) => [`setting${index}`, { some: 'value' }]);
    const settings = { ...Object.fromEntries(keys), permissions: { deny: ['Read(.env)'] } };
    writeFiles(directory, { 'work/.claude/settings.json': JSON.stringify(settings) });
    const caller = callerOf({
      cwd: join(directory, 'work'),
      env: { HOME: join(directory, 'home'), RAMET_HOME: join(directory, 'ramet') },
    });
    const { state, found, remedy } = await checkOthers({ caller, place: findPlace(caller) });
    expect(state).toBe('limited');
    expect(found).toBe(
      'deny and ask rules of .claude/settings.json are in force; without effect in Ramet: setting0 (unknown), setting1 (unknown), setting2 (unknown), setting3 (unknown) and 56 more',
    );
    expect(remedy).toBe('ramet settings lists all of it');
  });

  test('EXT-1: allow rules that managed policy leaves out are named by doctor, settings and a session', async ({
    directory,
  }) => {
    mkdirSync(join(directory, 'home'));
    writeFiles(directory, {
      'work/.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(mkdir:*)'] } }),
      'managed/settings.json': JSON.stringify({ policy: { allowRules: 'managed' } }),
    });
    const here = {
      cwd: join(directory, 'work'),
      env: {
        HOME: join(directory, 'home'),
        RAMET_HOME: join(directory, 'ramet'),
        RAMET_MANAGED_DIR: join(directory, 'managed'),
        RAMET_TRUST: '1',
      },
    };
    const caller = callerOf(here);
    const what = 'permissions.allow: managed policy allows only its own rules';
    expect((await checkOthers({ caller, place: findPlace(caller) })).found).toContain(what);
    expect((await readSettingsInDetail(here)).others.unused).toContainEqual({
      what,
      source: '.claude/settings.json',
    });
    expect((await sessionSettings(here)).notices).toEqual([
      '.claude/settings.json: ignored, managed policy allows only its own rules: permissions.allow',
    ]);
  });

  test('EXT-1: what waits for trust is named apart from what has no effect, hooks too', async ({
    directory,
  }) => {
    mkdirSync(join(directory, 'home'));
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] };
    const write = (env: object): void =>
      writeFiles(directory, {
        'work/.claude/settings.json': JSON.stringify({ hooks, env, outputStyle: 'x' }),
        'work/.ramet/settings.json': JSON.stringify({ hooks }),
      });
    const here = {
      cwd: join(directory, 'work'),
      env: { HOME: join(directory, 'home'), RAMET_HOME: join(directory, 'ramet') },
    };
    const unused = async () =>
      (await readSettingsInDetail(here)).others.unused.map(({ what, needsTrust }) => [what, needsTrust]);
    const found = async (): Promise<string> => {
      const caller = callerOf(here);
      return (await checkOthers({ caller, place: findPlace(caller) })).found;
    };
    write({ A: 'b' });
    const idle = ['outputStyle', undefined];
    expect(await unused()).toEqual([['env', UNTRUSTED], idle, ['hooks', UNTRUSTED]]);
    expect(await found()).toBe(
      'not in use as long as it is not trusted as it is: env, hooks; without effect in Ramet: outputStyle',
    );
    changeTrust('trust', here);
    expect(await unused()).toEqual([idle]);
    write({ A: 'c' });
    expect(await unused()).toEqual([['env', CHANGED], idle]);
    expect((await sessionSettings(here)).notices).toContain(
      'not what you trusted, and not applied (ramet trust --show shows the difference): env in .claude/settings.json',
    );
    hooks.Stop = [{ hooks: [{ type: 'command', command: 'false' }] }];
    write({ A: 'b' });
    expect(await unused()).toEqual([idle, ['hooks', CHANGED], ['hooks', CHANGED]]);
  });
});
