import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openSession, type SessionOptions } from '../../src/sdk/index.ts';
import { linesOf } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const READ = { name: 'Read', input: { file_path: 'README.md' } };
const USER = 'ramet/settings.json';
const REPOSITORY = 'work/.ramet/settings.json';
const LOCAL = 'work/.ramet/settings.local.json';

function write(user: User, files: Record<string, unknown>): void {
  const texts = Object.entries(files).map(([path, content]) => {
    return [path, typeof content === 'string' ? content : JSON.stringify(content)];
  });
  writeFiles(user.root, Object.fromEntries(texts));
}

describe.concurrent('EXT-1: settings', () => {
  test.for<[string, Record<string, unknown>, string[], Record<string, string>, string]>([
    ['the user', { [USER]: { model: 'a' } }, [], {}, 'a'],
    ['the repository before the user', { [USER]: { model: 'a' }, [REPOSITORY]: { model: 'b' } }, [], {}, 'b'],
    ['local before the repository', { [REPOSITORY]: { model: 'b' }, [LOCAL]: { model: 'c' } }, [], {}, 'c'],
    ['the command line before all', { [LOCAL]: { model: 'c' } }, ['--model', 'd'], {}, 'd'],
    ['a tier', { [USER]: { model: 'opus', models: { opus: 'e' } } }, [], {}, 'e'],
    ['a tier of the command line', { [USER]: { models: { haiku: 'f' } } }, ['--model', 'haiku'], {}, 'f'],
    [
      'the environment before files',
      { [USER]: { models: { sonnet: 'g' } } },
      [],
      { RAMET_MODEL_SONNET: 'h' },
      'h',
    ],
  ])('choose the model by %s', async ([, files, flags, env, model], { user }) => {
    const emulator = await user.model({ text: 'ok' });
    write(user, files);
    const end = await user.ramet(['-p', 'x', ...flags], { env });
    expect(end).toMatchObject({ code: 0, stdout: 'ok\n' });
    // A folder that nobody has trusted may say which model, and is named for it.
    const isFolders = REPOSITORY in files || LOCAL in files;
    expect(end.stderr).toMatch(
      isFolders ? /^ramet: \S+: this folder, which is not trusted, sets model "\w"\n$/ : /^$/,
    );
    expect(emulator.requests[0]?.request?.model).toBe(model);
  });

  test('are those of the repository around, also in a folder of it', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    write(user, { [REPOSITORY]: { model: 'b' }, 'work/deep/down/.ramet/settings.json': { model: 'c' } });
    await user.here(['-p', 'x'], { cwd: join(user.repository, 'deep/down') });
    expect(emulator.requests[0]?.request?.model).toBe('b');
  });

  test('leave a resumed session its model', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.here(['-p', 'x', '--model', 'first']);
    write(user, { [USER]: { model: 'second' } });
    expect((await user.here(['-p', 'y', '--continue'])).code).toBe(0);
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual(['first', 'first']);
  });

  test('limit turns, retries and the fallback', async ({ user }) => {
    write(user, { [USER]: { maxTurns: 1, retries: 1, model: 'busy', fallbackModel: 'haiku' } });
    const emulator = await user.emulate({
      respond: ({ turn }) => (turn === 0 ? { tool_use: [READ] } : { text: 'Closing.' }),
      fault: ({ request }) =>
        request.model === 'busy' ? { kind: 'status', status: 529, retryAfter: 0.01 } : undefined,
    });
    const end = await user.here(['-p', 'x', '--output-format', 'json']);
    expect(JSON.parse(end.stdout)).toMatchObject({ subtype: 'error_max_turns', result: 'Closing.' });
    expect(emulator.requests.map(({ request }) => request?.model)).toEqual([
      'busy',
      'busy',
      'claude-haiku-4-5',
      'claude-haiku-4-5',
    ]);
  });

  test('MODEL-3: give a model a price, and with it a limit in dollars', async ({ user }) => {
    await user.model({ tool_use: [READ], usage: { input_tokens: 900_000 } }, { text: 'Stopped.' });
    write(user, {
      [USER]: `{
        // the model of our own server
        "model": "house-1",
        "prices": { "house-1": { "input": 1, "write5m": 1, "write1h": 1, "read": 1, "output": 1 } },
        "budget": { "usd": 0.5 },
      }`,
    });
    const end = await user.here(['-p', 'x', '--output-format', 'json']);
    expect(end.code).toBe(1);
    expect(JSON.parse(end.stdout)).toMatchObject({ subtype: 'error_max_budget' });
    expect(JSON.parse(end.stdout).total_cost_usd).toBeGreaterThanOrEqual(0.9);
  });
});

describe.concurrent('EXT-1: bad settings', () => {
  test('of the user stop the command before anything is sent or kept', async ({ user }) => {
    const emulator = await user.model({ text: 'never' });
    write(user, { [USER]: '{\n  "permissions": { "deny": "WebFetch" }\n}' });
    const end = await user.here(['-p', 'x']);
    expect(end).toEqual({
      code: 2,
      stdout: '',
      stderr: `ramet: ${join(user.root, USER)}:2: permissions.deny: expected array, received string\n`,
    });
    expect(emulator.requests).toHaveLength(0);
    expect((await user.here(['settings'])).code).toBe(2);
  });

  test('of the repository are ignored with one line', async ({ user }) => {
    await user.model({ text: 'ok' });
    write(user, { [REPOSITORY]: '{"model": "b", "model": "c"}' });
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(
        /settings\.json:1: the key "model" stands twice .*; the repository's settings are ignored$/,
      ),
    ]);
  });
});

describe.concurrent('SEC-1: a hostile repository', () => {
  test('whose settings allow everything is allowed nothing', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'touch owned' } }] },
      { text: 'Could not.' },
    );
    const settings = {
      permissions: { allow: ['Bash', 'Bash(*)'], defaultMode: 'bypassPermissions' },
      env: { childVariables: ['ANTHROPIC_API_KEY'] },
      provider: 'openai',
    };
    write(user, { [REPOSITORY]: settings, [LOCAL]: settings });
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stdout: 'Could not.\n' });
    expect(linesOf(end.stderr)).toEqual([
      ...[REPOSITORY, LOCAL].map((file) =>
        expect.stringContaining(
          `${file}:1: not applied before you trust this folder (ramet trust): permissions.allow, permissions.defaultMode, env.childVariables, provider`,
        ),
      ),
      expect.stringContaining('denied: Bash touch owned'),
    ]);
    expect(toolResults(emulator)).toMatchObject([{ isError: true }]);
  });
});

describe.concurrent('SEC-1: a trusted repository', () => {
  test('may allow tools and pass variables on', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'echo "$HOUSE_NAME" > made; cat made' } }] },
      { text: 'Done.' },
    );
    write(user, {
      [REPOSITORY]: { permissions: { allow: ['Bash'] }, env: { childVariables: ['HOUSE_NAME'] } },
    });
    expect((await user.here(['trust'])).code).toBe(0);
    const end = await user.here(['-p', 'x'], { env: { HOUSE_NAME: 'aspen' } });
    expect(end).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
    expect(toolResults(emulator)).toEqual([{ text: expect.stringContaining('aspen'), isError: false }]);
  });

  test('RES-3: a deny rule of the user holds against it', async ({ user }) => {
    const emulator = await user.model(
      { tool_use: [{ name: 'Bash', input: { command: 'touch made' } }] },
      { text: 'Could not.' },
    );
    write(user, {
      [USER]: { permissions: { deny: ['Bash(touch:*)'] } },
      [REPOSITORY]: { permissions: { allow: ['Bash'], defaultMode: 'bypassPermissions' } },
    });
    await user.here(['trust']);
    await user.here(['-p', 'x']);
    expect(toolResults(emulator)).toMatchObject([{ isError: true }]);
  });
});

describe.concurrent('UI-1: ramet settings', () => {
  test('shows each value and where it came from', async ({ user }) => {
    write(user, {
      [USER]: '{\n"model": "opus",\n"maxTurns": 30}',
      [REPOSITORY]:
        '{\n"model": "haiku",\n"permissions": {"allow": ["Bash"], "deny": ["WebFetch"]},\n"x\u009b2J": 1}',
    });
    const end = await user.here(['settings'], { env: { RAMET_MODEL_OPUS: 'o' } });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const rows = linesOf(end.stdout).map((line) => line.replaceAll(`${user.root}/`, '').split(/ {2,}/));
    expect(rows).toContainEqual(['model', 'haiku', `${REPOSITORY}:2`]);
    expect(rows).toContainEqual(['maxTurns', '30', `${USER}:3`]);
    expect(rows).toContainEqual(['models.opus', 'o', 'RAMET_MODEL_OPUS']);
    expect(rows).toContainEqual(['models.haiku', 'claude-haiku-4-5', 'default']);
    expect(rows).toContainEqual(['permissions.deny', 'WebFetch', `${REPOSITORY}:3`]);
    expect(rows).toContainEqual([
      'permissions.allow',
      'Bash',
      `${REPOSITORY}:3`,
      'this folder is not trusted',
    ]);
    expect(rows).toContainEqual(['model', 'opus', `${USER}:2`, `set in ${REPOSITORY}:2`]);
    expect(rows).toContainEqual(['["x\\u009b2J"]', '1', `${REPOSITORY}:4`, 'unknown key']);
    expect(rows).toContainEqual([LOCAL, 'absent']);
  });

  test('--json is for programs, problems included', async ({ user }) => {
    write(user, { [USER]: { retries: 3 }, [REPOSITORY]: '{"retries": -1}' });
    const end = await user.here(['settings', '--json'], { env: { RAMET_MAX_RETRIES: 'lots' } });
    expect(end.code).toBe(0);
    expect(linesOf(end.stderr)).toEqual([expect.stringContaining('retries: Too small')]);
    const report = JSON.parse(end.stdout);
    expect(report).toMatchObject({ settings: { retries: 3 }, trusted: false });
    expect(report.files[1]).toMatchObject({
      level: 'repository',
      state: 'bad',
      problems: [{ line: 1, key: 'retries' }],
    });
    expect(report.values).toContainEqual(
      expect.objectContaining({ key: 'retries', level: 'environment', value: 'lots', in_use: false }),
    );
  });

  test('--schema prints the schema that documents and editors use', async ({ user }) => {
    const end = await user.here(['settings', '--schema']);
    expect(JSON.parse(end.stdout)).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { permissions: { properties: { deny: { type: 'array' } } } },
    });
  });
});

describe('EXT-1: openSession', () => {
  test.for<[string, SessionOptions['settings'], string]>([
    ['reads the settings of its place', undefined, 'from-file'],
    ['takes settings from its caller instead', { model: 'given' }, 'given'],
    ['reads none when told so', false, 'claude-sonnet-5'],
  ])('%s', async ([, settings, model], { user }) => {
    await user.model();
    write(user, { [USER]: { model: 'from-file' } });
    const options: SessionOptions = { cwd: user.repository, env: user.env };
    await using session = await openSession(settings === undefined ? options : { ...options, settings });
    expect(session.model).toBe(model);
  });

  test('refuses settings of its caller that are wrong', async ({ user }) => {
    const settings = { maxTurns: -1 };
    const opening = openSession({ cwd: user.repository, env: user.env, settings });
    await expect(opening).rejects.toThrow('the option settings is wrong: maxTurns: Too small');
  });
});

describe.concurrent('EXT-1: settings of another tool', () => {
  test('deny in every mode and before the folder is trusted, and say what has no effect', async ({
    user,
  }) => {
    const settings = {
      permissions: { deny: ['Read(.env)', 'Bash(curl:*)'], allow: ['Bash'] },
      hooks: { Odd: [] },
    };
    write(user, { 'work/.claude/settings.json': settings, 'work/.env': 'SECRET=1' });
    const calls = [
      { name: 'Read', input: { file_path: '.env' } },
      { name: 'Bash', input: { command: 'curl http://127.0.0.1:1/' } },
    ];
    const emulator = await user.model({ tool_use: calls }, { text: 'no' });
    const end = await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    expect(linesOf(end.stderr)).toEqual([
      expect.stringMatching(
        /not applied before you trust this folder \(ramet trust\): permissions\.allow in /,
      ),
      expect.stringMatching(/settings\.json: its set of hooks does not run before you trust this folder/),
      expect.stringMatching(/denied: Read \.env: .*the rule Read\(\.env\) in \.claude\/settings\.json/),
      expect.stringMatching(/denied: Bash curl .*the rule Bash\(curl:\*\) in \.claude\/settings\.json/),
    ]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([true, true]);
    const { stdout } = await user.here(['settings']);
    expect(stdout).toMatch(/permissions\.deny +Read\(\.env\) +\.claude\/settings\.json/);
    expect(stdout).toMatch(/hooks: "Odd": there is no such event here +.*\.claude\/settings\.json/);
    const { stdout: health } = await user.here(['doctor']);
    expect(health).toMatch(
      /-- {2}others .*deny and ask rules of \.claude\/settings\.json are in force; .*hooks/,
    );
  });

  test('that cannot be read stop nothing, and say that their deny rules do not count', async ({ user }) => {
    write(user, { 'work/.claude/settings.json': '{ "permissions": ' });
    await user.model({ text: 'ok' });
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(end.stderr).toBe(
      'ramet: .claude/settings.json is no valid JSON: deny and ask rules in it are NOT in force\n',
    );
  });
});

describe.concurrent('EXT-1: .claude/settings.json of a trusted folder', () => {
  const file = (more: object = {}): string =>
    JSON.stringify({
      permissions: { allow: ['Bash(touch:*)'] },
      env: {
        ...{ OWN_WORD: 'staging', RAMET_HOME: '/nowhere', MAX_COUNT: 3, XDG_CONFIG_HOME: '.config' },
        ...{ RM: 'sh evil', LANGUAGE: '../loc', CLAUDE_CODE_ENABLE_TELEMETRY: '0' },
      },
      statusLine: { type: 'command', command: 'echo of the other tool' },
      ...{ cleanupPeriodDays: 7, outputStyle: 'x' },
      ...more,
    });
  const run = async (user: User): Promise<{ text: string; stderr: string }> => {
    const command = 'touch allowed; printf "%s %s%s" "$OWN_WORD" "$RAMET_HOME" "${XDG_CONFIG_HOME-}"';
    const emulator = await user.model({ tool_use: [{ name: 'Bash', input: { command } }] }, { text: 'ok' });
    const { stderr } = await user.here(['-p', 'x', '--allowedTools', 'Bash(printf:*)']);
    return { text: toolResults(emulator)[0]?.text ?? '', stderr };
  };

  test('allows, and sets variables of programs; the rest is named', async ({ user }) => {
    writeFiles(user.repository, { '.claude/settings.json': file() });
    const before = await run(user);
    expect(before.text).not.toContain('staging');
    expect(before.stderr).toMatch(
      /not applied before you trust this folder \(ramet trust\): permissions\.allow in \.claude\/settings\.json, env in \S+, statusLine in \S+, cleanupPeriodDays in \S+$/m,
    );
    expect(before.stderr).toMatch(/without effect in Ramet: outputStyle in \.claude\/settings\.json/);
    const leftOut = [
      /env in \.claude\/settings\.json: XDG_CONFIG_HOME, RM, LANGUAGE not set: /,
      /env in \.claude\/settings\.json: RAMET_HOME, CLAUDE_CODE_ENABLE_TELEMETRY not set: /,
    ];
    const looked = await user.here(['trust', '--show']);
    const trusted = await user.here(['trust']);
    const after = await run(user);
    const listed = await user.here(['settings']);
    for (const { stderr } of [looked, trusted, after, listed])
      for (const line of leftOut) expect(stderr).toMatch(line);
    expect(after.text).toBe(`staging ${user.rametHome}`);
    expect(after.stderr).not.toMatch(/not applied/);
    expect(listed.stdout).toMatch(/^cleanupPeriodDays +7 +\S*\.claude\/settings\.json$/m);
    writeFiles(user.repository, { '.claude/settings.json': file({ permissions: { allow: ['Bash'] } }) });
    const changed = await run(user);
    expect(changed.text).not.toContain('staging');
    expect(changed.stderr).toMatch(/not what you trusted, and not applied/);
  });

  test('a rule for WebSearch in it brings the tool after trust, and in your own file at once', async ({
    user,
  }) => {
    const rules = JSON.stringify({ permissions: { allow: ['WebSearch'] } });
    writeFiles(user.repository, { '.claude/settings.json': rules });
    const searches = async (): Promise<boolean> => {
      const emulator = await user.model({ text: 'ok' });
      await user.here(['-p', 'x']);
      return emulator.requests[0]?.request?.tools?.some(({ name }) => name === 'web_search') === true;
    };
    expect(await searches()).toBe(false);
    await user.here(['trust']);
    expect(await searches()).toBe(true);
    await user.here(['trust', '--revoke']);
    expect(await searches()).toBe(false);
    writeFiles(user.root, { 'home/.claude/settings.json': rules });
    expect(await searches()).toBe(true);
  });

  test('~/.claude/settings.json is the user’s own: it counts without trust, below Ramet’s own', async ({
    user,
  }) => {
    const settings = file({
      model: 'haiku',
      permissions: { allow: ['Bash(touch:*)'], defaultMode: 'acceptEdits' },
    });
    writeFiles(user.root, { 'home/.claude/settings.json': settings });
    const { text, stderr } = await run(user);
    expect(text).toBe(`staging ${user.rametHome}.config`);
    expect(stderr).not.toMatch(/model|permissions|not applied/);
    const { stdout } = await user.here(['settings']);
    expect(stdout).toMatch(/^permissions\.defaultMode +acceptEdits +\S*\.claude\/settings\.json$/m);
    expect(stdout).toMatch(/^model +haiku +\S*\.claude\/settings\.json$/m);
    expect(stdout).toMatch(/^permissions\.allow +Bash\(touch:\*\) +~\/\.claude\/settings\.json$/m);
    write(user, { [USER]: { model: 'opus' } });
    expect((await user.here(['settings'])).stdout).toMatch(/^model +opus +\S*ramet\/settings\.json:1$/m);
  });

  test('SEC-1: what narrows counts before trust: modes, hooks and servers', async ({ user }) => {
    await user.model({ text: 'ok' });
    const narrowing = {
      disableAllHooks: true,
      disabledMcpjsonServers: ['db'],
      deniedMcpServers: [{ serverName: 'web' }],
    };
    writeFiles(user.repository, {
      '.claude/settings.json': file({
        ...narrowing,
        permissions: { disableBypassPermissionsMode: 'disable' },
      }),
      '.mcp.json': JSON.stringify({ mcpServers: { db: { command: 'db' } } }),
    });
    writeFiles(user.root, {
      'home/.claude.json': JSON.stringify({ mcpServers: { web: { command: 'web' } } }),
    });
    const refused = await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /disableBypassPermissionsMode .*forbids the permission mode bypassPermissions/,
    );
    const { stdout } = await user.here(['settings']);
    expect(stdout).toMatch(/^policy\.bypassPermissions +false +\S*\.claude\/settings\.json$/m);
    await user.here(['trust']);
    const listed = await user.here(['mcp', 'ls']);
    expect(listed.stdout).toMatch(/^db .*disabledMcpjsonServers in \.claude\/settings\.json/m);
    expect(listed.stdout).toMatch(/^web .*deniedMcpServers in \.claude\/settings\.json/m);
  });

  test('its additional directories are for edits after trust', async ({ user }) => {
    const beside = join(user.root, 'beside');
    writeFiles(user.root, { 'beside/keep.txt': '' });
    writeFiles(user.repository, {
      '.claude/settings.json': JSON.stringify({
        permissions: { additionalDirectories: ['../beside', '../gone'] },
      }),
    });
    const writes = async (): Promise<boolean> => {
      const input = { file_path: join(beside, 'new.txt'), content: 'x' };
      await user.model({ tool_use: [{ name: 'Write', input }] }, { text: 'ok' });
      await user.here(['-p', 'x', '--permission-mode', 'acceptEdits']);
      return existsSync(join(beside, 'new.txt'));
    };
    expect(await writes()).toBe(false);
    await user.here(['trust']);
    expect(await writes()).toBe(true);
  });

  test('its status line is shown after trust', async ({ user }) => {
    writeFiles(user.repository, { '.claude/settings.json': file() });
    await user.here(['trust']);
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>\nof the other tool$/m);
  });

  test.for([
    [
      'comments',
      '// mine\n{ "env": { "OWN_WORD": "qa" }, /* x */ "permissions": { "allow": ["Bash(touch:*)"] }, }',
      'qa',
    ],
    ['wrong types', '{ "env": ["OWN_WORD"], "permissions": { "allow": "Bash" }, "statusLine": 7 }', null],
    [
      'a key twice',
      '{ "permissions": { "allow": ["Bash(touch:*)"] }, "env": {}, "env": { "OWN_WORD": "qa" } }',
      'qa',
    ],
    [
      'a rule that is none',
      '{ "permissions": { "allow": ["Bash(", 7, "Bash(touch:*)"] }, "env": { "OWN_WORD": "qa" } }',
      'qa',
    ],
  ] as const)('bad input: %s', async ([, text, word], { user }) => {
    writeFiles(user.repository, { '.claude/settings.json': text });
    await user.here(['trust']);
    const { text: said } = await run(user);
    if (word === null) expect(said).toMatch(/not permitted|nobody/);
    else expect(said).toBe(`${word} ${user.rametHome}`);
  });
});

describe.concurrent('RES-3: rules for MCP servers', () => {
  test('that nearly name one are told at a start, by ramet settings and by ramet doctor', async ({
    user,
  }) => {
    await user.model({ text: 'ok' });
    write(user, {
      [USER]: {
        permissions: { deny: ['mcp__db', 'mcp__elsewhere'] },
        mcpServers: { DB: { command: 'no-such-program' } },
      },
      'ramet/agents/w.md': '---\nname: w\ndescription: d\ndisallowedTools: mcp__db\n---\nYou.\n',
    });
    const rule =
      /^ramet: the deny rule "mcp__db" in .*settings\.json names no MCP server that is set up here: did you mean mcp__DB\?$/m;
    const type = /^ramet: .*w\.md: disallowedTools: "mcp__db" names no MCP server .*did you mean mcp__DB\?$/m;
    for (const flags of [['-p', 'x'], ['settings']]) {
      const { code, stderr } = await user.here(flags);
      expect(code).toBe(0);
      expect(stderr).toMatch(rule);
      expect(stderr).toMatch(type);
      expect(stderr.match(/names no/g)).toHaveLength(2);
    }
    const { stdout } = await user.here(['doctor', '--json']);
    expect(stdout).toContain('the deny rule \\"mcp__db\\" in ');
  });
});
