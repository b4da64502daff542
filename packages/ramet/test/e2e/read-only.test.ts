import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fanOut } from '../fixtures/fan-out.ts';
import { test, type User } from '../fixtures/user.ts';

const ARGS = ['-p', 'Go.', '--permission-mode', 'bypassPermissions', '--allowedTools', 'Bash(*)'];
const EXPLORE = { children: 3, input: { subagent_type: 'Explore' } };

/** Puts a bubblewrap of our own first on the PATH. */
function withBubblewrap(user: User, script: string): void {
  const folder = join(user.root, 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'bwrap'), `#!/bin/bash\n${script}\n`);
  chmodSync(join(folder, 'bwrap'), 0o755);
  user.env.PATH = `${folder}:${user.env.PATH}`;
}

function withSettings(user: User, settings: object): void {
  mkdirSync(user.rametHome, { recursive: true });
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

describe.concurrent('TYPE-2: agents that only read, in the command', () => {
  test('without a sandbox three of them work, and one line says so once', async ({ user }) => {
    withBubblewrap(user, 'echo "bwrap: no namespaces" >&2; exit 1');
    const emulator = await user.emulate({ respond: fanOut(EXPLORE) });
    const { code, stderr } = await user.ramet(ARGS);
    expect(code).toBe(0);
    const lines = stderr.split('\n').filter((line) => line.includes('no OS sandbox'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('bubblewrap cannot start: no namespaces; read-only agents are held by');
    expect(JSON.stringify(emulator.requests.at(-1)?.request)).toContain('Scope: child 3. Done.');
  });

  test('they write nothing, whatever the command line allows', async ({ user }) => {
    const respond = fanOut({ ...EXPLORE, command: 'echo done > made.txt; echo done' });
    const emulator = await user.emulate({
      respond: (view) => (/only reads/.test(view.last) ? { text: 'Scope: refused.' } : respond(view)),
    });
    const { code } = await user.ramet(ARGS);
    expect(code).toBe(0);
    expect(existsSync(join(user.repository, 'made.txt'))).toBe(false);
    expect(JSON.stringify(emulator.requests.at(-1)?.request)).toContain('Scope: refused.');
  });

  test('if a sandbox is required and not available, none of their commands runs', async ({ user }) => {
    withBubblewrap(user, 'exit 1');
    withSettings(user, { sandbox: { readOnly: 'required' } });
    const respond = fanOut(EXPLORE);
    const emulator = await user.emulate({
      respond: (view) => (/No command can run/.test(view.last) ? { text: 'Scope: none.' } : respond(view)),
    });
    await user.ramet(ARGS);
    expect(JSON.stringify(emulator.requests.at(-1)?.request)).toContain('Scope: none.');
  });

  test('where it is off, nothing is tried and nothing is said', async ({ user }) => {
    withBubblewrap(user, `touch ${join(user.root, 'tried')}; exit 1`);
    withSettings(user, { sandbox: { readOnly: 'off' } });
    await user.emulate({ respond: fanOut(EXPLORE) });
    const { code, stderr } = await user.ramet(ARGS);
    expect(code).toBe(0);
    expect(stderr).not.toContain('sandbox');
    expect(existsSync(join(user.root, 'tried'))).toBe(false);
  });
});
