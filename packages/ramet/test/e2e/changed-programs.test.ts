import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import { LINE_SERVER } from '../fixtures/mcp/servers.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const done = { text: 'done' };
const call = (name: string, input: Record<string, unknown>): Answer => ({ tool_use: [{ name, input }] });
const hasEscaped = (user: User): boolean => existsSync(join(user.root, 'escaped'));
const acceptEdits = ['-p', 'GO', '--permission-mode', 'acceptEdits'];
const SERVER = 'srv/s.sh';
const good = `exec "${process.execPath}" "${LINE_SERVER}" "$1"\n`;
const NOT_TRUSTED = /s\.sh is not what you trusted/;

const evil = (user: User): string => `touch ${join(user.root, 'escaped')}; ${good}`;
const rewrite = (user: User): Answer[] => [
  call('Read', { file_path: SERVER }),
  call('Write', { file_path: SERVER, content: evil(user) }),
];

async function trusted(user: User, files: Record<string, string>, manner = 'good'): Promise<void> {
  const servers = { mcpServers: { s: { command: 'sh', args: [SERVER, manner] } } };
  writeFiles(user.repository, { [SERVER]: good, '.mcp.json': JSON.stringify(servers), ...files });
  git(user.repository, 'add', '-A');
  git(user.repository, 'commit', '-qm', 'server');
  await user.ramet(['trust']);
}

describe.concurrent('SEC-1: the program of an MCP server that an agent rewrites', () => {
  test('is not started', async ({ user }) => {
    await trusted(user, {});
    const emulator = await user.model(...rewrite(user), call('McpSearch', { query: '*' }), done);
    await user.ramet(acceptEdits);
    const results = toolResults(emulator);
    expect(results[1]?.isError).toBe(false);
    expect(results.at(-1)?.text).toMatch(NOT_TRUSTED);
    expect(hasEscaped(user)).toBe(false);
  });

  test('is not started again after it has ended', async ({ user }) => {
    await trusted(user, {}, 'crash-in-call');
    const turns = [
      call('McpSearch', { query: '*' }),
      call('McpCall', { tool: 'mcp__s__echo', arguments: { text: 'x' } }),
      ...rewrite(user),
      call('McpSearch', { query: '*' }),
      call('McpCall', { tool: 'mcp__s__echo', arguments: { text: 'x' } }),
    ];
    const emulator = await user.model(...turns, done);
    await user.ramet([...acceptEdits, '--allowedTools', 'mcp__s']);
    expect(toolResults(emulator)[0]?.text).toContain('mcp__s__');
    expect(toolResults(emulator).at(-1)?.text).toMatch(NOT_TRUSTED);
    expect(hasEscaped(user)).toBe(false);
  });
});

describe.concurrent('SEC-1: an agent file of a repository', () => {
  const rev = (fields: string): Record<string, string> => ({
    '.claude/agents/rev.md': `---\nname: rev\ndescription: x\n${fields}---\nREVIEW`,
  });
  const isChild = (request: unknown): boolean => JSON.stringify(request).includes('REVIEW');

  async function runChild(user: User, child: readonly Answer[]): Promise<string> {
    let [turn, calls] = [0, 0];
    let last = '';
    await user.emulate({
      respond: ({ request }) => {
        if (!isChild(request?.system))
          return calls++ === 0
            ? call('Agent', { description: 'd', prompt: 'T', subagent_type: 'rev' })
            : done;
        last = JSON.stringify(request?.messages.at(-1));
        return child[turn++] ?? done;
      },
    });
    await user.ramet(acceptEdits);
    expect(turn).toBe(child.length + 1);
    return last;
  }

  test('has its hooks run with trusted scripts only', async ({ user }) => {
    const fields = `hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: sh ${SERVER}\n`;
    await trusted(user, { ...rev(fields), [SERVER]: 'exit 0\n', '.mcp.json': '{}' });
    const last = await runChild(user, [...rewrite(user), call('Bash', { command: 'echo second' })]);
    expect(last).toMatch(NOT_TRUSTED);
    expect(hasEscaped(user)).toBe(false);
  });

  test('has its servers start with trusted programs only', async ({ user }) => {
    const fields = `mcpServers:\n  - own:\n      command: sh\n      args: [${SERVER}, good]\n`;
    await trusted(user, { ...rev(fields), '.mcp.json': '{}' });
    const last = await runChild(user, [...rewrite(user), call('McpSearch', { query: '*' })]);
    expect(last).toMatch(NOT_TRUSTED);
    expect(hasEscaped(user)).toBe(false);
  });

  test('keeps its servers while agents edit other files', async ({ user }) => {
    const fields = `mcpServers:\n  - own:\n      command: sh\n      args:\n        - ${SERVER}\n        - good\n`;
    await trusted(user, { ...rev(fields), '.mcp.json': '{}' });
    const edit = call('Write', { file_path: 'src/other.ts', content: 'export {};' });
    const last = await runChild(user, [edit, call('McpSearch', { query: '*' })]);
    expect(last).toContain('mcp__own__');
  });
});
