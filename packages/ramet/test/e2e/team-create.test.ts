/** Teams that are made and followed by command: `ramet team create`, `attach` and `show --watch`, and `/team`. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { isReading, test, type User } from '../fixtures/user.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

function withoutSandbox(user: User): void {
  mkdirSync(user.rametHome, { recursive: true });
  const settings = { sandbox: { readOnly: 'off', worktree: 'off' } };
  writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify(settings));
}

describe.concurrent('UI-1, TEAM-1: ramet team create', () => {
  test('makes a team with members that wait, asks no model, and refuses bad input before anything is made', async ({
    user,
  }) => {
    withoutSandbox(user);
    const emulator = await user.emulate({ respond: () => ({ text: 'Done.' }) });
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr, stdout } = await user.here(['team', 'create', ...args]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr.trimEnd()).toMatch(/^ramet: [^\n\p{Cc}]+$/u);
      return stderr;
    };
    expect(await refused('a/b')).toContain(`"a/b" cannot be a team's name: it is a path`);
    expect(await refused('crew', '--member', 'a\u001b[31m')).toContain('it has control characters');
    expect(await refused('crew', '--member', 'lead')).toContain('are reserved');
    expect(await refused('crew', '--member', 'ada', '--member', 'ADA')).toContain(
      'two members would be called "ada"',
    );
    expect(await refused('crew', '--member', 'ada:Explore')).toContain('"Explore" is no type of members');
    expect(await refused('crew', '--member', 'ada:')).toContain('has no type after the colon');
    expect(existsSync(user.project)).toBe(false);

    const made = await user.ramet(['team', 'create', 'crew', '--member', 'ada', '--member', 'bob', '--json']);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(made.stdout)).toMatchObject({
      ...{ name: 'crew', host: null, tasks: [] },
      members: [
        { name: 'lead' },
        { name: 'ada', agent: null, state: 'idle', type: 'teammate' },
        { name: 'bob' },
      ],
    });
    expect(emulator.requests).toEqual([]);
    // Nothing was at work, so nothing was interrupted.
    expect((await user.ramet(['ps'])).stdout).not.toContain('interrupted');
    expect(await refused('Crew')).toContain('this repository has a team "crew" already');
    expect((await user.here(['team', 'attach'])).stderr).toMatch(
      /^ramet: no process hosts the team "crew", and to open its lead here takes a terminal: ramet team resume crew /,
    );
    expect((await user.here(['team', 'attach', 'other'])).stderr).toBe(
      'ramet: there is no team "other"; the teams here are crew\n',
    );
    // Nobody has asked for anything: no model is paid for finding that out.
    const notHosted = await user.here(['team', 'attach', '--json']);
    expect(notHosted).toMatchObject({ code: 2, stdout: '' });
    expect(notHosted.stderr).toContain('there are no events to print');
    const idle = await user.here(['team', 'resume', 'crew']);
    expect(idle).toMatchObject({ code: 0, stdout: expect.stringContaining('ada') });
    expect(idle.stderr).toMatch(
      /^ramet: its lead has had no prompt yet: ramet -p --resume \w+ "\.\.\." gives its lead a prompt\n$/,
    );
    expect(emulator.requests).toEqual([]);
    // What is sent to members that have not begun wakes them when a process hosts the team. Other programs write by MCP.
    const served = user.start(['mcp', 'serve'], { stdin: null });
    const ask = async (id: number, method: string, params: object): Promise<{ result?: unknown }> => {
      served.type(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return eventually(() => {
        const lines = served.stdout.split('\n').filter((line) => line.includes(`"id":${id}`));
        return lines[0] !== undefined && JSON.parse(lines[0]);
      });
    };
    const clientInfo = { name: 'test', version: '1' };
    await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    served.type(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    expect(await ask(2, 'tools/call', { name: 'team_status', arguments: {} })).toMatchObject({
      result: { structuredContent: { name: 'crew', members: [{}, { name: 'ada' }, { name: 'bob' }] } },
    });
    const letter = { to: 'bob', text: 'say hello' };
    expect(await ask(3, 'tools/call', { name: 'team_send', arguments: letter })).toMatchObject({
      result: { structuredContent: { team: 'crew', to: ['bob'], isHosted: false } },
    });
    const unknown = { team: 'none', to: 'x', text: 'y' };
    expect(await ask(4, 'tools/call', { name: 'team_send', arguments: unknown })).toMatchObject({
      result: { isError: true, content: [{ text: 'there is no team "none"; the teams here are crew' }] },
    });
    served.kill('SIGTERM');
    await served.ended;
    const resumed = await user.ramet(['team', 'resume', 'crew']);
    expect(resumed).toMatchObject({ code: 0 });
    const asked = emulator.requests.map(({ request }) => JSON.stringify(request?.messages));
    expect(asked.filter((text) => text.includes('say hello'))).toHaveLength(1);
  });

  test('with a goal the lead works on it, and knows its members', async ({ user }) => {
    withoutSandbox(user);
    const emulator = await user.emulate({ respond: () => ({ text: 'All done.' }) });
    const six = ['ada', 'bob', 'cy', 'di', 'eve', 'fay'].flatMap((name) => ['--member', name]);
    const end = await user.ramet([
      'team',
      'create',
      'crew',
      ...six,
      'count',
      'the',
      'files',
      '--json',
      ...BYPASS,
    ]);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toContain('more than 5 members seldom pay');
    expect(JSON.parse(end.stdout)).toMatchObject({ result: 'All done.', is_error: false });
    expect(emulator.requests).toHaveLength(1);
    const text = JSON.stringify(emulator.requests[0]?.request?.messages);
    expect(text).toContain('count the files');
    expect(text).toContain('Members: ada (not begun, idle); bob (not begun, idle)');
  });
});

describe.concurrent('UI-1, TEAM-2: ramet team attach', () => {
  test('opens the lead here if nobody hosts the team, and /team shows the members', async ({ user }) => {
    withoutSandbox(user);
    await user.emulate({ respond: () => ({ text: 'I lead.' }) });
    await user.here(['team', 'create', 'crew', '--member', 'ada']);
    await using terminal = startOnTerminal(user, ['team', 'attach']);
    await terminal.shows(/^>/m);
    terminal.type('/team\r');
    await terminal.shows(
      /crew {2}session \w+ {2}process \d+\n(.*\n)*members\n {2}lead +idle.*\n {2}ada +idle +teammate/,
    );
    terminal.type('who are you?\r');
    await terminal.shows('I lead.');
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(0);
  });

  test('follows a team that another process hosts, with its tasks, and writes to lead and members', async ({
    user,
    onTestFinished,
  }) => {
    withoutSandbox(user);
    const over = Promise.withResolvers<{ text: string }>();
    onTestFinished(() => over.resolve({ text: 'The test is over.' }));
    const emulator = await user.emulate({
      respond: ({ turn, request }) => {
        if (JSON.stringify(request.messages[0]).includes('You were added')) return { text: 'Heard.' };
        if (turn > 0) return over.promise;
        const input = { subject: 'split the parser', description: '' };
        return { tool_use: [{ name: 'TaskCreate', input }] };
      },
    });
    const hosting = user.start(['team', 'create', 'crew', '--member', 'ada', 'go', ...BYPASS]);
    await eventually(() => emulator.requests.length >= 2);
    const follows = user.start(['team', 'show', '--watch', '--json']);
    const recorded = user.start(['team', 'attach', '--json']);
    await using terminal = startOnTerminal(user, ['team', 'attach', 'crew']);
    await terminal.shows(/watching session \w+\nEnter sends to the lead, @name first to a member/);
    await terminal.shows(/☐ 1 split the parser/);
    await terminal.shows(/crew: lead · ada \w+/);
    terminal.type('@nobody hello\r');
    await terminal.shows('not sent: nobody here is called "nobody"; there are lead, ada, * (everybody)');
    terminal.type('@ada count to ten\r');
    await terminal.shows('» ada: count to ten');
    await eventually(() =>
      emulator.requests.some(({ request }) => JSON.stringify(request?.messages).includes('count to ten')),
    );
    await eventually(() => isReading(recorded, user));
    terminal.type('hurry up\r');
    await terminal.shows('» lead: hurry up');
    await terminal.shows(/crew: lead, 1 unread · ada idle/);
    await using block = startOnTerminal(user, ['team', 'show', '--watch']);
    await block.shows(/members\n {2}lead +running +1 unread +\S+ +main\n/);
    over.resolve({ text: 'Finished.' });
    expect(await hosting.ended).toMatchObject({ code: 0 });
    expect(await terminal.ended).toBe(0);
    expect(await block.ended).toBe(0);
    expect(block.screen).toContain('no process hosts it: ramet team resume crew resumes it');
    const events = await recorded.ended;
    expect(events).toMatchObject({ code: 0, stderr: '' });
    const types = events.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toContain('response.completed');
    const { code, stdout } = await follows.ended;
    expect(code).toBe(0);
    const states = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(states[0]).toMatchObject({ name: 'crew', members: [{ name: 'lead' }, { name: 'ada' }] });
    expect(states.at(-1)).toMatchObject({ host: null, members: [{ unread: 0 }, { unread: 0 }] });
    const asked = emulator.requests.map(({ request }) => JSON.stringify(request?.messages.at(-1)));
    expect(asked.filter((text) => text.includes('hurry up'))).toHaveLength(1);
    const cost = JSON.parse((await user.here(['cost', '--team', '--json'])).stdout);
    const { total } = JSON.parse((await user.here(['cost', '--json'])).stdout);
    expect(cost).toMatchObject({
      ...{ team: 'crew', total },
      members: { lead: { messages: { received: 1 } }, ada: { messages: { received: 1 } } },
    });
    expect(cost.members.lead.total_cost_usd + cost.members.ada.total_cost_usd).toBeCloseTo(
      total.total_cost_usd,
      9,
    );
    expect((await user.here(['cost', '--team', 'crew'])).stdout).toMatch(
      /^team crew, session \w+\nBY MEMBER /,
    );
    expect(await user.here(['cost', '--team', 'crew', '--all'])).toMatchObject({ code: 2 });
  });
});
