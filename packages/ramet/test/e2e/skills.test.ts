import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const skill = (name: string, body: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Use it for ${name}.\n${more}---\n${body}\n`;

function skillCall(name: string, args?: string) {
  return { tool_use: [{ name: 'Skill', input: { skill: name, ...(args !== undefined && { args }) } }] };
}

/** The skills of a user lie in `home/.claude/skills`. */
function userSkill(user: User, name: string, body: string, more = ''): void {
  writeFiles(user.root, { [`home/.claude/skills/${name}/SKILL.md`]: skill(name, body, more) });
}

async function trusted(user: User): Promise<void> {
  expect((await user.ramet(['trust'])).code).toBe(0);
}

describe.concurrent('EXT-3: skills', () => {
  test('are listed to the model in the Skill tool, loaded on demand, with their folder', async ({ user }) => {
    const emulator = await user.model(skillCall('release', 'v2 now'), { text: 'done' });
    userSkill(user, 'release', 'Tag $ARGUMENTS. See notes.md.');
    expect((await user.here(['-p', 'x'])).code).toBe(0);
    const tools = emulator.requests[0]?.request?.tools as { name: string; description: string }[];
    expect(tools.at(-1)?.name).toBe('Skill');
    expect(tools.at(-1)?.description).toContain('- release: Use it for release.');
    const [result] = toolResults(emulator);
    expect(result?.text).toBe(
      `Base directory of this skill: ${join(user.root, 'home/.claude/skills/release')}\n\nTag v2 now. See notes.md.`,
    );
  });

  test('change no byte of a prompt where there are none, or none for the model', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    await user.here(['-p', 'x']);
    userSkill(user, 'mine', 'Text.', 'disable-model-invocation: true\n');
    writeFiles(user.root, { 'home/.claude/commands/ship.md': 'Ship.' });
    await user.here(['-p', 'x']);
    const [before, after] = emulator.requests.map(({ request }) =>
      JSON.stringify([request?.tools, request?.system]),
    );
    expect(after).toBe(before);
  });

  test('SEC-1: of a repository count after trust, and what they allow does not beat a deny rule', async ({
    user,
  }) => {
    const emulator = await user.emulate({
      respond: ({ turn }) =>
        [
          skillCall('build'),
          { tool_use: [{ name: 'Bash', input: { command: 'touch made' } }] },
          { tool_use: [{ name: 'Bash', input: { command: 'touch kept' } }] },
          { text: 'ok' },
        ][turn],
    });
    const fields = 'allowed-tools: Bash(touch:*)\n';
    writeFiles(user.repository, { '.claude/skills/build/SKILL.md': skill('build', 'Build it.', fields) });
    const untrusted = await user.here(['-p', 'x']);
    expect(untrusted.stderr).toContain(
      '1 skill or command of this repository, which is not trusted: not in use',
    );
    expect(existsSync(join(user.repository, 'made'))).toBe(false);
    await trusted(user);
    await user.here(['-p', 'x', '--disallowedTools', 'Bash(touch kept)']);
    expect(existsSync(join(user.repository, 'made'))).toBe(true);
    expect(existsSync(join(user.repository, 'kept'))).toBe(false);
    expect(emulator.requests.length).toBeGreaterThan(4);
  });

  test('what one allows ends with the prompt', async ({ user }) => {
    await user.emulate({
      respond: ({ task, turn, lastToolResult }) => {
        if (task.includes('first') && turn === 0) return skillCall('build');
        if (task.includes('second') && lastToolResult === '')
          return { tool_use: [{ name: 'Bash', input: { command: 'touch late' } }] };
        return { text: 'ok' };
      },
    });
    userSkill(user, 'build', 'Build it.', 'allowed-tools: Bash(touch:*)\n');
    await user.here(['-p', 'first']);
    await user.here(['-p', 'second', '--continue']);
    expect(existsSync(join(user.repository, 'late'))).toBe(false);
  });

  test('what one disallows is refused in every mode', async ({ user }) => {
    const touch = (name: string) => ({ tool_use: [{ name: 'Bash', input: { command: `touch ${name}` } }] });
    await user.model(touch('before'), skillCall('look'), touch('early'), touch('late'), { text: 'ok' });
    userSkill(user, 'look', 'Look.', 'disallowed-tools: Bash(touch e*)\n');
    expect((await user.here(['-p', 'x', '--permission-mode', 'bypassPermissions'])).code).toBe(0);
    const made = ['before', 'early', 'late'].filter((name) => existsSync(join(user.repository, name)));
    expect(made).toEqual(['before', 'late']);
  });

  test('one whose limits cannot be read is not carried out', async ({ user }) => {
    const emulator = await user.model(skillCall('look'), { text: 'ok' });
    userSkill(user, 'look', 'Look.', 'disallowed-tools: "Write(src/{a)"\n');
    await user.here(['-p', 'x']);
    expect(toolResults(emulator)[0]).toMatchObject({ isError: true });
    expect(toolResults(emulator)[0]?.text).toContain('disallowed-tools: "Write(src/{a)"');
  });

  test('that do not exist are answered with the nearest name', async ({ user }) => {
    const emulator = await user.model(skillCall('relaese'), skillCall('zzz'), { text: 'ok' });
    userSkill(user, 'release', 'Text.');
    await user.here(['-p', 'x']);
    const [near, none] = toolResults(emulator).map(({ text }) => text);
    expect(near).toContain('did you mean release?');
    expect(none).toContain('the skills are release');
  });

  test('run their commands under permission: one that is refused loads nothing', async ({ user }) => {
    const emulator = await user.model(skillCall('look'), skillCall('make'), { text: 'ok' });
    userSkill(user, 'look', 'Branch: !`git branch --show-current`.');
    userSkill(user, 'make', 'Made: !`touch made`.');
    await user.here(['-p', 'x']);
    const [look, make] = toolResults(emulator);
    expect(look?.text).toMatch(/Branch: (main|master)\.$/);
    expect(make).toMatchObject({ isError: true });
    expect(make?.text).toContain('its command `touch made` failed');
    expect(existsSync(join(user.repository, 'made'))).toBe(false);
  });

  test('with context: fork are carried out by another agent', async ({ user }) => {
    const emulator = await user.emulate({
      respond: ({ opening, turn }) => {
        if (opening.includes('Look around.')) return { text: 'looked' };
        return turn === 0 ? skillCall('scout') : { text: 'ok' };
      },
    });
    userSkill(user, 'scout', 'Look around.', 'context: fork\nagent: Explore\n');
    await user.here(['-p', 'x']);
    expect(toolResults(emulator).at(-1)?.text).toContain('looked');
  });

  test('with context: fork are carried out by another agent also when a person types their name', async ({
    user,
  }) => {
    const emulator = await user.emulate({
      respond: ({ opening, task, turn }) => {
        if (opening.includes('Look at src now.')) return { text: 'looked' };
        const [, call] = /with exactly (\{[^}]*\})/.exec(task) ?? [];
        if (turn > 0 || call === undefined) return { text: 'ok' };
        return { tool_use: [{ name: 'Skill', input: JSON.parse(call) }] };
      },
    });
    userSkill(user, 'scout', 'Look at $ARGUMENTS.', 'context: fork\nagent: Explore\n');
    await user.here(['-p', '/scout src now']);
    expect(toolResults(emulator).at(-1)?.text).toContain('looked');
  });
});

describe.concurrent('EXT-3: commands', () => {
  test('are prompts with arguments, command output and files', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    writeFiles(user.root, {
      'home/.claude/commands/git/fix.md':
        '---\ndescription: fixes\nargument-hint: [issue]\n---\nFix $1 on !`git branch --show-current`, see @README.md.',
    });
    expect(await user.here(['-p', '/git:fix 7'])).toMatchObject({ code: 0, stdout: 'ok\n' });
    const sent = JSON.stringify(emulator.requests[0]?.request?.messages);
    expect(sent).toMatch(/Fix 7 on (main|master), see @README\.md\./);
    expect(sent).toContain('attached-file path=');
  });

  test('a prompt that only looks like one goes to the model as it is', async ({ user }) => {
    const emulator = await user.model({ text: 'ok' });
    writeFiles(user.root, { 'home/.claude/commands/ship.md': 'Ship.' });
    await user.here(['-p', '/etc/hosts is wrong']);
    expect(JSON.stringify(emulator.requests[0]?.request?.messages)).toContain('/etc/hosts is wrong');
  });

  test('of a repository that is not trusted are no commands', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    writeFiles(user.repository, { '.claude/commands/ship.md': 'Ship it: !`touch made`' });
    const untrusted = await user.here(['-p', '/ship']);
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toContain('trust');
    await trusted(user);
    const refused = await user.here(['-p', '/ship']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('/ship was not begun');
    expect(existsSync(join(user.repository, 'made'))).toBe(false);
    expect((await user.here(['-p', '/ship', '--allowedTools', 'Bash(touch:*)'])).code).toBe(0);
    expect(existsSync(join(user.repository, 'made'))).toBe(true);
    expect(emulator.requests).toHaveLength(1);
  });

  test('may name a model, for their prompt', async ({ user }) => {
    const emulator = await user.emulate({ respond: () => ({ text: 'ok' }) });
    writeFiles(user.root, { 'home/.claude/commands/quick.md': '---\nmodel: haiku\n---\nBe quick.' });
    await user.here(['-p', '/quick']);
    await user.here(['-p', 'more', '--continue']);
    const models = emulator.requests.map(({ request }) => request?.model);
    expect(models[0]).toContain('haiku');
    expect(models[1]).not.toContain('haiku');
  });
});

describe.concurrent('EXT-3: plugins', () => {
  test('bring skills, commands and agents under their name', async ({ user }) => {
    const emulator = await user.model(skillCall('kit:tidy'), { text: 'ok' });
    writeFiles(user.root, {
      'plug/.claude-plugin/plugin.json': JSON.stringify({ name: 'kit', commands: './more' }),
      'plug/skills/tidy/SKILL.md': skill('tidy', 'Tidy in ${CLAUDE_PLUGIN_ROOT}.'),
      'plug/more/go.md': 'Go.',
      'plug/agents/helper.md': '---\nname: helper\ndescription: helps\n---\nHelp.',
    });
    const plug = join(user.root, 'plug');
    expect((await user.here(['-p', '/kit:go', '--plugin-dir', plug])).code).toBe(0);
    const [first] = emulator.requests;
    const tools = JSON.stringify(first?.request?.tools);
    expect(tools).toContain('- kit:tidy: Use it for tidy.');
    expect(tools).toContain('- kit:helper: helps');
    expect(JSON.stringify(first?.request?.messages)).toContain('Go.');
    expect(toolResults(emulator)[0]?.text).toContain(`Tidy in ${plug}.`);
  });

  test('that are broken are named; a folder that is not there is a mistake', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    writeFiles(user.root, { 'plug/.claude-plugin/plugin.json': '{ "name": ' });
    const plug = join(user.root, 'plug');
    const broken = await user.here(['-p', 'x', '--plugin-dir', plug]);
    expect(broken).toMatchObject({ code: 0 });
    expect(broken.stderr).toContain('plugin.json: it is no valid JSON');
    expect((await user.here(['-p', 'x', '--plugin-dir', join(user.root, 'none')])).code).toBe(2);
  });

  test('EXT-1: managed policy can forbid those of others', async ({ user }) => {
    await user.emulate({ respond: () => ({ text: 'ok' }) });
    mkdirSync(join(user.root, 'plug'));
    writeFiles(user.root, { 'managed/settings.json': '{ "policy": { "plugins": "managed" } }' });
    const env = { RAMET_MANAGED_DIR: join(user.root, 'managed') };
    const end = await user.ramet(['-p', 'x', '--plugin-dir', join(user.root, 'plug')], { env });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('allows only its own plugins');
  });
});
