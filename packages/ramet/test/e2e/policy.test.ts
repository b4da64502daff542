import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';

function managed(user: User, settings: unknown): { env: Record<string, string> } {
  writeFiles(user.root, { 'managed/settings.json': JSON.stringify(settings) });
  return { env: { RAMET_MANAGED_DIR: join(user.root, 'managed') } };
}

describe.concurrent('EXT-1: managed policy', () => {
  test('wins over the command line, and ramet settings says where a value comes from', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    const options = managed(user, { model: 'house' });
    expect((await user.ramet(['-p', 'x', '--model', 'mine'], options)).code).toBe(0);
    expect(emulator.requests[0]?.request?.model).toBe('house');
    const shown = await user.ramet(['settings', '--json'], options);
    expect(JSON.parse(shown.stdout).values).toContainEqual(
      expect.objectContaining({ key: 'model', value: 'house', level: 'managed', in_use: true }),
    );
  });

  test('RES-3: forbids bypassPermissions to flags, settings and sessions that had it', async ({ user }) => {
    const call = { name: 'Bash', input: { command: 'touch made' } };
    await user.emulate({
      respond: ({ last, lastToolResult }) =>
        last.includes('write') && lastToolResult === '' ? { tool_use: [call] } : { text: 'ok' },
    });
    await user.ramet(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    const options = managed(user, { policy: { bypassPermissions: false } });
    const asked = await user.ramet(['-p', 'x', '--permission-mode', 'bypassPermissions'], options);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toContain('managed policy of this machine forbids the permission mode');
    const made = (): boolean => existsSync(join(user.repository, 'made'));
    await user.ramet(['-p', 'write', '--continue'], options);
    expect(made()).toBe(false);
    writeFiles(user.root, {
      'ramet/settings.json': JSON.stringify({ permissions: { defaultMode: 'bypassPermissions' } }),
    });
    await user.ramet(['-p', 'write'], options);
    expect(made()).toBe(false);
    await user.ramet(['-p', 'write']);
    expect(made()).toBe(true);
  });

  test('forbids models, of sessions and of agents', async ({ user }) => {
    await user.model({ text: 'ok' });
    const options = managed(user, { policy: { models: ['claude-haiku-*', 'sonnet'] } });
    expect((await user.ramet(['-p', 'x', '--model', 'haiku'], options)).code).toBe(0);
    expect((await user.ramet(['-p', 'x'], options)).code).toBe(0);
    const other = await user.ramet(['-p', 'x', '--model', 'opus'], options);
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/forbids the model \S+: it allows claude-haiku-\*, sonnet/);
  });

  test('that cannot be read stops every session', async ({ user }) => {
    await user.model({ text: 'ok' });
    const options = managed(user, { policy: { models: 'haiku' } });
    const end = await user.ramet(['-p', 'x'], options);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('managed/settings.json:1: policy.models');
  });
});
