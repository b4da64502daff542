import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { RequestView } from '../../src/emulator/request-view.ts';
import { eventually, isRunning } from '../fixtures/command.ts';
import { childOf, fanOut } from '../fixtures/fan-out.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';
import { git } from '../fixtures/worktrees.ts';

const CTRL_B = '\u0002';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BYPASS = ['--permission-mode', 'bypassPermissions'];
const FRESH = { subagent_type: 'general-purpose' };
/** A child's command that ends once the test says so. */
const GATED = 'touch started-$$; until test -e go; do sleep 0.05; done; echo done';

function letGo(user: User): void {
  writeFileSync(join(user.repository, 'go'), '');
}

const psJson = async (user: User): Promise<{ id: string; status: string; cause: string | null }[]> =>
  JSON.parse((await user.ramet(['ps', '--json'])).stdout);

/** Children that run what `commands` says for them, of one background call each. */
function workers(commands: readonly string[], input: Record<string, unknown> = {}) {
  return ({ request, last, turn }: RequestView): Answer => {
    const child = childOf(request);
    const worked = request.messages.some(({ role }) => role === 'assistant');
    if (child !== null) {
      return worked
        ? { text: `Report ${child}, last heard: ${last}` }
        : { tool_use: [{ name: 'Bash', input: { command: commands[child - 1] } }] };
    }
    if (turn > 0) return { text: `Turn ${turn}. ${last.includes('BY THE WAY') ? 'Noted.' : ''}` };
    return {
      tool_use: commands.map((_, index) => ({
        name: 'Agent',
        input: {
          prompt: `Do child task ${index + 1}.`,
          description: `task ${index + 1}`,
          ...FRESH,
          ...input,
        },
      })),
    };
  };
}

describe.concurrent('UI-1: many agents on a terminal', () => {
  test('each has a row while it works and one line when it ends; nothing else of it is printed', async ({
    user,
  }) => {
    await user.emulate({ respond: fanOut({ children: 3, input: FRESH, command: GATED }) });
    await using terminal = startOnTerminal(user, BYPASS, { columns: 120 });
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(
      /\.2 task 1 \(.* Bash touch.* 1 turn · [\d.]+k tok · \$0\.\d+\n {2}\.3 task 2 .*\n {2}\.4 task 3/,
    );
    letGo(user);
    await terminal.shows(/All reports are in\.\n>/);
    for (const child of [1, 2, 3]) {
      const line = `✓ .${child + 1} general-purpose task ${child}: done (2 turns, `;
      expect(terminal.screen.split(line)).toHaveLength(2);
    }
    expect(terminal.screen).not.toMatch(/Scope: child|• Bash|• Agent/);
    expect(terminal.screen).not.toMatch(/tok ·/);
    expect(terminal.screen).toMatch(/ · \$\d+\.\d+ · [\d.]+k tokens · 8 turns · cache \d+(?:\.\d)?%$/m);
  });

  test('fifty fit 40 columns by 10 rows, and another size is followed', async ({ user }) => {
    await user.emulate({ respond: fanOut({ children: 50, input: FRESH, command: GATED }) });
    await using terminal = startOnTerminal(user, BYPASS, { columns: 40, rows: 10 });
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(/\n {2}48 more: .*30 queued.*\n>/);
    terminal.type('typed meanwhile');
    await terminal.shows('> typed meanwhile');
    const before = terminal.bytes.length;
    terminal.resize(38, 9);
    await eventually(() => terminal.bytes.length > before);
    letGo(user);
    await terminal.shows('All reports are in.');
    expect(terminal.screen.match(/^✓ /gm)).toHaveLength(50);
  });

  test('AGENT-3: Ctrl-B lets the turn continue, and later reports of agents start a turn', async ({
    user,
  }) => {
    await user.emulate({ respond: workers([GATED]) });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('Ctrl-B: continue without waiting');
    await terminal.shows('Bash touch');
    terminal.type('BY THE WAY\r');
    await terminal.shows('» BY THE WAY (queued)');
    terminal.type(CTRL_B);
    await terminal.shows('→ .2 general-purpose task 1: in the background');
    await terminal.shows(/> BY THE WAY\n\nTurn 1\. Noted\.\n {2}\.2 task 1 .*\n>/);
    terminal.type('half a sen');
    letGo(user);
    await terminal.shows(/✓ \.2 .*\n(.*\n)?\ncontinuing with reports of agents\n\nTurn 2\.\n> half a sen/);
    expect((await psJson(user)).map(({ status }) => status)).toEqual(['done', 'done']);
  });

  test('AGENT-7: what was said during a turn comes back when the turn is stopped', async ({ user }) => {
    await user.emulate({ respond: workers([GATED]) });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('Bash touch');
    terminal.type('one\rtwo\rthr');
    await terminal.shows(/» one \(queued\)\n» two \(queued\)\n> thr/);
    terminal.type('\u001b');
    await terminal.shows('stopped; what was done is kept');
    await terminal.shows(/> one\n {2}two\n {2}thr/);
    expect(terminal.screen).toContain('✗ .2 general-purpose task 1: interrupted: user_interrupt');
    expect(terminal.screen).not.toContain('queued');
  });

  test('AGENT-5: /continue resumes a stopped turn and the agents it waited for', async ({ user }) => {
    const emulator = await user.emulate({ respond: workers([GATED]) });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('/continue\r');
    await terminal.shows('nothing was interrupted');
    terminal.type('go\r');
    await terminal.shows('Bash touch');
    terminal.type('\u001b');
    await terminal.shows('stopped; what was done is kept');
    terminal.type('/continue\r');
    await terminal.shows(/continuing where it stopped\n(.*\n)*✓ \.2 .*\n\nTurn 1\./);
    expect(emulator.requests).toHaveLength(4);
    expect((await psJson(user)).map(({ status }) => status)).toEqual(['done', 'done']);
  });

  test('AGENT-5: a killed conversation says what was interrupted, and Enter continues it, agents included', async ({
    user,
  }) => {
    const emulator = await user.emulate({ respond: workers([GATED]) });
    const first = startOnTerminal(user, BYPASS);
    await first.shows(/^>/m);
    first.type('go\r');
    await first.shows('Bash touch');
    first.kill('SIGKILL');
    await first.ended;
    await using second = startOnTerminal(user, [...BYPASS, '--continue']);
    await second.shows(
      /> go\n(.*\n)*interrupted: "go" was not finished\n(.*\n)* +1 agent was at work: \.2 task 1\n/,
    );
    await second.shows('Enter: continue what was interrupted');
    expect(emulator.requests).toHaveLength(2);
    second.type('\r');
    await second.shows(/continuing where it stopped\n(.*\n)*✓ \.2 .*\n\nTurn 1\./);
    expect(emulator.requests).toHaveLength(4);
    expect(second.screen).not.toContain('the last turn of this session is complete');
  });

  test('AGENT-5: agents in the background of a conversation that was left all continue with Enter', async ({
    user,
  }) => {
    const emulator = await user.emulate({
      respond: workers([GATED, GATED, GATED], { run_in_background: true }),
    });
    const first = startOnTerminal(user, BYPASS);
    await first.shows(/^>/m);
    first.type('go\r');
    await first.shows('Turn 1.');
    await first.shows(/\.4 task 3 .*Bash touch/);
    first.kill('SIGHUP');
    await first.ended;
    await using second = startOnTerminal(user, [...BYPASS, '--continue']);
    await second.shows(/3 agents were at work: \.2 task 1, \.3 task 2, \.4 task 3/);
    letGo(user);
    second.type('\r');
    for (const agent of [2, 3, 4]) await second.shows(new RegExp(`✓ \\.${agent} `));
    await second.shows('continuing with reports of agents');
    expect((await psJson(user)).map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done']);
    expect(emulator.requests.map(({ body }) => body).join('')).not.toContain('parent_ended');
  });

  test('AGENT-7: agents are listed, told, cancelled and stopped by number and name', async ({ user }) => {
    const busy = 'until test -e go; do sleep 0.05; done';
    const respond = workers([busy, busy, busy], { run_in_background: true });
    const emulator = await user.emulate({ respond });
    const heardBy = (child: number, text: string): boolean =>
      emulator.requests.some(
        ({ request, body }) => request && childOf(request) === child && body.includes(text),
      );
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(/Turn 1\.\n( {2}\.\d task \d .* Bash until.*\n){3}>/);
    terminal.type('/stop .4\r');
    await terminal.shows('✗ .4 general-purpose task 3: cancelled: stopped');
    await terminal.shows(/Turn 2\.\n/);
    terminal.type('/tell 2 BANANA\r/cancel .3\r/stop .9\r/agents\r');
    await terminal.shows('no agent ".9" is at work: /stop takes .2, .3, all');
    await terminal.shows(/\n\.4 +cancelled: stopped +1 turn +\S+k +\$0\.\d+ +general-purpose task 3\n/);
    await terminal.shows(/\n\.2 +Bash until.* general-purpose task 1 \(in/);
    letGo(user);
    await terminal.shows('✓ .2 general-purpose task 1: done');
    await terminal.shows('✗ .3 general-purpose task 2: cancelled: on_request');
    expect(heardBy(1, 'BANANA')).toBe(true);
    terminal.type('/tell .4 GO ON\r');
    await terminal.shows('.4 task 3: resumes with it');
    await terminal.shows('✓ .4 general-purpose task 3: done');
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(heardBy(3, 'GO ON')).toBe(true);
  });
});

describe.concurrent('RES-3: questions of children on a terminal', () => {
  test('equal ones are asked once, different ones one after the other, each with the name of who asks', async ({
    user,
  }) => {
    await user.emulate({ respond: workers(['touch same', 'touch same', 'touch other']) });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    // Which of them asks first is not certain: the model answers them at the same time.
    const asked = (): [task: string, command: string][] =>
      [...terminal.screen.matchAll(/\? agent "task (\d)" asks for permission: Bash\n {4}touch (\w+)\n/g)].map(
        ([, task = '', command = '']) => [task, command],
      );
    await terminal.shows(
      /( {2}\.\d task \d .* blocked: permission .*\n){3}agent "task \d" asks: Bash touch \w+\n\? y once/,
    );
    expect(asked()).toHaveLength(1);
    const answer = async (): Promise<void> => {
      const [, command] = asked().at(-1) ?? [];
      terminal.type(command === 'same' ? 'y' : 'n');
    };
    await answer();
    await terminal.shows(/asks for permission(?:.|\n)+asks for permission: Bash\n(.*\n)+\? y once/);
    expect(asked().sort()).toEqual([
      [expect.stringMatching(/^[12]$/), 'same'],
      ['3', 'other'],
    ]);
    await answer();
    await terminal.shows(/Turn 1\.\s+>/);
    expect(terminal.screen.match(/asks for permission/g)).toHaveLength(2);
    expect(existsSync(join(user.repository, 'same'))).toBe(true);
    expect(existsSync(join(user.repository, 'other'))).toBe(false);
  });
});

describe.concurrent('RES-5: leaving while agents work', () => {
  const STUBBORN = 'echo $$ > pid; while :; do sleep 0.05; done';

  /** Waits for the file and what is in it. */
  async function pidIn(file: string): Promise<number> {
    await eventually(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    return Number(readFileSync(file, 'utf8'));
  }

  test('Ctrl-D says that agents are at work, and again stops them; the session can be resumed', async ({
    user,
  }) => {
    const emulator = await user.emulate({ respond: workers([STUBBORN], { run_in_background: true }) });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(/Turn 1\.\n {2}\.2 task 1 .* Bash echo.*\n>/);
    const pid = await pidIn(join(user.repository, 'pid'));
    terminal.type(CTRL_D);
    await terminal.shows(
      /1 agent is still at work in the background\n(.*\n)*Ctrl-D again to stop them and leave/,
    );
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen).toContain('stopping 1 agent; what was done is kept');
    expect(isRunning(pid)).toBe(false);
    expect(await psJson(user)).toMatchObject([
      { status: 'done' },
      { status: 'interrupted', cause: 'parent_ended' },
    ]);
    await using second = startOnTerminal(user, [...BYPASS, '--continue']);
    await second.shows('interrupted: 1 agent was at work: .2 task 1');
    second.type('\r');
    await second.shows(/continuing with reports of agents\s+Turn 2\./);
    const told = emulator.requests.at(-1)?.body;
    expect(told).toContain('<status>done</status>');
    expect(told).not.toContain('parent_ended');
  });

  test('Ctrl-C stops the turn and those it waits for; agents in the background go on', async ({ user }) => {
    const background = workers([GATED], { run_in_background: true });
    await user.emulate({
      respond: (view) =>
        childOf(view.request) === null && /second/.test(view.last)
          ? { tool_use: [{ name: 'Bash', input: { command: 'touch second; sleep 60' } }] }
          : background(view),
    });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(/Turn 1\.\n {2}\.2 task 1 .* Bash touch/);
    terminal.type('second\r');
    await eventually(() => existsSync(join(user.repository, 'second')));
    terminal.type(CTRL_C);
    await terminal.shows(/stopped; what was done is kept\n {2}\.2 task 1/);
    letGo(user);
    await terminal.shows('✓ .2 general-purpose task 1: done');
    await terminal.shows(/continuing with reports of agents\n\nTurn \d\./);
  });

  test('SIGINT ends ramet -p with its agents in the background, and leaves no process', async ({ user }) => {
    await user.emulate({ respond: workers([STUBBORN], { run_in_background: true }) });
    const running = user.start(['-p', 'go', ...BYPASS]);
    const pid = await pidIn(join(user.repository, 'pid'));
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(isRunning(pid)).toBe(false);
    expect((await psJson(user)).map(({ status }) => status)).toEqual(['interrupted', 'interrupted']);
  });
});

describe('WORK-9: an isolated agent on a terminal', () => {
  test('what changed in the checkout meanwhile, by nobody known, is one line', async ({ user }) => {
    const gate = join(user.root, 'tmp');
    const command = `touch ${gate}/started; until test -e ${gate}/go; do sleep 0.05; done`;
    await user.emulate({ respond: workers([command], { isolation: 'worktree' }) });
    await using terminal = startOnTerminal(user, BYPASS, { columns: 200 });
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await eventually(() => existsSync(join(gate, 'started')));
    git(
      user.repository,
      '-c',
      'user.name=P',
      '-c',
      'user.email=p@x',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'mine',
    );
    writeFileSync(join(gate, 'go'), '');
    await terminal.shows(
      /\/work changed meanwhile; Ramet does not know who changed it: refs\/heads\/main moved/,
    );
    await terminal.shows(/Turn 1\..*\n>/);
    expect(terminal.screen.split('changed meanwhile')).toHaveLength(2);
  });
});
