import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/index.ts';
import { eventually } from '../fixtures/command.ts';
import { childOf } from '../fixtures/fan-out.ts';
import { writeFiles } from '../fixtures/temporary.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { requestsTaken, test } from '../fixtures/user.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BYPASS = ['--permission-mode', 'bypassPermissions'];
const STALLED: EmulatorOptions = {
  respond: () => ({ text: 'x' }),
  fault: () => ({ kind: 'stall', at: 'text' }),
};

describe.concurrent('UI-1: a terminal that is away for a while', () => {
  test('Ctrl-Z at an idle prompt keeps the process and the text', async ({ user }) => {
    await user.model({ text: 'x' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('my unsent text');
    await terminal.shows('> my unsent text');
    terminal.type('\u001a');
    // There is no shell that could stop it: it comes back by itself.
    await eventually(() => terminal.bytes.split('\u001b[?2004h').length === 3);
    terminal.type(', and more');
    await terminal.shows('> my unsent text, and more');
  });

  test('SIGCONT sets a terminal up again that another program has reset', async ({ user }) => {
    await user.model({ text: 'x' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.kill('SIGSTOP');
    terminal.stty('sane');
    expect(terminal.stty('-a')).toMatch(/ icanon/);
    terminal.kill('SIGCONT');
    await eventually(() => terminal.stty('-a').includes('-icanon'));
    terminal.type('typed');
    await terminal.shows('> typed');
  });

  test('a paste without its end locks nothing: Ctrl-C ends it', async ({ user }) => {
    await user.model({ text: 'x' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('\u001b[200~half of a paste');
    // Pressed until it comes by itself: what is typed may arrive in one piece.
    const pressing = setInterval(() => terminal.type(CTRL_C), 200);
    try {
      await terminal.shows('> half of a paste');
    } finally {
      clearInterval(pressing);
    }
  });
});

describe.concurrent('RES-5: leaving a conversation', () => {
  test('Ctrl-D in the middle of a turn stops it first, and hooks read that the user left', async ({
    user,
  }) => {
    const reason = join(user.root, 'reason.json');
    const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command: `cat > '${reason}'` }] }] };
    writeFiles(user.root, { 'home/.claude/settings.json': JSON.stringify({ hooks }) });
    const emulator = await user.emulate(STALLED);
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await requestsTaken(emulator, 1);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(JSON.parse(readFileSync(reason, 'utf8'))).toMatchObject({ reason: 'prompt_input_exit' });
    const [agent] = JSON.parse((await user.ramet(['ps', '--json'])).stdout);
    expect(agent).toMatchObject({ status: 'interrupted' });
    expect(terminal.screen).toMatch(/resume with: ramet --resume \w+$/);
  });

  test('shows what hooks say at the end of the session', async ({ user }) => {
    const command = `echo '{"systemMessage": "BYE"}'`;
    const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command }] }] };
    writeFiles(user.root, { 'home/.claude/settings.json': JSON.stringify({ hooks }) });
    await user.model({ text: 'Fine.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('Fine.');
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen).toMatch(/resume with: ramet --resume \w+\s+.*BYE/);
  });

  test('Ctrl-C twice does not wait for a command that will not end', async ({ user }) => {
    const command = "trap 'touch asked.txt' TERM; touch started.txt; for i in $(seq 100); do sleep 0.1; done";
    await user.model({ tool_use: [{ name: 'Bash', input: { command } }] });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await eventually(() => existsSync(join(user.repository, 'started.txt')));
    terminal.type(CTRL_C);
    await eventually(() => existsSync(join(user.repository, 'asked.txt')));
    await terminal.shows('stopping (Ctrl-C: leave at once)');
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    expect(terminal.screen).toMatch(/resume with: ramet --resume \w+$/);
  });

  test('Ctrl-C at a question stops the turn, and nothing is run', async ({ user }) => {
    const write = { name: 'Write', input: { file_path: 'new.txt', content: 'x' } };
    await user.model({ tool_use: [write] }, { text: 'Fine.' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('y once');
    terminal.type(CTRL_C);
    await terminal.shows('stopped; what was done is kept');
    terminal.type('then not\r');
    await terminal.shows('Fine.');
    expect(existsSync(join(user.repository, 'new.txt'))).toBe(false);
  });

  test('the terminal is left in the state it was in', async ({ user }) => {
    await user.model({ text: 'x' });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(terminal.bytes.lastIndexOf('\u001b[?2004l')).toBeGreaterThan(
      terminal.bytes.lastIndexOf('\u001b[?2004h'),
    );
    expect(terminal.bytes.lastIndexOf('\u001b[?25h')).toBeGreaterThan(
      terminal.bytes.lastIndexOf('\u001b[?25l'),
    );
    expect(existsSync(user.rametHome)).toBe(false);
  });

  test('a session that does not exist is one line and exit code 2', async ({ user }) => {
    await user.model({ text: 'x' });
    await using terminal = startOnTerminal(user, ['--resume', 'nothing']);
    expect(await terminal.ended).toBe(2);
    expect(terminal.screen).toMatch(/^ramet: there is no session "nothing"/);
  });
});

describe.concurrent('UI-1: going from one session to another', () => {
  test('/clear begins a new session, /resume goes back to what was said', async ({ user }) => {
    await user.emulate({ respond: ({ last }) => ({ text: `You said: ${last}` }) });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('the first thing\r');
    await terminal.shows(/You said: (.*\n)*.*first thing\n>/);
    const [first = ''] = user.sessions();
    terminal.type('/clear\r');
    await terminal.shows(`a new session; /resume ${first} goes back`);
    terminal.type('/resume nothing\r');
    await terminal.shows('there is no session "nothing"');
    terminal.type('/resume\r');
    await terminal.shows(/resume which session\?.*\n❯ the first thing .*\d\d:\d\d · \S+ · \$/);
    terminal.type('frst');
    await terminal.shows(/> frst\n/);
    terminal.type('\r');
    await terminal.shows(new RegExp(`resumed session ${first}\n\n> the first thing\n(.*\n)*You said`));
    terminal.type(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(user.sessions()).toEqual([first]);
    await using again = startOnTerminal(user, ['--resume']);
    await again.shows('resume which session?');
    await again.shows(/^default · \S+ · \$0\.00/m);
  });
});

describe.concurrent('UI-3: writing and going back', () => {
  test('the output of a command is shown while it runs, and once', async ({ user }) => {
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('!echo begun; until test -e go; do sleep 0.05; done; echo over; exit 3\r');
    await terminal.shows(/^begun$/m);
    expect(terminal.screen).not.toContain('next prompt');
    writeFileSync(join(user.repository, 'go'), '');
    await terminal.shows(/^begun\nover\nExit code 3\.\n\(goes with your next prompt\)/m);
    expect(terminal.screen.match(/^begun$/gm)).toHaveLength(1);
  });

  test('a prompt brings files and the output of commands along; Esc Esc goes back', async ({ user }) => {
    const emulator = await user.model({ text: 'One.' });
    writeFileSync(join(user.repository, 'notes.txt'), 'what is noted');
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('!echo said by a command\r');
    await terminal.shows(/said by a command\n\(goes with your next prompt\)/);
    terminal.type('look at @note');
    await terminal.shows(/> look at @note\n❯ @notes\.txt/);
    terminal.type('\r');
    await terminal.shows(/> look at @notes\.txt\n/);
    terminal.type('\r');
    await terminal.shows('One.');
    const [first] = emulator.requests;
    expect(first?.body).toContain('what is noted');
    expect(first?.body).toContain('said by a command');
    terminal.type('\u001b\u001b');
    await terminal.shows(/back to before which prompt\?.*\n❯ look at @notes\.txt/);
    terminal.type('\r');
    await terminal.shows('take back what, from prompt 1 on?');
    terminal.type('\r');
    await terminal.shows(/the conversation is as before prompt 1.*\n(.*\n)*> look at @notes\.txt/);
  });
});

describe.concurrent('RES-3: killed while a question is open', () => {
  const touch = { name: 'Bash', input: { command: 'touch ran.txt' } };
  const ofMain: EmulatorOptions = {
    respond: ({ last, turn }) => (turn === 0 ? { tool_use: [touch] } : { text: `Main heard: ${last}` }),
  };
  const ofChild: EmulatorOptions = {
    respond: ({ request, last, turn }) => {
      const input = { prompt: 'Do child task 1.', description: 'task 1', subagent_type: 'general-purpose' };
      if (childOf(request) === null)
        return turn === 0 ? { tool_use: [{ name: 'Agent', input }] } : { text: `Main heard: ${last}` };
      const hasWorked = request.messages.some(({ role }) => role === 'assistant');
      return hasWorked ? { text: `Child heard: ${last}` } : { tool_use: [touch] };
    },
  };

  test.for<[string, EmulatorOptions, string[]]>([
    ['the main agent', ofMain, []],
    ['a child', ofChild, []],
    ['a child in a process of its own', ofChild, ['--executor', 'process']],
  ])('%s: the call was not run, and is asked about again', async ([, options, args], { user }) => {
    const emulator = await user.emulate(options);
    await using terminal = startOnTerminal(user, args);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('y once');
    terminal.kill('SIGKILL');
    await terminal.ended;
    await using second = startOnTerminal(user, ['--continue', ...args]);
    await second.shows('Enter: continue');
    expect(second.screen).not.toContain('Bash was running');
    second.type('\r');
    await second.shows('y once');
    expect(existsSync(join(user.repository, 'ran.txt'))).toBe(false);
    second.type('y');
    await second.shows('Main heard:');
    expect(existsSync(join(user.repository, 'ran.txt'))).toBe(true);
    expect(emulator.requests.some(({ body }) => body.includes('may have taken effect'))).toBe(false);
  });
});
