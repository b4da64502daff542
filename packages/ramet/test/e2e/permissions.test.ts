import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { linesOf } from '../fixtures/command.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults } from '../fixtures/user.ts';

const bash = (command: string) => ({ tool_use: [{ name: 'Bash', input: { command } }] });
const write = (file_path: string) => ({ tool_use: [{ name: 'Write', input: { file_path, content: 'x' } }] });

describe.concurrent('RES-3: permissions in ramet -p', () => {
  // The other modes are in `decide.test.ts`: each costs a start of the command.
  test.for(['default', 'plan'])(
    'what only reads runs without a question in mode %s',
    async (mode, { user }) => {
      const emulator = await user.model(bash('git status --short && ls | wc -l'), { text: 'done' });
      const end = await user.ramet(['-p', 'look', '--permission-mode', mode]);
      expect(end).toMatchObject({ code: 0, stderr: '' });
      expect(toolResults(emulator)).toEqual([
        { text: expect.not.stringContaining('permitted'), isError: false },
      ]);
    },
  );

  test('what needs a question is denied with its reason and with what would allow it', async ({ user }) => {
    const emulator = await user.model(bash('git status; touch made'), { text: 'done' });
    const end = await user.here(['-p', 'go', '--output-format', 'json']);
    expect(end.code).toBe(0);
    expect(end.stderr).toMatch(
      /^ramet: denied: Bash git status; touch made: it runs touch made, .*--allowedTools.*\n$/,
    );
    expect(JSON.parse(end.stdout)).toMatchObject({
      subtype: 'success',
      permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'git status; touch made' } }],
    });
    const [result] = toolResults(emulator);
    expect(result?.isError).toBe(true);
    expect(result?.text).toMatch(
      /^Bash is not permitted: it runs touch made, and nobody can be asked in this run/,
    );
    expect(result?.text).toContain(
      '--allowedTools "Bash(touch made)" or --permission-mode bypassPermissions',
    );
    expect(existsSync(join(user.repository, 'made'))).toBe(false);
    const { stdout } = await user.here(['logs']);
    expect(stdout).toContain('permission asked: Bash git status; touch made');
    expect(stdout).toContain('permission denied: nobody can be asked in this run');
  });

  test('--allowedTools lets it pass, and only it', async ({ user }) => {
    const emulator = await user.model(bash('touch made'), bash('touch other; rm README.md'), {
      text: 'done',
    });
    await user.here([
      '-p',
      'go',
      '--allowedTools',
      'Bash(touch:*),Edit(src/**)',
      '--allowedTools',
      'WebFetch',
    ]);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, true]);
    expect(existsSync(join(user.repository, 'made'))).toBe(true);
    expect(existsSync(join(user.repository, 'README.md'))).toBe(true);
  });

  test('--disallowedTools holds in bypassPermissions too', async ({ user }) => {
    const emulator = await user.model(bash('cd . && env X=1 /bin/rm README.md'), { text: 'done' });
    await user.here([
      '-p',
      'go',
      '--permission-mode',
      'bypassPermissions',
      '--disallowedTools',
      'Bash(rm:*)',
    ]);
    expect(toolResults(emulator)[0]?.text).toContain('denied by the rule Bash(rm:*)');
    expect(existsSync(join(user.repository, 'README.md'))).toBe(true);
  });

  test.for([
    ['ramet/settings.json', [], /in \S*\/ramet\/settings\.json\. /],
    ['home/.claude/settings.json', [], / in ~\/\.claude\/settings\.json\. /],
    ['work/.ramet/settings.json', [], / in \.ramet\/settings\.json\. /],
    ['work/.ramet/settings.local.json', [], / in \.ramet\/settings\.local\.json\. /],
    ['managed/settings.json', [], /in \S*\/managed\/settings\.json\. /],
    ['other.json', ['--settings', '../other.json'], /in \S*\/other\.json\. /],
    [null, ['--settings', JSON.stringify({ permissions: { deny: ['Bash(touch:*)'] } })], / in --settings\. /],
    [null, ['--disallowedTools', 'Bash(touch:*)'], / in the options\. /],
  ] as const)('a refusal names where its rule is: %s %j', async ([file, flags, place], { user }) => {
    if (file !== null)
      writeFiles(user.root, { [file]: JSON.stringify({ permissions: { deny: ['Bash(touch:*)'] } }) });
    const emulator = await user.model(bash('touch made'), { text: 'done' });
    const args = ['-p', 'go', '--disallowedTools', 'Bash(rm:*)', ...flags];
    await user.here(args, { env: { RAMET_MANAGED_DIR: join(user.root, 'managed') } });
    expect(toolResults(emulator)[0]?.text).toMatch(place);
  });

  test('rules of folders above hold in bypassPermissions too, those that ask as refusals', async ({
    user,
  }) => {
    const cwd = join(user.repository, 'sub/deep');
    mkdirSync(cwd, { recursive: true });
    mkdirSync(join(user.repository, 'sub/.claude'));
    const rules = { permissions: { deny: ['Edit(../../README.md)'], ask: ['Bash(touch:*)'] } };
    writeFileSync(join(user.repository, 'sub/.claude/settings.json'), JSON.stringify(rules));
    const emulator = await user.model(bash('rm ../../README.md'), bash('touch made'), { text: 'done' });
    const args = ['-p', 'go', '--permission-mode', 'bypassPermissions', '--output-format', 'json'];
    const end = await user.here(args, { cwd });
    expect(JSON.parse(end.stdout).permission_denials).toHaveLength(2);
    const texts = toolResults(emulator).map(({ text }) => text);
    expect(texts[0]).toContain('denied by the rule Edit(../../README.md) in sub/.claude/settings.json');
    expect(texts[1]).toContain(
      'the rule Bash(touch:*) in sub/.claude/settings.json asks, and nobody can be asked',
    );
    expect(texts[1]).toContain('removing the rule Bash(touch:*)');
    expect(existsSync(join(user.repository, 'README.md'))).toBe(true);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test('acceptEdits writes inside the working directory, and nowhere else', async ({ user }) => {
    const outside = join(user.root, 'outside.txt');
    const answers = [
      write('inside.txt'),
      write(outside),
      bash(`echo x > ${outside}`),
      bash('echo y > shell.txt'),
    ];
    const emulator = await user.model(...answers, write('.git/hooks/post-checkout'), { text: 'done' });
    await user.here(['-p', 'go', '--permission-mode', 'acceptEdits']);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([false, true, true, false, true]);
    expect(existsSync(outside)).toBe(false);
    expect(readFileSync(join(user.repository, 'shell.txt'), 'utf8')).toBe('y\n');
  });

  test.for<[string[], string]>([
    [
      ['--allowedTools', 'Bash(npm test && rm x)'],
      'the allow rule "Bash(npm test && rm x)" in the options can never match',
    ],
    [['--disallowedTools', 'bash'], 'there is no tool bash; write Bash'],
    [['--allowedTools', 'Edit(src/{a)'], 'cannot be read'],
    [['--allowedTools', ' , '], 'It names no rule.'],
  ])(
    'a rule that protects nothing is refused before anything is sent: %j',
    async ([flags, message], { user }) => {
      const emulator = await user.model({ text: 'never' });
      const end = await user.here(['-p', 'x', ...flags]);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(linesOf(end.stderr)).toEqual([expect.stringContaining(message)]);
      expect(emulator.requests).toHaveLength(0);
    },
  );
});

describe.concurrent('SEC-1: a hostile repository', () => {
  test('a repository inside the repository does not get its git configuration run', async ({ user }) => {
    const nested = join(user.repository, 'vendor');
    mkdirSync(join(nested, 'objects'), { recursive: true });
    mkdirSync(join(nested, 'refs'));
    writeFileSync(join(nested, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      join(nested, 'config'),
      `[core]\n\tfsmonitor = touch ${user.root}/owned\n\tbare = false\n\tworktree = .\n`,
    );
    const emulator = await user.model(bash('cd vendor && git status'), bash('git -C vendor status'), {
      text: 'done',
    });
    await user.here(['-p', 'look']);
    expect(toolResults(emulator).map(({ isError }) => isError)).toEqual([true, true]);
    expect(existsSync(join(user.root, 'owned'))).toBe(false);
  });

  test('ramet trust trusts a root by name, says so, and takes it back', async ({ user }) => {
    const run = async (...args: string[]) => (await user.here(['trust', ...args])).stdout;
    expect(await run('--show')).toBe(`${user.repository} is not trusted\n`);
    expect(await run()).toContain(`${user.repository} is trusted`);
    expect(await run('--show')).toBe(`${user.repository} is trusted\n`);
    expect(await run('--revoke')).toBe(`${user.repository} is no longer trusted\n`);
    expect(await run('--revoke')).toBe(`${user.repository} was not trusted\n`);
  });
});
