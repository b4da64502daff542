import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
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
    expect(await user.ramet(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(toolResults(emulator)[0]?.text).toContain('Bash is refused by a hook: no echo here');
    expect((await user.ramet(['logs'])).stdout).toMatch(/hooks of PreToolUse: bash .*no\.sh blocked in/);
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
    const end = await user.ramet(['-p', 'x']);
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
    expect(await user.ramet(['-p', 'hello'], { env: { RAMET_STRICT_PREFIX: '1' } })).toMatchObject({
      code: 0,
    });
    const body = JSON.stringify(emulator.requests[0]?.request?.messages);
    expect(body.indexOf('CONTEXT-A')).toBeGreaterThan(body.indexOf('hello'));
    expect(body.indexOf('CONTEXT-B')).toBeGreaterThan(body.indexOf('CONTEXT-A'));
  });

  test('refuse a prompt', async ({ user }) => {
    hook(user, { UserPromptSubmit: command('echo "not that" >&2; exit 2') }, 'home/.claude/settings.json');
    const end = await user.ramet(['-p', 'x', '--model', 'recipe']);
    expect(end.code).not.toBe(0);
    expect(end.stderr).toContain('a hook refused the prompt: not that');
  });

  test('see the end of the session and of the answer', async ({ user }) => {
    const log = join(user.root, 'log');
    hook(
      user,
      { Stop: command(`echo stop >> ${log}`), SessionEnd: command(`echo end >> ${log}`) },
      'home/.claude/settings.json',
    );
    await user.model(done);
    expect(await user.ramet(['-p', 'x'])).toMatchObject({ code: 0 });
    expect(readFileSync(log, 'utf8')).toBe('stop\nend\n');
  });

  test('that fail are shown and stop nothing', async ({ user }) => {
    hook(user, { PreToolUse: command('exit 7') }, 'home/.claude/settings.json');
    await user.model(call, done);
    const end = await user.ramet(['-p', 'x']);
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
    const end = await user.ramet(['-p', 'x'], { env: { RAMET_STRICT_PREFIX: '1' } });
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
    expect(await user.ramet(['-p', 'x'])).toMatchObject({ code: 0 });
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
    await user.ramet(['-p', 'y']);
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
    const end = await user.ramet(['-p', 'x', '--worktree', 'w']);
    expect(end.stderr).toContain(
      '.claude/settings.json: its set of hooks does not run before you trust this folder (ramet trust)',
    );
    for (const args of [['settings'], ['doctor'], ['agents'], ['trust', '--show']]) await user.ramet(args);
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
    await user.ramet(['trust']);
    const emulator = await user.emulate({ respond: () => done });
    await user.ramet(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(true);
    rmSync(mark(user));
    change(user);
    const end = await user.ramet(['-p', 'x']);
    expect(end.stderr).toContain(
      'its set of hooks is not what you trusted and does not run (ramet trust shows the difference)',
    );
    expect(existsSync(mark(user))).toBe(false);
    expect((await user.ramet(['trust', '--show'])).stdout).toMatch(
      /changed {2}hooks: \.claude\/settings\.json/,
    );
    await user.ramet(['trust']);
    await user.ramet(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(true);
    expect(emulator.requests.length).toBe(3);
  });

  test('run for a caller that trusts the folder for once', async ({ user }) => {
    hook(user, { Stop: command(`touch ${mark(user)}`) });
    await user.model(done);
    await user.ramet(['-p', 'x'], { env: { RAMET_TRUST: '1' } });
    expect(existsSync(mark(user))).toBe(true);
    expect((await user.ramet(['trust', '--show'])).stdout).toContain('is not trusted');
  });

  test('of another repository at the same path do not run', async ({ user }) => {
    hook(user, { Stop: command(`touch ${mark(user)}`) });
    await user.ramet(['trust']);
    rmSync(join(user.repository, '.git'), { recursive: true });
    git(user.repository, 'init', '-q');
    await user.model(done);
    await user.ramet(['-p', 'x']);
    expect(existsSync(mark(user))).toBe(false);
  });

  test('run in a worktree of a trusted repository, as far as they are the same', async ({ user }) => {
    hook(user, { Stop: command('touch "$CLAUDE_PROJECT_DIR"/stopped') });
    git(user.repository, 'add', '-A');
    git(user.repository, 'commit', '-qm', 'hooks');
    await user.ramet(['trust']);
    const tree = join(user.root, 'tree');
    git(user.repository, 'worktree', 'add', '-q', tree);
    await user.emulate({ respond: () => done });
    await user.ramet(['-p', 'x'], { cwd: tree });
    expect(existsSync(join(tree, 'stopped'))).toBe(true);
    rmSync(join(tree, 'stopped'));
    writeFileSync(
      join(tree, '.claude/settings.json'),
      JSON.stringify({ hooks: { Stop: command('touch stopped') } }),
    );
    await user.ramet(['-p', 'x'], { cwd: tree });
    expect(existsSync(join(tree, 'stopped'))).toBe(false);
  });

  test('an agent file that changed after trust is not used', async ({ user }) => {
    const file = (prompt: string) => ({
      'work/.claude/agents/rev.md': `---\nname: rev\ndescription: reviews\n---\n${prompt}`,
    });
    writeFiles(user.root, file('one'));
    await user.ramet(['trust']);
    expect((await user.ramet(['agents'])).stdout).toContain('rev');
    writeFiles(user.root, file('two'));
    expect((await user.ramet(['agents'])).stdout + (await user.ramet(['agents'])).stderr).toContain(
      'it is not what you trusted',
    );
  });
});
