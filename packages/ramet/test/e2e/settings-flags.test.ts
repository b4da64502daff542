import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';

const json = (value: unknown): string => JSON.stringify(value);
const hookTo = (path: string) => ({
  SessionStart: [{ hooks: [{ type: 'command', command: `touch ${path}` }] }],
});

describe.concurrent('EXT-1: --settings, the level of the command line', () => {
  test.for<[string, Record<string, unknown>, string[], string]>([
    [
      'comes before every file',
      { 'work/.ramet/settings.local.json': { model: 'b' } },
      [json({ model: 'c' })],
      'c',
    ],
    ['may be a file', { 'work/given.json': { model: 'd' } }, ['given.json'], 'd'],
    ['comes after the flag of its own', {}, [json({ model: 'c' }), '--model', 'e'], 'e'],
  ])('%s', async ([, files, flags, model], { user }) => {
    const emulator = await user.model({ text: 'ok' });
    writeFiles(user.root, Object.fromEntries(Object.entries(files).map(([path, one]) => [path, json(one)])));
    expect((await user.here(['-p', 'x', '--settings', ...flags])).code).toBe(0);
    expect(emulator.requests[0]?.request?.model).toBe(model);
  });

  test('its hooks, rules and MCP servers count, and policy does not', async ({ user }) => {
    const given = {
      hooks: hookTo(join(user.root, 'started')),
      permissions: { allow: ['Bash(touch made)'] },
      mcpServers: { gone: { command: join(user.root, 'no-such-program') } },
      policy: { bypassPermissions: false },
      nonsense: 1,
    };
    const touch = { name: 'Bash', input: { command: 'touch made' } };
    await user.model({ tool_use: [touch] }, { text: 'ok' });
    const flags = ['--settings', json(given), '--output-format', 'stream-json'];
    const { stdout, stderr } = await user.here(['-p', 'x', ...flags]);
    expect(existsSync(join(user.repository, 'made'))).toBe(true);
    expect(existsSync(join(user.root, 'started'))).toBe(true);
    expect(JSON.parse(linesOf(stdout)[0] ?? '').mcp_servers).toMatchObject([{ name: 'gone' }]);
    expect(stderr).toContain('--settings:1: unknown, so ignored: nonsense');
    expect(stderr).toContain(
      '--settings:1: ignored, only managed policy may set it: policy.bypassPermissions',
    );
  });

  test.for([
    ['{ "model": 5 }', /--settings:1: model: /],
    ['{ "model": ', /--settings:1: /],
    ['gone.json', /gone\.json: there is no such file; give one, or JSON that begins with \{/],
    ['{ "permissions": { "allow": ["Bash("] } }', /--settings:1: permissions\.allow: no rule/],
    ['{ "hooks": { "Stop": 5 } }', /--settings:1: hooks\.Stop: /],
  ] as const)('bad input: %s ends the command', async ([text, problem], { user }) => {
    const emulator = await user.model({ text: 'never' });
    const end = await user.here(['-p', 'x', '--settings', text]);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(problem);
    expect(emulator.requests).toHaveLength(0);
  });
});

describe.concurrent('EXT-1: --setting-sources', () => {
  test.for([
    ['user', 'of-user'],
    ['user,project', 'of-project'],
    ['user,project,local', 'of-local'],
    ['', 'claude-sonnet-5'],
  ] as const)('%j chooses among the files', async ([sources, model], { user }) => {
    const emulator = await user.model({ text: 'ok' });
    writeFiles(user.root, {
      'ramet/settings.json': json({ model: 'of-user' }),
      'work/.ramet/settings.json': json({ model: 'of-project' }),
      'work/.ramet/settings.local.json': json({ model: 'of-local' }),
      'home/.claude/settings.json': json({ hooks: hookTo(join(user.root, 'started')) }),
    });
    await user.here(['-p', 'x', '--setting-sources', sources]);
    expect(emulator.requests[0]?.request?.model).toBe(model);
    expect(existsSync(join(user.root, 'started'))).toBe(sources !== '');
  });

  test('an unknown one is refused', async ({ user }) => {
    const flag = await user.here(['-p', 'x', '--setting-sources', 'user,team']);
    expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no source "team"') });
    const variable = await user.here(['-p', 'x'], { env: { ...user.env, RAMET_SETTING_SOURCES: 'team' } });
    expect(variable).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no source of settings "team"'),
    });
  });
});

/** A person who has set up everything that is looked for. */
function everything(user: User): void {
  const hooks = hookTo(join(user.root, 'started'));
  const server = { mcpServers: { found: { command: 'found' } } };
  const prompt = (name: string) => `---\nname: ${name}\ndescription: FOUND ${name}\n---\nFOUND`;
  writeFiles(user.root, {
    'home/.claude/settings.json': json({ hooks, permissions: { deny: ['Bash(touch denied)'] } }),
    'ramet/settings.json': json({ hooks, model: 'claude-kept', ...server, plugins: ['~/stated'] }),
    'home/.claude.json': json(server),
    'work/.ramet/settings.json': json({ hooks, mcpServers: { withheld: { command: 'found' } } }),
    'work/.mcp.json': json({ mcpServers: { theirs: { command: 'found' } } }),
    'home/.claude/skills/one/SKILL.md': prompt('one'),
    'home/.claude/commands/two.md': prompt('two'),
    'home/.claude/agents/three.md': prompt('three'),
    'home/stated/agents/four.md': prompt('four'),
    'ramet/plugins/installed/skills/five/SKILL.md': prompt('five'),
    'work/AGENTS.md': 'FOUND',
    'home/.claude/CLAUDE.md': 'FOUND',
    'ramet/memory/MEMORY.md': '# Memory\n\n- FOUND\n',
    'work/.claude/skills/six/SKILL.md': prompt('six'),
  });
}

describe.concurrent('UI-4: --bare', () => {
  test('loads nothing that is found; limits and rules of settings hold', async ({ user }) => {
    everything(user);
    const tool_use = [{ name: 'Bash', input: { command: 'touch denied' } }];
    const agent = {
      name: 'Agent',
      input: { prompt: 'Look.', description: 'look', subagent_type: 'general-purpose' },
    };
    const emulator = await user.emulate({
      respond: ({ turn, requests = [] }: { turn: number; requests?: unknown[] }) =>
        [{ tool_use }, { tool_use: [agent] }, { text: 'ok' }][turn] ?? { text: String(requests.length) },
    });
    const flags = ['--permission-mode', 'bypassPermissions', '--output-format', 'stream-json'];
    const run = (...more: string[]) => user.here(['-p', 'x', ...flags, ...more]);
    await run();
    const before = emulator.requests.map(({ request }) => json(request)).join();
    expect(before).toContain('FOUND');
    expect(existsSync(join(user.root, 'started'))).toBe(true);

    const from = emulator.requests.length;
    const { stdout, stderr } = await run('--bare');
    const sent = emulator.requests.slice(from);
    const bare = sent.map(({ request }) => json(request)).join();
    expect(bare.match(/.{60}(?:FOUND|mcp__|- three:|installed:).{60}/g)).toBeNull();
    expect(stderr).not.toMatch(/trust|not used|skill/);
    const [init, ...lines] = linesOf(stdout).map((line) => JSON.parse(line));
    expect(init).toMatchObject({ mcp_servers: [], model: 'claude-kept' });
    expect(lines.filter(({ subtype }) => subtype === 'hook_response')).toEqual([]);
    expect(lines.at(-1).permission_denials[0]).toMatchObject({ tool_name: 'Bash' });
    expect(existsSync(join(user.repository, 'denied'))).toBe(false);
  });

  test('takes what the command line names', async ({ user }) => {
    everything(user);
    writeFiles(user.root, {
      'given/skills/seven/SKILL.md': '---\nname: seven\ndescription: GIVEN skill\n---\nx',
    });
    const emulator = await user.model({ text: 'ok' });
    const { stdout } = await user.here([
      ...['-p', 'x', '--bare', '--output-format', 'stream-json', '--append-system-prompt', 'GIVEN prompt'],
      ...['--agents', json({ eight: { description: 'GIVEN type', prompt: 'p' } })],
      ...['--plugin-dir', join(user.root, 'given')],
      ...['--mcp-config', json({ mcpServers: { given: { command: 'none' } } })],
      ...['--settings', json({ hooks: hookTo(join(user.root, 'given-hook')) })],
    ]);
    const sent = json(emulator.requests[0]?.request);
    expect(sent).not.toContain('FOUND');
    for (const part of ['prompt', 'type', 'skill']) expect(sent).toContain(`GIVEN ${part}`);
    expect(JSON.parse(linesOf(stdout)[0] ?? '').mcp_servers).toMatchObject([{ name: 'given' }]);
    expect(existsSync(join(user.root, 'given-hook'))).toBe(true);
    expect(existsSync(join(user.root, 'started'))).toBe(false);
  });

  test('RAMET_BARE=1 is the same for every command, and ramet settings says what is left out', async ({
    user,
  }) => {
    everything(user);
    const env = { ...user.env, RAMET_BARE: '1' };
    const { stdout } = await user.here(['settings'], { env });
    expect(stdout).toMatch(/^mcpServers\.found .*--bare leaves it out$/m);
    expect(stdout).toMatch(/^memory\.enabled +false +--bare$/m);
    expect((await user.here(['mcp', 'ls'], { env })).stdout).not.toContain('found');
    expect((await user.here(['agents'], { env })).stdout).not.toContain('three');
  });
});
