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
    const shown = await user.here(['settings', '--json'], options);
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
    await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    const options = managed(user, { policy: { bypassPermissions: false } });
    const asked = await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions'], options);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toMatch(/managed policy of this machine.* forbids the permission mode/);
    const made = (): boolean => existsSync(join(user.repository, 'made'));
    await user.here(['-p', 'write', '--continue'], options);
    expect(made()).toBe(false);
    writeFiles(user.root, {
      'ramet/settings.json': JSON.stringify({ permissions: { defaultMode: 'bypassPermissions' } }),
    });
    await user.here(['-p', 'write'], options);
    expect(made()).toBe(false);
    await user.here(['-p', 'write']);
    expect(made()).toBe(true);
  });

  test('forbids models, of sessions and of agents', async ({ user }) => {
    await user.model({ text: 'ok' });
    const options = managed(user, { policy: { models: ['claude-haiku-*', 'sonnet'] } });
    expect((await user.here(['-p', 'x', '--model', 'haiku'], options)).code).toBe(0);
    expect((await user.here(['-p', 'x'], options)).code).toBe(0);
    const other = await user.here(['-p', 'x', '--model', 'opus'], options);
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
      'home/.claude.json': JSON.stringify({ mcpServers: { mine: { command: 'node' } } }),
    });
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    const policy = { ...stop('managed'), policy: { hooks: 'managed', mcpServers: 'managed' } };
    const options = managed(user, policy);
    const flags = ['-p', 'x', '--agent', 'hooked', '--plugin-dir', join(user.root, 'plug')];
    const end = await user.here(flags, options);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain(
      'managed policy allows only its own hooks; those of ~/.claude/settings.json do not run',
    );
    expect(end.stderr).toContain('managed policy allows only its own MCP servers; these do not start: mine');
    const ran = (): string[] =>
      ['managed', 'of-user', 'of-agent', 'of-plugin'].filter((name) => existsSync(join(user.root, name)));
    expect(ran()).toEqual(['managed']);
    await user.here(flags);
    expect(ran()).toEqual(['managed', 'of-user', 'of-agent', 'of-plugin']);
    const added = await user.here(['mcp', 'add', 'z', '--', 'node'], options);
    expect(added.stdout).toContain('not used: managed policy allows only its own MCP servers');
    const listed = await user.here(['mcp', 'ls'], options);
    expect(listed.stdout).toMatch(/mine {2}.*\(not used: managed policy allows only its own MCP servers\)/);
    const given = await user.here(['-p', 'x', '--mcp-config', '{"mcpServers":{}}'], options);
    expect(given).toMatchObject({ code: 2 });
    expect(given.stderr).toContain('allows only its own MCP servers: leave --mcp-config out');
    const { values, other_tools } = JSON.parse((await user.here(['settings', '--json'], options)).stdout);
    expect(values).toContainEqual(
      expect.objectContaining({ why_not: 'managed policy allows only its own MCP servers' }),
    );
    expect(other_tools.unused).toContainEqual(
      expect.objectContaining({ what: 'hooks: managed policy allows only its own hooks' }),
    );
    const doctor = JSON.parse((await user.here(['doctor', '--json'], options)).stdout);
    expect(JSON.stringify(doctor)).toContain('only its own MCP servers; not started: mine, z');
    const untrusted = await user.here(['mcp', 'add', 'z', '--force', '--', 'node']);
    expect(untrusted.stdout).toContain('not used: this folder is not trusted: ramet trust');
  });

  test('lets no denial advise what it forbids', async ({ user }) => {
    const call = { name: 'Bash', input: { command: 'touch made' } };
    const denials: string[] = [];
    await user.emulate({
      respond: ({ lastToolResult }) => {
        if (lastToolResult !== '') denials.push(lastToolResult);
        return lastToolResult === '' ? { tool_use: [call] } : { text: 'ok' };
      },
    });
    const under = async (policy: object, ...flags: string[]): Promise<string> => {
      await user.here(['-p', 'x', ...flags], managed(user, { policy }));
      return denials.at(-1) ?? '';
    };
    const both = { allowRules: 'managed', bypassPermissions: false };
    const only = 'only a rule in the managed settings of this machine allows it';
    for (const mode of ['default', 'dontAsk']) {
      const denied = await under(both, '--permission-mode', mode);
      expect(denied).toContain(only);
      expect(denied).not.toMatch(/--allowedTools|bypassPermissions/);
    }
    expect(await under(both, '--permission-mode', 'plan')).not.toContain('bypassPermissions');
    const withRules = await under({ bypassPermissions: false });
    expect(withRules).toContain('--allowedTools');
    expect(withRules).not.toContain('bypassPermissions');
    expect(await under({ allowRules: 'managed' })).toMatch(/: --permission-mode bypassPermissions allows it/);
  });

  test('that cannot be read stops every command that works, and no view of what was recorded', async ({
    user,
  }) => {
    await user.model({ text: 'ok' });
    const options = managed(user, { policy: { models: 'haiku' } });
    const end = await user.here(['-p', 'x'], options);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('managed/settings.json:1: policy.models');
    expect(await user.here(['ps'], options)).toMatchObject({ code: 0 });
    expect(await user.here(['mcp', 'ls'], options)).toMatchObject({ code: 2 });
  });
});
