import { describe, expect } from 'vitest';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, type User } from '../fixtures/user.ts';

function define(user: User, name: string, fields: string): void {
  writeFiles(user.root, {
    [`home/.claude/agents/${name}.md`]: `---\nname: ${name}\ndescription: d\n${fields}---\nYou are ${name}.`,
  });
}

const spawn = (type: string) => ({
  tool_use: [{ name: 'Agent', input: { prompt: 'child task', description: 'd', subagent_type: type } }],
});
const bash = (command: string) => ({ tool_use: [{ name: 'Bash', input: { command } }] });

describe.concurrent('TYPE-3: an agent file', () => {
  test.for(['in-process', 'process'])(
    'RES-3: limits its agents, and their children, to the calls it names: %s',
    async (executor, { user }) => {
      const seen: string[] = [];
      await user.emulate({
        respond: ({ opening, turn, lastToolResult }) => {
          if (lastToolResult !== '') seen.push(lastToolResult);
          if (opening.includes('You are reader.'))
            return [
              bash('git status'),
              bash('git log -1 --format=%s'),
              spawn('general-purpose'),
              { text: 'read' },
            ][turn];
          if (opening.includes('child task')) return [bash('git status'), { text: 'looked' }][turn];
          return [spawn('reader'), { text: 'ok' }][turn];
        },
      });
      define(user, 'reader', `tools: Bash(git log:*), Agent\nexecutor: ${executor}\n`);
      expect((await user.ramet(['-p', 'x', '--allowedTools', 'Bash(git:*)'])).code).toBe(0);
      expect(seen.filter((text) => text.includes('may use only Bash(git log:*)'))).toHaveLength(2);
    },
  );

  test('EXT-3: gives its agents the skills it names, and says which are missing', async ({ user }) => {
    const emulator = await user.emulate({
      respond: ({ opening, turn }) =>
        opening.includes('You are taught.') ? { text: 'ok' } : [spawn('taught'), { text: 'ok' }][turn],
    });
    writeFiles(user.root, {
      'home/.claude/skills/craft/SKILL.md': '---\ndescription: d\n---\nSand before paint.',
    });
    define(user, 'taught', 'tools: Read\nskills: craft, gone\n');
    await user.ramet(['-p', 'x']);
    const child = emulator.requests.find(({ request }) =>
      JSON.stringify(request?.system).includes('You are taught.'),
    );
    expect(JSON.stringify(child?.request?.messages[0])).toContain('Sand before paint.');
    expect((await user.ramet(['logs'])).stdout).toContain('the skill gone of its type was not loaded');
  });
});
