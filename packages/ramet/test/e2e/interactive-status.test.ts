import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually, isRunning } from '../fixtures/command.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

function withStatusLine(user: User, command: string, file = join(user.rametHome, 'settings.json')): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, JSON.stringify({ statusLine: { type: 'command', command, padding: 1 } }));
}

describe.concurrent('UI-3: a status line that a command supplies', () => {
  test('shows what the command prints of the session, follows it, and gives way to a hint', async ({
    user,
  }) => {
    await user.model({ text: 'Hello.' });
    const told = join(user.root, 'told.json');
    withStatusLine(
      user,
      `cat > '${told}.new'; mv '${told}.new' '${told}'; printf '\\033[32mturns %s\\033[2J\\nsecond\\n' "$(grep -o '"turns":[0-9]*' '${told}')"`,
    );
    await using terminal = startOnTerminal(user, ['--model', 'sonnet']);
    await terminal.shows(/^>\n turns "turns":0\n second$/m);
    expect(terminal.bytes).toContain('\u001b[32mturns');
    terminal.type('hi\r');
    await terminal.shows(/Hello\.\n>\n turns "turns":1\n second/);
    expect(JSON.parse(readFileSync(told, 'utf8'))).toMatchObject({
      session_id: user.sessions()[0],
      cwd: user.repository,
      workspace: { project_dir: user.repository },
      model: { id: expect.stringContaining('sonnet') },
      cost: { total_cost_usd: expect.any(Number) },
      context_window: { used_percentage: expect.any(Number) },
    });
    terminal.type(CTRL_C);
    await terminal.shows(/^>\nCtrl-C again to leave$/m);
    terminal.type('x');
    await terminal.shows(/^> x\n turns/m);
    terminal.type(`\u0015${CTRL_D}`);
    expect(await terminal.ended).toBe(0);
    await using small = startOnTerminal(user, ['--continue'], { columns: 40, rows: 10 });
    await small.shows(/^>\n turns "turns":1$/m);
    expect(small.screen).not.toContain('second');
  });

  test('a command that hangs blocks no key, and ends with the session', async ({ user }) => {
    const pid = join(user.root, 'pid');
    withStatusLine(user, `echo $$ > '${pid}'; exec sleep 1000`);
    await using terminal = startOnTerminal(user, ['--model', 'sonnet']);
    await eventually(() => existsSync(pid) && readFileSync(pid, 'utf8').endsWith('\n'));
    terminal.type('typed meanwhile');
    await terminal.shows(/^> typed meanwhile\ndefault · \S*sonnet\S* · \$/m);
    terminal.type(`\u0015${CTRL_D}`);
    expect(await terminal.ended).toBe(0);
    await eventually(() => !isRunning(Number(readFileSync(pid, 'utf8'))));
  });

  test('SEC-1: a command of the repository runs only once the folder is trusted', async ({ user }) => {
    await user.model({ text: 'Hello.' });
    withStatusLine(user, 'echo of the folder', join(user.repository, '.ramet/settings.json'));
    await using terminal = startOnTerminal(user, [], { columns: 300 });
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows(/not applied before you trust this folder \(ramet trust\): statusLine/);
    await terminal.shows(/Hello\.\n>.*\n.* tokens/);
    expect(terminal.screen).not.toContain('of the folder');
    terminal.type(CTRL_D);
    await terminal.ended;
    await user.ramet(['trust']);
    await using trusted = startOnTerminal(user, []);
    await trusted.shows(/^>\n of the folder$/m);
  });
});
