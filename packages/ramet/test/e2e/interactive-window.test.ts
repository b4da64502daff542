import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Answer } from '../../src/emulator/answer.ts';
import type { RequestView } from '../../src/emulator/request-view.ts';
import { eventually } from '../fixtures/command.ts';
import { childOf } from '../fixtures/fan-out.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test, type User } from '../fixtures/user.ts';

const CTRL_T = '\u0014';
const ESCAPE = '\u001b';
const HOME = '\u001b[H';
const PAGE_UP = '\u001b[5~';
const BYPASS = ['--permission-mode', 'bypassPermissions'];
const GATED = 'echo begun; until test -e go; do sleep 0.05; done; echo done';
const STEPS = Array.from({ length: 40 }, (_, index) => `- step ${index + 1}`).join('\n');

function letGo(user: User): void {
  writeFileSync(join(user.repository, 'go'), '');
}

/** Children that say something, run a command that waits, and report what they heard last. */
function talking(children: number, command = GATED): (view: RequestView) => Answer {
  return ({ request, last, turn }) => {
    const child = childOf(request);
    if (child !== null) {
      const worked = request.messages.some(({ role }) => role === 'assistant');
      if (worked) return { text: `Report ${child}, heard: ${last.slice(-60)}` };
      return {
        text: `Child **${child}** begins.\n\n${STEPS}`,
        tool_use: [{ name: 'Bash', input: { command } }],
      };
    }
    if (turn > 0) return { text: 'All reports are in.' };
    const tool_use = Array.from({ length: children }, (_, index) => ({
      name: 'Agent',
      input: {
        prompt: `Do child task ${index + 1}.`,
        description: `task ${index + 1}`,
        subagent_type: 'general-purpose',
      },
    }));
    return { tool_use };
  };
}

describe.concurrent("UI-3: an agent's conversation opened in place", () => {
  test('shows what it said and does, scrolls, takes a message, and Esc goes back', async ({ user }) => {
    const emulator = await user.emulate({ respond: talking(2) });
    await using terminal = startOnTerminal(user, BYPASS);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows(/\.2 task 1 .*1 turn.*\n {2}\.3 task 2 .*1 turn/);
    terminal.type(CTRL_T);
    await terminal.shows('show which agent?');
    terminal.type('task 1\r');
    await terminal.shows(/^ \.2 general-purpose task 1 · running\n(.*\n)*• step 40\n/);
    expect(terminal.screen).toMatch(/Esc: back/);
    expect(terminal.screen).not.toContain('> go');
    terminal.type(PAGE_UP + PAGE_UP + PAGE_UP);
    await terminal.shows(/more below\)\n(.*\n)*> Do child task 1\.\n\nChild 1 begins\.\n/);
    terminal.type('BY THE WAY\r');
    await terminal.shows(/^» BY THE WAY \(queued\)/m);
    terminal.type('\t');
    await terminal.shows(/^ \.3 general-purpose task 2 · running\n/);
    expect(terminal.screen).not.toContain('BY THE WAY');
    terminal.type('\t');
    await terminal.shows(/^ \.2 general-purpose task 1 · running\n(.*\n)*» BY THE WAY \(queued\)/m);
    letGo(user);
    await terminal.shows(/Report 1, heard:\n(.*\n)*✓ done/);
    await terminal.shows(/^ \.2 general-purpose task 1 · done/);
    terminal.type(ESCAPE);
    await terminal.shows(/^> go\n(.*\n)*✓ \.2 .*\n(.*\n)*All reports are in\.\n>/m);
    expect(terminal.screen).not.toContain('step 40');
    expect(JSON.stringify(emulator.requests.map(({ request }) => request))).toContain('BY THE WAY');
    // What it used before counts when it resumes.
    terminal.type('/open .2\r');
    await terminal.shows(/task 1 · done\n(.*\n)*Esc: back .*2 turns/);
    terminal.type('ONE MORE\r');
    await terminal.shows(/ONE MORE\n<\/agent-message>\n✓ done\n>\nEsc: back .* 3 turns/);
  });

  test('an answer is shown while the child writes it, at 40 columns by 10 rows', async ({ user }) => {
    const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    await user.emulate({
      latency: { tokensPerSecond: 60 },
      respond: ({ request, turn }) => {
        if (childOf(request) !== null) return { text: words };
        if (turn > 0) return { text: 'Over.' };
        const input = { prompt: 'Do child task 1.', description: 'write', subagent_type: 'general-purpose' };
        return { tool_use: [{ name: 'Agent', input }] };
      },
    });
    await using terminal = startOnTerminal(user, BYPASS, { columns: 40, rows: 10 });
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('.2 write');
    await terminal.shows(/\.2 write .* answering/);
    terminal.type('/open .2\r');
    await terminal.shows(/^ \.2 general-purpose write · running/);
    await terminal.shows(/word\d+/);
    expect(terminal.screen).not.toContain('word399');
    // What it had written before it was opened is there too.
    await terminal.shows(/word[4-9]\d/);
    terminal.type(HOME);
    await terminal.shows(/^word0 word1 word2/m);
    terminal.type(ESCAPE);
    await terminal.shows(/^> go$/m);
    terminal.type(ESCAPE);
    await terminal.shows('stopped; what was done is kept');
  });

  test.for<['SIGHUP' | 'SIGTERM', number]>([
    ['SIGHUP', 129],
    ['SIGTERM', 143],
  ])(
    '%s leaves with %i, gives the terminal back and keeps the record; sizes are followed',
    async ([signal, code], { user }) => {
      await user.emulate({ respond: talking(1) });
      await using terminal = startOnTerminal(user, BYPASS);
      await terminal.shows(/^>/m);
      terminal.type('go\r');
      await terminal.shows(/\.2 task 1 .*1 turn/);
      terminal.type(CTRL_T);
      await terminal.shows(/^ \.2 general-purpose task 1 · running\n(.*\n)*• step 40\n/);
      // The virtual terminal keeps its own size: what is drawn says which one was meant.
      const rowsDrawn = (): number =>
        terminal.bytes.slice(terminal.bytes.lastIndexOf('\u001b[H')).split('\r\n').length;
      for (const [columns, rows] of [
        [60, 12],
        [80, 24],
      ] as const) {
        terminal.resize(columns, rows);
        await eventually(() => rowsDrawn() === rows);
      }
      terminal.kill(signal);
      expect(await terminal.ended).toBe(code);
      expect(terminal.bytes.lastIndexOf('\u001b[?1049l')).toBeGreaterThan(
        terminal.bytes.lastIndexOf('\u001b[?1049h'),
      );
      const { stdout } = await user.here(['ps', '--json']);
      const agents: { status: string }[] = JSON.parse(stdout);
      expect(agents.map(({ status }) => status)).toEqual(['interrupted', 'interrupted']);
      letGo(user);
    },
  );

  test('RES-3: a question appears there too and is answered there; Esc goes back and answers nothing', async ({
    user,
  }) => {
    await user.emulate({ respond: talking(1, 'touch asked-for') });
    await using terminal = startOnTerminal(user, []);
    await terminal.shows(/^>/m);
    terminal.type('go\r');
    await terminal.shows('asks for permission: Bash');
    terminal.type(CTRL_T);
    await terminal.shows(
      /^ \.2 general-purpose task 1 · blocked: permission\n(.*\n)*.*asks for permission: Bash\n +touch asked-for/,
    );
    await terminal.shows('? y once');
    terminal.type(ESCAPE);
    await terminal.shows(/^> go\n(.*\n)*\? y once/m);
    expect(terminal.screen).not.toContain('denied');
    terminal.type(CTRL_T);
    await terminal.shows(/^ \.2 general-purpose task 1 · blocked: permission\n(.*\n)*\? y once/);
    terminal.type('y');
    await terminal.shows(/^ \.2 general-purpose task 1 · done/);
    terminal.type(ESCAPE);
    await terminal.shows('All reports are in.');
    terminal.type('/open .7\r');
    await terminal.shows('no agent ".7" is known: /open takes .2');
    terminal.type('/open\r');
    await terminal.shows(/^ \.2 general-purpose task 1 · done\n(.*\n)*✓ done/);
    terminal.type('once more\r');
    await eventually(() => / \.2 .* · (running|done)/.test(terminal.screen));
    await terminal.shows(/Report 1, heard: .*once more/s);
    terminal.type('/cost\r');
    await terminal.shows(/^> \/cost\n/m);
    await terminal.shows(/^requests +\d/m);
  });
});
