import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const touch = (user: User, name: string): string => `touch ${join(user.root, name)}`;
const ran = (user: User, name: string): boolean => existsSync(join(user.root, name));
const call = (name: string, input: Record<string, unknown>): Answer => ({ tool_use: [{ name, input }] });

/** One part of a repository, what makes it act, and how it changes after trust. */
interface Part {
  readonly files: (user: User) => Record<string, string>;
  readonly changed: (user: User) => Record<string, string>;
  readonly args?: readonly string[];
  readonly turns?: (user: User) => readonly Answer[];
  /** What is said when it changed. */
  readonly says: RegExp;
}

const skill = (body: string, allowed: string): string =>
  `---\nname: build\ndescription: Builds.\nallowed-tools: ${allowed}\n---\n${body}\n`;

const PARTS: Record<string, Part> = {
  'the text of a skill': {
    files: () => ({ '.claude/skills/build/SKILL.md': skill('Build it.', 'Bash(touch:*)') }),
    changed: () => ({ '.claude/skills/build/SKILL.md': skill('Build it.', 'Bash(touch:*), Bash(rm:*)') }),
    turns: (user) => [
      call('Skill', { skill: 'build' }),
      call('Bash', { command: touch(user, 'acted') }),
      { text: 'ok' },
    ],
    says: /1 skill or command of this repository, not what you trusted: not in use/,
  },
  'a script of a skill': {
    files: (user) => ({
      '.claude/skills/build/SKILL.md': skill('Build it. !`bash .claude/skills/build/x.sh`', 'Bash'),
      '.claude/skills/build/x.sh': touch(user, 'acted'),
    }),
    changed: (user) => ({ '.claude/skills/build/x.sh': `${touch(user, 'acted')}\n# more\n` }),
    turns: () => [call('Skill', { skill: 'build' }), { text: 'ok' }],
    says: /it is not what you trusted/,
  },
  'a link in a skill': {
    files: (user) => ({
      '.claude/skills/build/SKILL.md': skill(`Build it. !\`${touch(user, 'acted')}\``, 'Bash'),
    }),
    changed: () => ({ '.claude/skills/build/out': '-> /etc' }),
    turns: () => [call('Skill', { skill: 'build' }), { text: 'ok' }],
    says: /it is not what you trusted/,
  },
  'the text of a command': {
    files: (user) => ({ '.claude/commands/ship.md': command(`!\`${touch(user, 'acted')}\` Ship.`) }),
    changed: (user) => ({ '.claude/commands/ship.md': command(`!\`${touch(user, 'acted')}\` Ship it.`) }),
    args: ['-p', '/ship'],
    says: /1 skill or command of this repository, not what you trusted/,
  },
  'a script that a command names': {
    files: (user) => ({
      '.claude/commands/ship.md': command('!`bash tools/ship.sh` Ship.'),
      'tools/ship.sh': touch(user, 'acted'),
    }),
    changed: (user) => ({ 'tools/ship.sh': `${touch(user, 'acted')}\n# more\n` }),
    args: ['-p', '/ship'],
    says: /it is not what you trusted/,
  },
  'the code of a plugin': {
    files: (user) => ({
      '.ramet/settings.json': json({ plugins: ['tools/plug'] }),
      'tools/plug/commands/ship.md': command(`!\`${touch(user, 'acted')}\` Ship.`),
    }),
    changed: () => ({ 'tools/plug/other.js': 'x' }),
    args: ['-p', '/plug:ship'],
    says: /tools\/plug: its plugin is not what you trusted and does not run/,
  },
  'a rule that allows': {
    files: () => ({ '.ramet/settings.json': json({ permissions: { allow: ['Bash(touch:*)'] } }) }),
    changed: () => ({
      '.ramet/settings.json': json({ permissions: { allow: ['Bash(touch:*)', 'Bash(rm:*)'] } }),
    }),
    turns: (user) => [call('Bash', { command: touch(user, 'acted') }), { text: 'ok' }],
    says: /not what you trusted, so not applied \(ramet trust shows the difference\): permissions\.allow/,
  },
  'a script of a hook': {
    files: (user) => ({
      '.claude/settings.json': json({
        hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'bash tools/hook.sh' }] }] },
      }),
      'tools/hook.sh': touch(user, 'acted'),
    }),
    changed: (user) => ({ 'tools/hook.sh': `${touch(user, 'acted')}\n# more\n` }),
    says: /its set of hooks is not what you trusted and does not run/,
  },
  'the setup command of worktrees': {
    files: (user) => ({ '.ramet/settings.json': json({ worktree: { setup: touch(user, 'acted') } }) }),
    changed: (user) => ({
      '.ramet/settings.json': json({ worktree: { setup: `${touch(user, 'acted')} ;` } }),
    }),
    args: ['-p', 'x', '--worktree'],
    says: /its setup command is not what you trusted and does not run/,
  },
  'an MCP server': {
    files: (user) => ({ '.mcp.json': json({ mcpServers: { s: server(touch(user, 'acted')) } }) }),
    changed: (user) => ({
      '.mcp.json': json({ mcpServers: { s: server(`${touch(user, 'acted')}; true`) } }),
    }),
    turns: () => [call('McpSearch', { query: '*' }), { text: 'ok' }],
    says: /s \(ramet trust\)|not started/,
  },
};

function command(text: string): string {
  return `---\nallowed-tools: Bash\n---\n${text}\n`;
}

function server(script: string): Record<string, unknown> {
  return { command: 'bash', args: ['-c', `${script}; cat`] };
}

async function runPart(user: User, { args = ['-p', 'x'], turns }: Part): Promise<string> {
  const answers = turns?.(user) ?? [{ text: 'ok' }];
  const emulator = await user.emulate({ respond: ({ turn }) => answers[turn] ?? { text: 'ok' } });
  const { stderr, stdout } = await user.ramet([...args]);
  return [stderr, stdout, ...toolResults(emulator).map(({ text }) => text)].join('\n');
}

/** A text that begins with an arrow is a link. */
function place(user: User, files: Record<string, string>): void {
  const isLink = ([, text]: readonly [string, string]): boolean => text.startsWith('-> ');
  const all = Object.entries(files);
  writeFiles(user.repository, Object.fromEntries(all.filter((one) => !isLink(one))));
  for (const [path, text] of all.filter(isLink)) symlinkSync(text.slice(3), join(user.repository, path));
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'parts');
}

describe.concurrent('SEC-1: what a repository brings', () => {
  test.for(Object.entries(PARTS))(
    '%s: nothing before trust, something after, and nothing once it has changed',
    async ([, part], { user }) => {
      place(user, part.files(user));
      await runPart(user, part);
      expect(ran(user, 'acted')).toBe(false);
      expect((await user.ramet(['trust'])).code).toBe(0);
      await runPart(user, part);
      expect(ran(user, 'acted')).toBe(true);
    },
  );

  test.for(Object.entries(PARTS))('%s that changed asks again', async ([, part], { user }) => {
    place(user, part.files(user));
    expect((await user.ramet(['trust'])).code).toBe(0);
    place(user, part.changed(user));
    expect(await runPart(user, part)).toMatch(part.says);
    expect(ran(user, 'acted')).toBe(false);
    const shown = await user.ramet(['trust', '--show']);
    expect(shown.stdout).toMatch(/^changed /m);
    expect(shown.stdout).toContain('but not for what is new or changed above: run ramet trust again');
    await user.ramet(['trust']);
    await runPart(user, part);
    expect(ran(user, 'acted')).toBe(true);
  });

  test('that is new after trust is not used', async ({ user }) => {
    await user.ramet(['trust']);
    const part = PARTS['the text of a skill'];
    if (part === undefined) throw new Error('no part');
    place(user, part.files(user));
    expect(await runPart(user, part)).toMatch(part.says);
    expect(ran(user, 'acted')).toBe(false);
  });

  test('a hook that an agent rewrites does not run again, and the call it checks is refused', async ({
    user,
  }) => {
    const hook = { type: 'command', command: 'bash tools/check.sh' };
    place(user, {
      '.claude/settings.json': json({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } }),
      'tools/check.sh': 'exit 0\n',
    });
    await user.ramet(['trust']);
    const emulator = await user.model(
      call('Read', { file_path: join(user.repository, 'tools/check.sh') }),
      call('Edit', {
        file_path: join(user.repository, 'tools/check.sh'),
        old_string: 'exit 0',
        new_string: touch(user, 'acted'),
      }),
      call('Bash', { command: 'echo hello' }),
      { text: 'ok' },
    );
    await user.ramet(['-p', 'x', '--permission-mode', 'bypassPermissions']);
    const results = toolResults(emulator);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    const last = results.at(-1);
    expect(last?.text).toContain(
      'a hook that checks this call did not run: tools/check.sh is not what you trusted',
    );
    expect(ran(user, 'acted')).toBe(false);
  });

  test('a branch with another setup script does not run it in its worktree', async ({ user }) => {
    place(user, {
      '.ramet/settings.json': json({ worktree: { setup: 'bash tools/setup.sh' } }),
      'tools/setup.sh': 'true\n',
    });
    git(user.repository, 'checkout', '-qb', 'other');
    place(user, { 'tools/setup.sh': touch(user, 'acted') });
    git(user.repository, 'checkout', '-q', '-');
    await user.ramet(['trust']);
    await user.model({ text: 'ok' });
    await user.ramet(['-p', 'x', '--worktree', '--worktree-base', 'other']);
    expect(ran(user, 'acted')).toBe(false);
  });

  test('what the user allows at a question stays allowed in a trusted folder', async ({ user }) => {
    await user.ramet(['trust']);
    const saved = await import('../../src/sdk/calls/allow-rules.ts');
    await saved.saveAllowRules('project', ['Bash(touch:*)'], { cwd: user.repository, env: user.env });
    await user.model(call('Bash', { command: touch(user, 'acted') }), { text: 'ok' });
    const { stderr } = await user.ramet(['-p', 'x']);
    expect(stderr).not.toContain('not what you trusted');
    expect(ran(user, 'acted')).toBe(true);
  });
});
