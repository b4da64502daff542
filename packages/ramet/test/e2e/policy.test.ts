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

  test('keeps every hook and server that it does not bring from running', async ({ user }) => {
    const touch = (name: string): object => ({ type: 'command', command: `touch ${join(user.root, name)}` });
    const stop = (name: string): object => ({ hooks: { Stop: [{ hooks: [touch(name)] }] } });
    writeFiles(user.root, {
      'home/.claude/settings.json': JSON.stringify(stop('of-user')),
      'home/.claude/agents/hooked.md': `---\nname: hooked\ndescription: d\nhooks: ${JSON.stringify(Object.values(stop('of-agent'))[0])}\n---\nx\n`,
      'plug/hooks/hooks.json': JSON.stringify(stop('of-plugin')),
    });
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    const policy = { ...stop('managed'), policy: { hooks: 'managed', mcpServers: 'managed' } };
    const options = managed(user, policy);
    const flags = ['-p', 'x', '--agent', 'hooked', '--plugin-dir', join(user.root, 'plug')];
    expect(await user.ramet(flags, options)).toMatchObject({ code: 0 });
    const ran = (): string[] =>
      ['managed', 'of-user', 'of-agent', 'of-plugin'].filter((name) => existsSync(join(user.root, name)));
    expect(ran()).toEqual(['managed']);
    await user.ramet(flags);
    expect(ran()).toEqual(['managed', 'of-user', 'of-agent', 'of-plugin']);
    const added = await user.ramet(['mcp', 'add', 'z', '--', 'node'], options);
    expect(added.stdout).toContain('not used: managed policy allows only servers that it brings');
    const untrusted = await user.ramet(['mcp', 'add', 'z', '--force', '--', 'node']);
    expect(untrusted.stdout).toContain('not used: this folder is not trusted: ramet trust');
  });

  test('that cannot be read stops every session', async ({ user }) => {
    await user.model({ text: 'ok' });
    const options = managed(user, { policy: { models: 'haiku' } });
    const end = await user.ramet(['-p', 'x'], options);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('managed/settings.json:1: policy.models');
  });
});
