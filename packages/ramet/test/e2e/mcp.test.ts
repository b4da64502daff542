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

describe.concurrent('EXT-4: what servers offer, at the prompt', () => {
  const search = { tool_use: [{ name: 'McpSearch', input: { query: '*' } }] };

  test('a resource is completed behind @ once it is known, and attached', async ({ user }) => {
    const emulator = await user.model(search, { text: 'found them' }, { text: 'read it' });
    await using terminal = startOnTerminal(user, [...ALLOWED, ...config(user, 'good')]);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('found them');
    terminal.type('see @line');
    await terminal.shows('@line:note://one');
    terminal.type('\t');
    await terminal.shows(/> see @line:note:\/\/one/);
    terminal.type('\r');
    await terminal.shows('attached line:note://one');
    await terminal.shows('read it');
    const sent = JSON.stringify(emulator.requests.at(-1)?.request?.messages);
    expect(sent).toContain('The user attached a resource of an MCP server.');
    expect(sent).toContain('about note://one');
  });

  test('a resource that is not there is one line, and the prompt comes back', async ({ user }) => {
    await user.model({ text: 'never' });
    await using terminal = startOnTerminal(user, [...ALLOWED, ...config(user, 'crash')]);
    await terminal.shows(/^>/m);
    terminal.type('see @line:note://one now\r');
    await terminal.shows(/@line:note:\/\/one: the MCP server line did not start: it ended with code 1/);
    await terminal.shows(/^> see @line:note:\/\/one now/m);
    expect(terminal.screen).not.toContain('never');
  });

  test('a prompt of a server is in the list behind the slash, with its arguments', async ({ user }) => {
    const emulator = await user.model(search, { text: 'found them' }, { text: 'greeted' });
    await using terminal = startOnTerminal(user, [...ALLOWED, ...config(user, 'good')]);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('found them');
    terminal.type('/mcp');
    await terminal.shows(/\/mcp__line__greet .*<who>.*Greets/);
    terminal.type('\t');
    await terminal.shows('> /mcp__line__greet');
    terminal.type('Ada\r');
    await terminal.shows('greeted');
    expect(JSON.stringify(emulator.requests.at(-1)?.request?.messages)).toContain('Greet Ada.');
  });
});
