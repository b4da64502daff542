/**
 * The command of a checkout, as a link in a folder of the user's PATH. A stand-in for the launcher says how it was
 * started.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../fixtures/temporary-directory.ts';

const COMMAND = join(import.meta.dirname, '../../bin/ramet');

function checkout(root: string): string {
  mkdirSync(join(root, 'packages/ramet/bin'), { recursive: true });
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(root, '../bin'));
  cpSync(COMMAND, join(root, 'packages/ramet/bin/ramet'));
  const stand = 'console.log(JSON.stringify([process.version, process.env.PATH, ...process.argv.slice(2)]))';
  writeFileSync(join(root, 'packages/ramet/bin/ramet.js'), stand);
  const link = join(root, '../bin/ramet');
  symlinkSync(join(root, 'packages/ramet/bin/ramet'), link);
  return link;
}

describe('UI-1: the command of a checkout', () => {
  test.for(['sh', 'bash'])(
    'runs from a script of %s on the Node beside it, and leaves PATH alone',
    (shell, { directory }) => {
      const root = join(directory, "it's a $HOME folder");
      const link = checkout(root);
      symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
      const PATH = `${join(link, '..')}:/usr/bin:/bin`;
      const { stdout, stderr } = spawnSync(shell, ['-c', 'ramet -p "it is" --'], {
        cwd: '/',
        env: { PATH, HOME: directory },
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual([process.version, PATH, '-p', 'it is', '--']);
    },
  );

  test('runs on the Node of the system where npm brought none', ({ directory }) => {
    const link = checkout(join(directory, 'checkout'));
    mkdirSync(join(directory, 'checkout/node_modules/commander'));
    const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
    const { stdout, stderr } = spawnSync(link, ['ps'], { env: { PATH }, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([process.version, PATH, 'ps']);
  });

  test('says what to do where nothing is installed yet', ({ directory }) => {
    const root = join(directory, 'checkout');
    const { status, stderr } = spawnSync(checkout(root), [], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^ramet: there is no Node in .*checkout\/node_modules: run npm ci there\n$/);
  });
});
