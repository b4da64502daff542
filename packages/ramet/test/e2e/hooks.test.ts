import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, isRunning } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const BASH = { name: 'Bash', input: { command: 'echo from-bash' } };
const call = { tool_use: [BASH] };
const done = { text: 'done' };

function hook(user: User, hooks: object, file = 'work/.claude/settings.json'): void {
  writeFiles(user.root, { [file]: JSON.stringify({ hooks }) });
}

const command = (text: string): object[] => [{ hooks: [{ type: 'command', command: text }] }];

describe.concurrent('EXT-2: hooks of settings files', () => {
  test('refuse a call, with the reason for the model and a line in the log', async ({ user }) => {
    writeFiles(user.root, {
      'work/.claude/hooks/no.sh': 'grep -q from-bash && { echo "no echo here" >&2; exit 2; }',
    });
    hook(user, {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [{ type: 'command', command: 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/no.sh' }],
        },
      ],
    });
    expect((await user.ramet(['trust'])).stdout).toContain(
      'hooks: .claude/settings.json (with .claude/hooks/no.sh)',
    );
    const emulator = await user.model(call, done);
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(toolResults(emulator)[0]?.text).toContain('Bash is refused by a hook: no echo here');
    expect((await user.here(['logs'])).stdout).toMatch(/hooks of PreToolUse: bash .*no\.sh blocked in/);
  });

  test("run from the home directory without trust, and from Ramet's own files", async ({ user }) => {
    hook(
      user,
      {
        PostToolUse: command(
          'echo \'{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"ONE"}}\'',
        ),
      },
      'home/.claude/settings.json',
    );
    hook(
      user,
      {
        PostToolUse: command(
          'echo \'{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"TWO"}}\'',
        ),
      },
      'ramet/settings.json',
    );
    const emulator = await user.model(call, done);
    const end = await user.here(['-p', 'x']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const text = toolResults(emulator)[0]?.text ?? '';
    expect(text).toContain('ONE');
    expect(text).toContain('TWO');
  });

  test('tell the model something at the start and at each prompt, after what sessions share', async ({
    user,
  }) => {
    hook(
      user,
      { SessionStart: command('echo CONTEXT-A'), UserPromptSubmit: command('echo CONTEXT-B') },
      'home/.claude/settings.json',
    );
    const emulator = await user.model(done);
    expect(await user.here(['-p', 'hello'], { env: { RAMET_STRICT_PREFIX: '1' } })).toMatchObject({
      code: 0,
    });
    const body = JSON.stringify(emulator.requests[0]?.request?.messages);
    expect(body.indexOf('CONTEXT-A')).toBeGreaterThan(body.indexOf('hello'));
    expect(body.indexOf('CONTEXT-B')).toBeGreaterThan(body.indexOf('CONTEXT-A'));
  });

  test('refuse a prompt', async ({ user }) => {
    hook(user, { UserPromptSubmit: command('echo "not that" >&2; exit 2') }, 'home/.claude/settings.json');
    const end = await user.here(['-p', 'x', '--model', 'recipe']);
    expect(end.code).not.toBe(0);
    expect(end.stderr).toContain('a hook refused the prompt: not that');
    for (const format of ['json', 'stream-json']) {
      const told = await user.here(['-p', 'x', '--model', 'recipe', '--output-format', format]);
      expect(told.code).toBe(2);
      expect(JSON.parse(told.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        ...{ type: 'result', subtype: 'error_during_execution', is_error: true, num_turns: 0 },
        result: 'a hook refused the prompt: not that',
      });
    }
  });

  test('leave the result the last line when the session ends', async ({ user }) => {
    hook(user, { SessionEnd: command('true'), Stop: command('true') }, 'home/.claude/settings.json');
    await user.model(done);
    const { stdout } = await user.here(['-p', 'x', '--output-format', 'stream-json']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ type: 'result', subtype: 'success' });
    expect(lines).toContainEqual(expect.objectContaining({ hook_event: 'Stop' }));
  });

  test.for(['text', 'json', 'stream-json'])(
    'say something at the end of the session, and fail there, on standard error: %s',
    async (format, { user }) => {
      const say = command(`echo '{"systemMessage": "BYE"}'`);
      const fail = { hooks: [{ type: 'command', command: 'exit 7' }] };
      hook(user, { SessionEnd: [...say, fail] }, 'home/.claude/settings.json');
      await user.model(done);
      const end = await user.here(['-p', 'x', '--output-format', format]);
      expect(end.code).toBe(0);
      expect(end.stderr.match(/BYE/g)).toHaveLength(1);
      expect(end.stderr.match(/the SessionEnd hook "exit 7" of .* failed: exit code 7/g)).toHaveLength(1);
    },
  );

  test('see the end of the session and of the answer', async ({ user }) => {
    const log = join(user.root, 'log');
    hook(
      user,
      { Stop: command(`echo stop >> ${log}`), SessionEnd: command(`echo end >> ${log}`) },
      'home/.claude/settings.json',
    );
    await user.model(done);
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(readFileSync(log, 'utf8')).toBe('stop\nend\n');
  });

  test('learn that the agent has entered a worktree, and left it', async ({ user }) => {
    const log = join(user.root, 'log');
    hook(user, { CwdChanged: command(`cat >> ${log}`) }, 'home/.claude/settings.json');
    await user.model(
      { tool_use: [{ name: 'EnterWorktree', input: { name: 'w' } }] },
      { tool_use: [{ name: 'ExitWorktree', input: {} }] },
      done,
    );
    expect(await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions'])).toMatchObject({ code: 0 });
    const [entered, left] = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entered).toMatchObject({ hook_event_name: 'CwdChanged', old_cwd: user.repository });
    expect(entered.new_cwd).toMatch(/\/w[^/]*$/);
    expect(left).toMatchObject({ old_cwd: entered.new_cwd, new_cwd: user.repository });
  });

  test('that fail are shown and stop nothing', async ({ user }) => {
    hook(user, { PreToolUse: command('exit 7') }, 'home/.claude/settings.json');
    await user.model(call, done);
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(0);
    expect(end.stderr).toContain(
      'the PreToolUse hook "exit 7" of ~/.claude/settings.json failed: exit code 7',
    );
  });
});

describe.concurrent('EXT-2: hooks of agents that others started', () => {
  const agent = (type: string | null): { name: string; input: Record<string, unknown> } => ({
    name: 'Agent',
    input: { description: 'd', prompt: 'TASK', ...(type !== null && { subagent_type: type }) },
  });
  const isChild = (request: unknown): boolean => JSON.stringify(request).includes('TASK');

  test('FORK-9: context for forks comes after what they share, byte for byte', async ({ user }) => {
    hook(
      user,
      { SubagentStart: command('echo \'{"hookSpecificOutput":{"additionalContext":"ONLY-HERE"}}\'') },
      'home/.claude/settings.json',
    );
    const emulator = await user.model({ tool_use: [agent(null), agent(null)] }, done, done, done);
    const end = await user.here(['-p', 'x'], { env: { RAMET_STRICT_PREFIX: '1' } });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    const isTold = (messages: readonly unknown[] = []): boolean =>
      JSON.stringify(messages.at(-1)).includes('ONLY-HERE');
    const forks = emulator.requests.filter(({ request }) => isTold(request?.messages));
    expect(forks).toHaveLength(2);
    const [one, other] = forks.map(({ request }) => ({
      ...request,
      messages: request?.messages.slice(0, -1),
    }));
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    expect(JSON.stringify(one)).not.toContain('ONLY-HERE');
    expect(JSON.stringify(one?.messages?.at(-1))).toContain('TASK');
  });

  test.for(['in-process', 'process'])('run for an agent file, %s', async (executor, { user }) => {
    const log = join(user.root, 'log');
    const yaml = ['PreToolUse', 'PostToolUse', 'Stop']
      .map(
        (event) =>
          `  ${event}:\n    - hooks:\n        - type: command\n          command: echo ${event} >> ${log}`,
      )
      .join('\n');
    writeFiles(user.root, {
      'home/.claude/agents/rev.md': `---\nname: rev\ndescription: x\nexecutor: ${executor}\nhooks:\n${yaml}\n---\nx`,
    });
    let calls = 0;
    await user.emulate({
      respond: ({ request }) => {
        if (!isChild(request?.messages?.[0])) return calls++ === 0 ? { tool_use: [agent('rev')] } : done;
        return JSON.stringify(request).includes('from-bash') ? done : call;
      },
    });
    expect(await user.here(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(readFileSync(log, 'utf8')).toBe('PreToolUse\nPostToolUse\nStop\n');
  });
});

describe.concurrent('RES-8: hooks of a killed process', () => {
  test('are ended by the next start', async ({ user }) => {
    const pid = join(user.root, 'pid');
    hook(
      user,
      { PreToolUse: command(`echo $$ > ${pid}.new; mv ${pid}.new ${pid}; sleep 1000`) },
      'home/.claude/settings.json',
    );
    await user.emulate({ respond: () => call });
    const running = user.start(['-p', 'x']);
    await expect.poll(() => existsSync(pid), { timeout: 20_000 }).toBe(true);
    running.kill('SIGKILL');
    await running.ended;
    const hookPid = Number(readFileSync(pid, 'utf8'));
    expect(existsSync(`/proc/${hookPid}`)).toBe(true);
    rmSync(join(user.root, 'home/.claude/settings.json'));
    await user.model(done);
    await user.here(['-p', 'y']);
    await expect
      .poll(
        () =>
          existsSync(`/proc/${hookPid}/cmdline`) && readFileSync(`/proc/${hookPid}/cmdline`, 'utf8') !== '',
      )
      .toBe(false);
  });
});

describe.concurrent('SEC-1: hooks of a folder', () => {
  const mark = (user: User): string => join(user.root, 'ran');
  const all = (user: User): object =>
    Object.fromEntries(
      [
        'SessionStart',
        'SessionEnd',
        'UserPromptSubmit',
        'PreToolUse',
        'PostToolUse',
        'Stop',
        'SubagentStart',
        'SubagentStop',
        'Notification',
        'PermissionRequest',
        'WorktreeCreate',
      ].map((event) => [event, command(`touch ${mark(user)}`)]),
    );

  test('run nothing before the folder is trusted, and one line says so', async ({ user }) => {
    hook(user, all(user));
    hook(user, all(user), 'work/.claude/settings.local.json');
    hook(user, all(user), 'work/.ramet/settings.json');
    writeFiles(user.root, {
      'work/.claude/agents/evil.md': `---\nname: evil\ndescription: x\nhooks:\n  SubagentStart:\n    - hooks:\n        - type: command\n          command: touch ${mark(user)}\n---\nx`,
    });
    await user.model(
      call,
      {
        tool_use: [
          { name: 'Agent', input: { description: 'd', prompt: 'p', subagent_type: 'general-purpose' } },
        ],
      },
      done,
      done,
    );
    const end = await user.here(['-p', 'x', '--worktree', 'w']);
    expect(end.stderr).toContain(
      '.claude/settings.json: its set of hooks does not run before you trust this folder (ramet trust)',
    );
    for (const args of [['settings'], ['doctor'], ['agents'], ['trust', '--show']]) await user.here(args);
    expect(existsSync(mark(user))).toBe(false);
  });

  test.for([
    ['the hooks', (user: User) => hook(user, { Stop: command(`touch ${mark(user)} # other`) })],
    [
      'a script that they name',
      (user: User) => writeFiles(user.root, { 'work/check.sh': `touch ${mark(user)}; true` }),
    ],
  ] as const)('do not run once %s changed, until they are trusted again', async ([, change], { user }) => {
    writeFiles(user.root, { 'work/check.sh': `touch ${mark(user)}` });
    hook(user, { Stop: command('bash check.sh') });
    await user.here(['trust']);
    const emulator = await user.emulate({ respond: () => done });
    await user.here(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(true);
    rmSync(mark(user));
    change(user);
    const end = await user.here(['-p', 'x']);
    expect(end.stderr).toMatch(
      /(?:its set of hooks|a file that its hooks run) is not what you trusted.* not run \(ramet trust --show shows the difference\)/,
    );
    expect(existsSync(mark(user))).toBe(false);
    expect((await user.here(['trust', '--show'])).stdout).toMatch(
      /changed {2}hooks: \.claude\/settings\.json/,
    );
    await user.here(['trust']);
    await user.here(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(true);
    expect(emulator.requests.length).toBe(3);
  });

  test.for([
    ['the same content', '', /these hooks run/, true],
    ['other content', 'true\n', /these hooks do not run/, false],
  ] as const)(
    'that are a link now to a file with %s: the start says what is true',
    async ([, more, said, runs], { user }) => {
      const script = `touch ${mark(user)}\n`;
      writeFiles(user.root, { 'work/hooks/check.sh': script });
      hook(user, { Stop: command('bash "$CLAUDE_PROJECT_DIR"/hooks/check.sh') });
      await user.here(['trust']);
      writeFiles(user.root, { 'work/x.sh': `${script}${more}` });
      rmSync(join(user.repository, 'hooks/check.sh'));
      symlinkSync('../x.sh', join(user.repository, 'hooks/check.sh'));
      await user.model(done);
      const end = await user.here(['-p', 'x']);
      expect(end.stderr).toMatch(said);
      expect(existsSync(mark(user))).toBe(runs);
      await user.here(['trust']);
      expect((await user.here(['-p', 'x'])).stderr).not.toContain('what you trusted');
    },
  );

  test('of a pipe are not trusted, and that is said', async ({ user }) => {
    writeFiles(user.root, { 'work/hooks/guard.sh': 'exit 0\n' });
    hook(user, { PreToolUse: command('bash "$CLAUDE_PROJECT_DIR"/hooks/guard.sh') });
    expect((await user.here(['trust'])).code).toBe(0);
    rmSync(join(user.repository, 'hooks/guard.sh'));
    execFileSync('mkfifo', [join(user.repository, 'hooks/guard.sh')]);
    const said = 'hooks/guard.sh is a pipe, which cannot be trusted: put a file in its place';
    const trusted = await user.here(['trust']);
    expect(trusted).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
    expect(trusted.stdout).not.toContain('trusted as it is now');
    expect((await user.here(['trust', '--show'])).stderr).toContain(said);
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn === 0 ? { tool_use: [{ name: 'Bash', input: { command: 'touch ran' } }] } : done,
    });
    await user.here(['-p', '--allowedTools', 'Bash', 'x']);
    expect(JSON.stringify(emulator.requests.at(-1)?.request?.messages)).toContain(said);
    expect(existsSync(join(user.repository, 'ran'))).toBe(false);
  });

  test('guard in the next session when a file has changed that only another one runs', async ({ user }) => {
    writeFiles(user.root, {
      'work/guard.sh': 'echo no >&2; exit 2\n',
      'work/check.sh': `touch ${mark(user)}`,
    });
    hook(user, {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'bash guard.sh' }] }],
      Stop: command('bash check.sh'),
    });
    await user.here(['trust']);
    writeFiles(user.root, { 'work/check.sh': `touch ${mark(user)}; true` });
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        turn === 0 ? { tool_use: [{ name: 'Bash', input: { command: 'touch ran' } }] } : done,
    });
    const end = await user.here(['-p', '--allowedTools', 'Bash', 'x']);
    expect(end.stderr).toContain('a file that its hooks run is not what you trusted: these hooks do not run');
    expect(emulator.requests.length).toBe(2);
    expect([existsSync(join(user.repository, 'ran')), existsSync(mark(user))]).toEqual([false, false]);
  });

  test('run for a caller that trusts the folder for once', async ({ user }) => {
    hook(user, { Stop: command(`touch ${mark(user)}`) });
    await user.model(done);
    await user.here(['-p', 'x'], { env: { RAMET_TRUST: '1' } });
    expect(existsSync(mark(user))).toBe(true);
    expect((await user.here(['trust', '--show'])).stdout).toContain('is not trusted');
  });

  test('of another repository at the same path do not run', async ({ user }) => {
    hook(user, { Stop: command(`touch ${mark(user)}`) });
    await user.here(['trust']);
    rmSync(join(user.repository, '.git'), { recursive: true });
    git(user.repository, 'init', '-q');
    await user.model(done);
    await user.here(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(false);
  });

  test('run in a worktree of a trusted repository, as far as they are the same', async ({ user }) => {
    hook(user, { Stop: command('touch "$CLAUDE_PROJECT_DIR"/stopped') });
    git(user.repository, 'add', '-A');
    git(user.repository, 'commit', '-qm', 'hooks');
    await user.here(['trust']);
    const tree = join(user.root, 'tree');
    git(user.repository, 'worktree', 'add', '-q', tree);
    await user.emulate({ respond: () => done });
    await user.here(['-p', 'x'], { cwd: tree });
    expect(existsSync(join(tree, 'stopped'))).toBe(true);
    rmSync(join(tree, 'stopped'));
    writeFileSync(
      join(tree, '.claude/settings.json'),
      JSON.stringify({ hooks: { Stop: command('touch stopped') } }),
    );
    await user.here(['-p', 'x'], { cwd: tree });
    expect(existsSync(join(tree, 'stopped'))).toBe(false);
  });

  test('an agent file that changed after trust is not used', async ({ user }) => {
    const file = (prompt: string) => ({
      'work/.claude/agents/rev.md': `---\nname: rev\ndescription: reviews\n---\n${prompt}`,
    });
    writeFiles(user.root, file('one'));
    await user.here(['trust']);
    expect((await user.here(['agents'])).stdout).toContain('rev');
    writeFiles(user.root, file('two'));
    expect((await user.here(['agents'])).stdout + (await user.here(['agents'])).stderr).toContain(
      'it is not what you trusted',
    );
  });
});

describe.concurrent('EXT-2: hooks around worktrees', () => {
  const start = {
    tool_use: [{ name: 'Agent', input: { prompt: 'child', description: 'look', isolation: 'worktree' } }],
  };

  async function withHooks(user: User, create: string): Promise<string> {
    const log = join(user.root, 'log');
    const keep = `node -e "fs.appendFileSync('${log}', JSON.stringify(JSON.parse(fs.readFileSync(0)))+'\\n')"`;
    hook(
      user,
      { WorktreeCreate: command(`${keep}; ${create}`), WorktreeRemove: command(keep) },
      'home/.claude/settings.json',
    );
    await user.emulate({
      respond: ({ task, turn }) => (task.includes('child') ? { text: 'Scope: none.' } : [start, done][turn]),
    });
    return log;
  }

  /** No agent has one, no branch is left, and what git still knows of is kept ready for the next agent. */
  async function expectGivenBack(user: User): Promise<void> {
    expect(JSON.parse((await user.here(['worktree', 'ls', '--json'])).stdout)).toEqual([]);
    expect(git(user.repository, 'branch', '--list', 'ramet/*')).toBe('');
    const known = git(user.repository, 'worktree', 'list', '--porcelain');
    const others = known.match(/^worktree .*$/gm)?.slice(1) ?? [];
    expect(others.filter((path) => !path.includes('/.pool/'))).toEqual([]);
  }

  test('run in the new worktree of an agent, and when it is removed', async ({ user }) => {
    const log = await withHooks(user, 'echo ready; echo done.');
    expect(await user.here(['-p', 'go'])).toMatchObject({ code: 0 });
    const events = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ hook_event_name: name }) => name)).toEqual(['WorktreeCreate', 'WorktreeRemove']);
    expect(events[0]).toMatchObject({ name: 'look', worktree_path: expect.stringContaining('worktrees') });
    expect(events[1]?.worktree_path).toBe(events[0]?.worktree_path);
  });

  test('any exit code but 0 refuses the worktree, and the agent does not start', async ({ user }) => {
    const log = await withHooks(user, 'echo "no room" >&2; exit 1');
    const end = await user.here(['-p', 'go']);
    expect(end).toMatchObject({ code: 0 });
    expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1);
    expect((await user.here(['worktree', 'ls', '--json'])).stdout).not.toContain('look');
    expect((await user.here(['logs'])).stdout).toMatch(/WorktreeCreate/);
    const refused = await user.here(['-p', 'go', '--worktree']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('a WorktreeCreate hook refused it');
    await expectGivenBack(user);
  });
});

describe.concurrent('RES-5: programs of hooks', () => {
  const pidOf = (user: User, name: string): number => Number(readFileSync(join(user.root, name), 'utf8'));
  const started = (user: User, name: string) => async (): Promise<boolean> => {
    const file = join(user.root, name);
    return existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
  };
  const hang = (user: User, name: string): string =>
    `(sleep 1001 & echo $! > '${join(user.root, `${name}-child`)}'; wait) & echo $$ > '${join(user.root, name)}'; exec sleep 1000`;

  test('end with a run that is interrupted, with what they started', async ({ user }) => {
    hook(user, { PreToolUse: command(hang(user, 'pid')) }, 'home/.claude/settings.json');
    await user.model(call, done);
    const run = user.start(['-p', 'x']);
    await eventually(started(user, 'pid'));
    await eventually(started(user, 'pid-child'));
    run.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    for (const name of ['pid', 'pid-child']) await eventually(() => !isRunning(pidOf(user, name)));
  });

  test('of an agent end with the agent', async ({ user }) => {
    writeFiles(user.rametHome, {
      'agents/slow.md': `---\nname: slow\ndescription: d\nhooks: ${JSON.stringify({ PreToolUse: command(hang(user, 'pid')) })}\n---\nYou.\n`,
    });
    const start = { prompt: 'child', description: 'd', subagent_type: 'slow', run_in_background: true };
    await user.emulate({
      respond: ({ task, turn }) => {
        if (task.includes('child')) return call;
        if (turn === 0) return { tool_use: [{ name: 'Agent', input: start }] };
        return { tool_use: [{ name: 'Bash', input: { command: 'sleep 1' } }] };
      },
    });
    const run = user.start(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    await eventually(started(user, 'pid'));
    run.kill('SIGINT');
    await run.ended;
    await eventually(() => !isRunning(pidOf(user, 'pid')));
  });

  test('that nobody waits for end with the session', async ({ user }) => {
    const hooks = [{ type: 'command', command: hang(user, 'pid'), async: true }];
    hook(user, { PreToolUse: [{ hooks }] }, 'home/.claude/settings.json');
    const wait = {
      name: 'Bash',
      input: { command: `until test -s '${join(user.root, 'pid')}'; do sleep 0.1; done` },
    };
    await user.model({ tool_use: [wait] }, done);
    const end = await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    expect(end.code).toBe(0);
    await eventually(() => !isRunning(pidOf(user, 'pid')));
  });
});

describe.concurrent('EXT-2: hooks that are written wrongly', () => {
  const guard = { type: 'command', command: 'exit 2' };
  const group = (fields: object, hook: object = guard): object => ({
    PreToolUse: [{ matcher: 'Bash', hooks: [hook], ...fields }],
  });
  test('in your own settings stop the command', async ({ user }) => {
    hook(user, group({}, { ...guard, timeout: '5' }), 'ramet/settings.json');
    const emulator = await user.model(call, done);
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/ramet\/settings\.json:1: hooks\.PreToolUse\.0\.hooks\.0\.timeout: .*"5"$/m);
    expect(emulator.requests).toEqual([]);
  });

  test('in a folder and in the settings of another tool are one line', async ({ user }) => {
    hook(user, group({ matcher: 'Bash(' }));
    hook(user, group({}, { ...guard, timeout: -1 }), 'home/.claude/settings.json');
    await user.here(['trust']);
    await user.model(call, done);
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(0);
    expect(end.stderr).toMatch(
      /^.*\.claude\/settings\.json: hooks that do not run: PreToolUse: the matcher "Bash\("/m,
    );
    expect(end.stderr).toMatch(
      /~\/\.claude\/settings\.json: hooks that do not run: PreToolUse: timeout is no number/,
    );
  });

  test('what is not supported here is said in one line, and the rest runs', async ({ user }) => {
    const hooks = [
      { ...guard, asyncRewake: true },
      { ...guard, once: true },
      { type: 'prompt', prompt: 'x' },
      { type: 'http', url: 'http://x' },
    ];
    hook(user, { PreToolUse: [{ hooks }], Stop: command('echo'), Odd: [] }, 'ramet/settings.json');
    await user.model(call, done);
    const end = await user.here(['-p', 'x']);
    expect(end.code).toBe(0);
    const lines = end.stderr.split('\n').filter((line) => line.includes('hooks that do not run'));
    expect(lines).toEqual([
      expect.stringMatching(
        /"asyncRewake" is not supported and does not run; .*"once".*; .*"prompt".* \(and 2 more: see ramet settings\)/,
      ),
    ]);
  });
});
