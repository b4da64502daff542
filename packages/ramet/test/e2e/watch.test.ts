import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { fanOut } from '../fixtures/fan-out.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { isReading, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const FRESH = { subagent_type: 'general-purpose' };
const GATED = 'until test -e go; do sleep 0.05; done; echo done';

async function working(user: User): Promise<() => void> {
  await user.emulate({ respond: fanOut({ children: 2, input: FRESH, command: GATED }) });
  user.start(['-p', 'go', ...BYPASS]);
  await eventually(async () => {
    const { stdout } = await user.here(['ps', '--json']);
    return stdout.split('"kind":"tools"').length > 3;
  });
  return () => writeFileSync(join(user.repository, 'go'), '');
}

describe.concurrent('UI-1: ramet watch', () => {
  test('shows agents and answers of another process on a terminal, and ends with the session', async ({
    user,
  }) => {
    const letGo = await working(user);
    await using terminal = startOnTerminal(user, ['watch']);
    const [session = ''] = user.sessions();
    await terminal.shows(`watching session ${session}`);
    await terminal.shows(/> go\n\nI hand it out\.\n/);
    await terminal.shows(/\.2 task 1 .*Bash until.*\n {2}\.3 task 2 .*Bash until.*\nq: leave\n\S+ · \$/);
    letGo();
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen).toMatch(/✓ \.2 general-purpose task 1: done \(2 turns, /);
    expect(terminal.screen).toMatch(/All reports are in\.\n(.*\n)*session \w+ has ended: done \(\$/);
    expect(terminal.screen).not.toContain('q: leave');
  });

  test('q leaves at 40 columns by 10 rows and touches nothing', async ({ user }) => {
    const letGo = await working(user);
    await using terminal = startOnTerminal(user, ['watch'], { columns: 40, rows: 10 });
    await terminal.shows(/^ +\.2 .*\n(.*\n)*q: leave$/m);
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    const { stdout } = await user.here(['ps', '--json']);
    expect(JSON.parse(stdout)[0]).toMatchObject({ status: 'waiting' });
    letGo();
  });

  test('prints lines without a terminal, events with --json, and the end of one that is over', async ({
    user,
  }) => {
    const letGo = await working(user);
    const lines = user.start(['watch']);
    const events = user.start(['watch', '--json']);
    await eventually(() => lines.stdout.includes('I hand it out.') && isReading(events, user));
    await eventually(async () => {
      letGo();
      return /has ended/.test(lines.stdout);
    });
    expect(await lines.ended).toMatchObject({ code: 0 });
    expect(lines.stdout).toMatch(/→ \.2 general-purpose task 1\n(.*\n)*✓ \.3 .*: done/);
    expect(lines.stdout).toMatch(/All reports are in\.\n(.*\n)*session \w+ has ended: done/);
    const { code, stdout } = await events.ended;
    expect(code).toBe(0);
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toContain('agent.ended');
    expect(types).not.toContain('session.started');
    const after = await user.ramet(['watch', ...user.sessions()]);
    expect(after).toMatchObject({ code: 0, stderr: '' });
    expect(after.stdout).toMatch(/All reports are in\.\n(.*\n)*session \w+ has ended: done/);
    expect(await user.here(['watch', 'zzzz'])).toMatchObject({ code: 2 });
  });
});
