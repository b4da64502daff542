import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { eventually } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const done = { text: 'done' };
const call = (name: string, input: Record<string, unknown>): Answer => ({ tool_use: [{ name, input }] });
const bash = (command: string): Answer => call('Bash', { command });
const bypass = ['--permission-mode', 'bypassPermissions'];
const questions = 'calls that they checked are questions';
const asked = 'a hook that checks this call did not run: ';

const guard = { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 0' }] }] };

async function trusted(user: User, settings: object, file = '.claude/settings.json'): Promise<void> {
  writeFiles(user.repository, { [file]: JSON.stringify(settings) });
  await user.ramet(['trust']);
}

/** The last call of a session, which runs one command. */
async function lastCall(user: User, args: readonly string[] = []) {
  let turn = 0;
  const emulator = await user.emulate({ respond: () => (turn++ === 0 ? bash('echo ran') : done) });
  const { stderr } = await user.here(['-p', ...args, 'GO', ...bypass]);
  return { stderr, result: toolResults(emulator).at(-1) };
}

const untold = 'disableAllHooks, which you did not trust, turns off hooks that you trusted';
const useless = 'it cannot be used as it is, and you trusted its hooks';

describe.concurrent('SEC-1: an agent that turns the guards of its repository off', () => {
  const file = JSON.stringify({ hooks: guard });
  const stopped = { disableAllHooks: true };

  test.for([
    ['a new file', '.claude/settings.local.json', JSON.stringify(stopped), untold],
    ['the same file', '.claude/settings.json', JSON.stringify({ hooks: guard, ...stopped }), untold],
    ['an emptied file', '.claude/settings.json', JSON.stringify({ hooks: {}, ...stopped }), untold],
    ['a file that is too large', '.claude/settings.json', `${file}${' '.repeat(1 << 20)}`, useless],
    ['a wrong value', '.ramet/settings.json', JSON.stringify({ hooks: guard, maxTurns: 'many' }), useless],
    ['a key twice', '.ramet/settings.json', file.replace('{', '{ "model": "a", "model": "b",'), useless],
  ] as const)(
    'with %s has the calls that they check go to a person',
    async ([, file, text, line], { user }) => {
      const own = file.startsWith('.ramet') ? file : '.claude/settings.json';
      await trusted(user, { hooks: guard }, own);
      writeFiles(user.repository, { off: text });
      const first = await user.model(bash(`mv off ${file}`), bash('echo the same session'), done);
      expect((await user.here(['-p', 'GO', ...bypass])).stderr).toBe('');
      expect(toolResults(first)).toMatchObject([{ isError: false }, { isError: false }]);
      for (const again of [['-c'], ['-c', '--fork-session'], []]) {
        const { stderr, result } = await lastCall(user, again);
        expect(stderr).toContain(`${file}: ${line}; ${questions} (ramet trust --show`);
        expect(stderr.split(questions)).toHaveLength(2);
        expect(result).toMatchObject({ isError: true, text: expect.stringContaining(asked) });
      }
    },
  );

  test.for([
    [
      'a link to a device without an end',
      'rm .claude/settings.json && ln -s /dev/zero .claude/settings.json',
    ],
    ['a fifo', 'rm .claude/settings.json && mkfifo .claude/settings.json'],
    ['a link to a folder', 'rm .claude/settings.json && ln -s / .claude/settings.json'],
  ] as const)('with %s neither stops the next session nor passes', async ([, command], { user }) => {
    await trusted(user, { hooks: guard });
    await user.model(bash(command), done);
    await user.here(['-p', 'GO', ...bypass]);
    const { stderr, result } = await lastCall(user);
    expect(stderr).toContain('.claude/settings.json');
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(asked) });
    expect((await user.here(['trust', '--show'])).stdout).toContain('.claude/settings.json');
  });

  test('makes no folder a repository in which a trusted hook runs git', async ({ user }) => {
    const marked = join(user.repository, 'marked');
    const hook = [{ type: 'command', command: 'cd sub && git status > /dev/null 2>&1; git -C . diff; true' }];
    writeFiles(user.repository, { 'sub/a.txt': '' });
    await trusted(user, { hooks: { PostToolUse: [{ hooks: hook }] } });
    writeFiles(user.repository, {
      'sub/HEAD': 'ref: refs/heads/main\n',
      // Without a version git does not take its work tree.
      'sub/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${marked}; false"\n`,
      ...{ 'sub/objects/x': '', 'sub/refs/x': '' },
    });
    const { result } = await lastCall(user);
    expect(result).toMatchObject({ isError: false });
    expect(existsSync(marked)).toBe(false);
  });

  test('has its agents and a session after a kill ask too', async ({ user }) => {
    await trusted(user, { hooks: { PreToolUse: [{ matcher: 'Bash', ...guard.PreToolUse[0] }] } });
    const off = '.claude/settings.local.json';
    writeFiles(user.repository, { off: '{ "disableAllHooks": true }' });
    let turn = 0;
    await user.emulate({
      respond: () => (turn++ === 0 ? bash(`mv off ${off}`) : done),
      fault: () => (turn > 0 ? { kind: 'stall', at: 'headers' } : undefined),
    });
    const running = user.start(['-p', 'GO', ...bypass]);
    await eventually(() => existsSync(join(user.repository, off)));
    running.kill('SIGKILL');
    await running.ended;
    const agent = { description: 'x', prompt: 'CHILD', subagent_type: 'general-purpose' };
    const results: string[] = [];
    let asks = 0;
    await user.emulate({
      respond({ opening, lastToolResult }) {
        if (!opening.includes('CHILD')) return asks++ === 0 ? call('Agent', agent) : done;
        results.push(lastToolResult);
        return lastToolResult === '' ? bash('echo ran') : done;
      },
    });
    for (const executor of ['in-process', 'process']) {
      asks = 0;
      await user.ramet(['-p', '-c', 'GO', ...bypass, '--executor', executor]);
    }
    expect(results).toEqual(['', expect.stringContaining(asked), '', expect.stringContaining(asked)]);
  });

  test('shows the difference, and is as it says once a person trusts it', async ({ user }) => {
    await trusted(user, { hooks: guard });
    await trusted(user, {}, 'sub/.claude/settings.json');
    writeFiles(user.repository, { '.claude/settings.local.json': '{ "disableAllHooks": true }' });
    const { stdout } = await user.here(['trust', '--show']);
    expect(stdout).toMatch(
      /^new +rights: \.claude\/settings\.local\.json\n(?: {2}\+.*\n)* {2}\+ +"disableAllHooks/m,
    );
    await user.ramet(['trust']);
    const { stderr, result } = await lastCall(user);
    expect([stderr, result?.isError]).toEqual([
      expect.stringMatching(
        /^ramet: set up for Claude Code and without effect in Ramet: hooks, turned off by disableAllHooks, in/,
      ),
      false,
    ]);
    // It says more now, and that it turns them off it said before.
    const more = { disableAllHooks: true, permissions: { allow: ['Bash'] } };
    writeFiles(user.repository, { '.claude/settings.local.json': JSON.stringify(more) });
    expect((await lastCall(user)).result?.isError).toBe(false);
  });

  test("asks nothing where the user's own file turns them off", async ({ user }) => {
    await trusted(user, { hooks: guard });
    const off = JSON.stringify({ disableAllHooks: true });
    writeFiles(user.repository, { '.claude/settings.local.json': off });
    writeFiles(user.root, { 'home/.claude/settings.json': off });
    expect((await lastCall(user)).result?.isError).toBe(false);
  });

  test('asks on where they are trusted again, until a session has read them', async ({ user }) => {
    await trusted(user, { hooks: guard });
    const settings = join(user.repository, '.claude/settings.json');
    rmSync(settings);
    const emulator = await user.emulate({
      respond: async ({ turn }) => {
        if (turn === 1) await trusted(user, { hooks: guard });
        return turn < 2 ? bash(`echo ${turn}`) : done;
      },
    });
    await user.here(['-p', 'GO', ...bypass]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([true, true]);
    expect((await lastCall(user)).result?.isError).toBe(false);
  });
});

describe.concurrent('SEC-1: an agent that takes a plugin with guards out of its repository', () => {
  const settings = '.ramet/settings.json';

  async function withPlugin(user: User): Promise<void> {
    writeFiles(user.repository, { 'plug/hooks/hooks.json': JSON.stringify({ hooks: guard }) });
    await trusted(user, { plugins: ['plug'] }, settings);
    expect((await lastCall(user)).result?.isError).toBe(false);
  }

  test.for([
    [
      'its name',
      `echo '{}' > ${settings}`,
      'plug: this plugin is named no more, and you trusted its hooks; calls',
    ],
    [
      'the settings',
      `rm ${settings}`,
      'plug: this plugin is named no more, and you trusted its hooks; calls',
    ],
    ['its folder', 'rm -r plug', 'plug: its plugin is not what you trusted and does not run'],
    [
      'its hooks',
      "echo '{}' > plug/hooks/hooks.json",
      'plug: its plugin is not what you trusted and does not run',
    ],
  ] as const)('%s: has the calls that they check go to a person', async ([, change, line], { user }) => {
    await withPlugin(user);
    await user.model(bash(change), done);
    await user.here(['-p', 'GO', ...bypass]);
    for (const again of [['-c'], []]) {
      const { stderr, result } = await lastCall(user, again);
      expect(stderr.split(line)).toHaveLength(2);
      expect(result).toMatchObject({
        isError: true,
        text: expect.stringContaining(`${asked}the plugin is not what you trusted`),
      });
    }
    const { stdout } = await user.here(['trust', '--show']);
    expect(stdout).toMatch(
      line.includes('named no more') ? /^removed +plugin: plug$/m : /^changed +plugin: plug/m,
    );
    await user.ramet(['trust']);
    expect((await lastCall(user)).result?.isError).toBe(false);
    expect((await user.here(['trust', '--show'])).stdout).not.toContain('removed');
  });

  test('asks nothing where the user leaves the settings out, names the folder, or trusts for once', async ({
    user,
  }) => {
    await withPlugin(user);
    rmSync(join(user.repository, settings));
    for (const flags of [['--setting-sources', 'user'], ['--bare'], ['--plugin-dir', 'plug'], ['--trust']]) {
      const { stderr, result } = await lastCall(user, flags);
      expect([flags, stderr, result?.isError]).toEqual([flags, '', false]);
    }
  });
});

describe.concurrent('SEC-1: an agent that takes out what settings of its repository forbid', () => {
  const deny = { permissions: { deny: ['Bash(echo:*)'] } };
  const [theirs, own] = ['.claude/settings.json', '.ramet/settings.json'];

  const LOST = /^(?:changed|removed) +limits: \S+settings\.json\n {2}- deny: "Bash\(echo:\*\)"$/m;

  test.for([
    [theirs, 'the rule', "echo '{}'"],
    [theirs, 'the file', 'rm'],
    [theirs, 'by a mistake', "echo '{'"],
    [theirs, 'by a weaker list', `echo '{"permissions":{"ask":["Bash(echo:*)"]}}'`],
    [own, 'the rule', "echo '{}'"],
    [own, 'the file', 'rm'],
    [own, 'by a wrong value', `echo '${JSON.stringify({ ...deny, maxTurns: 'x' })}'`],
  ] as const)('%s, %s: does not get it', async ([file, , change], { user }) => {
    await trusted(user, deny, file);
    await user.model(
      bash(change === 'rm' ? `rm ${file}` : `${change.replace('echo', 'printf %s')} > ${file}`),
      done,
    );
    await user.here(['-p', 'GO', ...bypass]);
    for (const again of [['-c'], []]) {
      const { stderr, result } = await lastCall(user, again);
      expect(result).toMatchObject({
        isError: true,
        text: expect.stringContaining(`denied by the rule Bash(echo:*) in ${file} as you trusted it`),
      });
      expect(stderr).toContain(file);
    }
    if (change.includes('maxTurns')) return;
    const { stdout } = await user.here(['trust', '--show']);
    expect(stdout).toMatch(LOST);
    await user.ramet(['trust']);
    expect((await lastCall(user)).result?.text).not.toContain('as you trusted it');
    expect((await user.here(['trust', '--show'])).stdout).not.toContain('limits');
  });

  test('is asked about nothing where it forbids more', async ({ user }) => {
    await trusted(user, deny);
    const more = { permissions: { deny: ['WebFetch', ...deny.permissions.deny], ask: ['Write'] } };
    writeFiles(user.repository, { [theirs]: JSON.stringify(more) });
    expect((await lastCall(user)).stderr).not.toContain('trust');
    expect((await user.here(['trust', '--show'])).stdout).toMatch(/work is trusted$/m);
  });

  test('has a line name what else held agents back', async ({ user }) => {
    await trusted(user, { maxTurns: 9, merge: { check: 'true' }, sandbox: { worktree: 'required' } }, own);
    writeFiles(user.repository, { [own]: JSON.stringify({ sandbox: { worktree: 'off' }, maxTurns: 9 }) });
    expect((await lastCall(user)).stderr).toContain(
      `${own}: sandbox.worktree, merge.check: not what you trusted, your own settings hold`,
    );
  });

  test('keeps servers and bypassing out as they were', async ({ user }) => {
    const denied = { deniedMcpServers: [{ serverName: 'odd' }], disabledMcpjsonServers: ['bad'] };
    const server = { command: 'true' };
    writeFiles(user.repository, {
      '.mcp.json': JSON.stringify({ mcpServers: { odd: server, bad: server } }),
    });
    await trusted(user, { ...denied, permissions: { disableBypassPermissionsMode: 'disable' } });
    writeFiles(user.repository, { [theirs]: '{}' });
    const { stdout } = await user.here(['mcp', 'ls']);
    expect(stdout).toMatch(/odd.*deniedMcpServers/);
    expect(stdout).toMatch(/bad.*disabledMcpjsonServers/);
    const { stderr, code } = await user.here(['-p', 'GO', ...bypass]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('bypass')]);
  });
});
