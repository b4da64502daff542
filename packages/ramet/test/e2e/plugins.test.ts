import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { LINE_SERVER } from '../fixtures/mcp/servers.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const json = (value: unknown): string => JSON.stringify(value);
const search = { tool_use: [{ name: 'McpSearch', input: { query: '*' } }] };
const bash = { tool_use: [{ name: 'Bash', input: { command: 'echo hello' } }] };
const server = { command: process.execPath, args: ['${CLAUDE_PLUGIN_ROOT}/server.ts', 'good'] };

/** A plugin with everything, below a folder of the user's. */
function plugin(user: User, folder: string, manifest: object = {}): void {
  const refuse = 'echo "refused in $CLAUDE_PLUGIN_ROOT" >&2; exit 2';
  writeFiles(join(user.root, folder), {
    '.claude-plugin/plugin.json': json({ name: 'tidy', ...manifest }),
    'hooks/hooks.json': json({
      description: 'd',
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [{ type: 'command', command: 'bash "${CLAUDE_PLUGIN_ROOT}"/no.sh' }] },
        ],
        PreModelSwitch: [{ hooks: [{ type: 'command', command: 'true' }] }],
      },
    }),
    'no.sh': `${refuse}\n`,
    '.mcp.json': json({ mcpServers: { lines: server } }),
    'server.ts': `import ${JSON.stringify(LINE_SERVER)};\n`,
  });
}

describe.concurrent('EXT-3: hooks and MCP servers of a plugin', () => {
  test('run from a folder that the user names, under the name of the plugin', async ({ user }) => {
    plugin(user, 'plug');
    const emulator = await user.model(bash, search, { text: 'ok' });
    const end = await user.ramet(['-p', 'x', '--plugin-dir', join(user.root, 'plug')]);
    expect(end).toMatchObject({ code: 0 });
    const [refused, found] = toolResults(emulator);
    expect(refused?.text).toContain(`Bash is refused by a hook: refused in ${join(user.root, 'plug')}`);
    expect(found?.text).toContain('mcp__tidy_lines__echo');
    expect(end.stderr).toMatch(/plug: hooks: "PreModelSwitch": there is no such event here/);
  });

  test('a manifest can hold them or name files, and none outside of the plugin', async ({ user }) => {
    plugin(user, 'plug', {
      hooks: './other.json',
      mcpServers: { more: server, ...{ bad: { command: 7 } } },
    });
    writeFiles(join(user.root, 'plug'), {
      'other.json': json({ Stop: [{ hooks: [{ type: 'command', command: `touch ${user.root}/stopped` }] }] }),
    });
    const emulator = await user.model(search, { text: 'ok' });
    const end = await user.here(['-p', 'x', '--plugin-dir', join(user.root, 'plug')]);
    expect(existsSync(join(user.root, 'stopped'))).toBe(true);
    const [found] = toolResults(emulator);
    expect(found?.text).toContain('mcp__tidy_lines__echo');
    expect(found?.text).toContain('mcp__tidy_more__echo');
    expect(end.stderr).toContain('tidy:bad');
    plugin(user, 'second', { hooks: '../../plug/other.json' });
    await user.model({ text: 'ok' });
    const out = await user.here(['-p', 'x', '--plugin-dir', join(user.root, 'second')]);
    expect(out.stderr).toMatch(/second: hooks: \S+ leads out of it: left out/);
  });

  test('SEC-1: of a repository run after trust, and not once they have changed', async ({ user }) => {
    plugin(user, 'work/tools/tidy');
    writeFiles(user.repository, { '.ramet/settings.json': json({ plugins: ['tools/tidy'] }) });
    const run = async (): Promise<string> => {
      const emulator = await user.model(bash, search, { text: 'ok' });
      await user.here(['-p', 'x']);
      return toolResults(emulator)
        .map(({ text }) => text)
        .join('\n');
    };
    const before = await run();
    expect(before).not.toMatch(/refused by a hook|mcp__tidy/);
    await user.here(['trust']);
    const after = await run();
    expect(after).toMatch(/refused by a hook/);
    expect(after).toMatch(/mcp__tidy_lines__echo/);
    writeFiles(user.repository, { 'tools/tidy/no.sh': `touch ${user.root}/acted\n` });
    expect(await run()).not.toMatch(/refused by a hook|mcp__tidy/);
    expect(existsSync(join(user.root, 'acted'))).toBe(false);
  });
});
