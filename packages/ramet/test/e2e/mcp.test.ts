import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { LINE_SERVER } from '../fixtures/mcp/servers.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, toolResults, type User } from '../fixtures/user.ts';

const ALLOWED = ['--allowedTools', 'mcp__line'];
const echo = {
  tool_use: [{ name: 'McpCall', input: { tool: 'mcp__line__echo', arguments: { text: 'x' } } }],
};

/** A file for `--mcp-config`. */
function config(user: User, manner: string): string[] {
  const mcpServers = { line: { command: process.execPath, args: [LINE_SERVER, manner] } };
  writeFiles(user.root, { 'mcp.json': JSON.stringify({ mcpServers }) });
  return ['--mcp-config', join(user.root, 'mcp.json')];
}

/** The seconds of the turn went on, twice: an Enter that comes too soon after a letter is part of a paste, and sends nothing. */
async function ticked(terminal: { readonly screen: string }): Promise<void> {
  const time = (): string | undefined => /([\d.]+) s mcp__/.exec(terminal.screen)?.[1];
  for (let count = 0; count < 2; count += 1) {
    const before = time();
    await eventually(() => time() !== before);
  }
}

describe.concurrent('EXT-4: a question of a server', () => {
  test('is declined with a line where nobody is there', async ({ user }) => {
    const emulator = await user.model(echo, { text: 'ok' });
    const end = await user.ramet(['-p', 'x', ...ALLOWED, ...config(user, 'elicit')]);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('the MCP server line asked something, and was declined: Which colour?');
    expect(toolResults(emulator)[0]?.text).toContain('"action":"decline"');
  });

  test('is filled in on a terminal', async ({ user }) => {
    const emulator = await user.model(echo, { text: 'all done' });
    await using terminal = startOnTerminal(user, [...ALLOWED, ...config(user, 'elicit')]);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('the MCP server "line" asks');
    await terminal.shows('Tab answer');
    terminal.type('\t');
    await terminal.shows('Enter: answer it');
    terminal.type('\r');
    await terminal.shows('colour (text)');
    terminal.type('green');
    await terminal.shows('colour: green');
    await ticked(terminal);
    terminal.type('\r');
    await terminal.shows('Enter: send to "line"');
    await ticked(terminal);
    terminal.type('\r');
    await terminal.shows('all done');
    expect(toolResults(emulator)[0]?.text).toContain('"colour":"green"');
  });
});
