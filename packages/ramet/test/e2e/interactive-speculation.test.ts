import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../fixtures/command.ts';
import { call } from '../fixtures/family.ts';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test } from '../fixtures/user.ts';

const SUGGEST = 'Suggest what the user may ask next.';
const WORK_AHEAD = 'Do in advance what the user will ask for next.';

describe('BG-2: working ahead on a terminal', () => {
  test('a suggestion that was taken is answered at once; status, cost and undo know of it', async ({
    user,
  }) => {
    const emulator = await user.emulate({
      respond({ task, last }) {
        if (task.startsWith(SUGGEST)) return { text: 'NEXT: Add the file.' };
        if (!task.startsWith(WORK_AHEAD)) return { text: 'Hello.' };
        return last.includes('made.txt')
          ? { text: 'The file is made.' }
          : call('Write', { file_path: 'made.txt', content: 'made\n' });
      },
    });
    mkdirSync(user.rametHome, { recursive: true });
    const background = {
      costShare: 1,
      extractMemories: false,
      sessionMemory: false,
      speculation: { enabled: true },
    };
    writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify({ background }));
    const made = join(user.repository, 'made.txt');
    await using terminal = startOnTerminal(user, ['--model', 'sonnet', '--permission-mode', 'acceptEdits']);
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows(/^Tab: Add the file\./m);
    await eventually(async () => /work ahead.*done|done.*work ahead/.test((await user.here(['ps'])).stdout));
    expect(existsSync(made)).toBe(false);
    terminal.type('\t\r');
    await terminal.shows(/The file is made\.\n\n\(Prepared in advance by \w+\.\d+\. Changed: made\.txt\.\)/);
    expect(readFileSync(made, 'utf8')).toBe('made\n');
    expect(
      emulator.requests.some(({ request }) =>
        JSON.stringify(request?.messages.at(-1)).includes('"Add the file."'),
      ),
    ).toBe(false);
    terminal.type('/status\r');
    await terminal.shows(/worked ahead +\d tried, 1 used/);
    terminal.type('\u0004');
    await terminal.ended;
    expect((await user.here(['cost'])).stdout).toMatch(/worked ahead of you .*: 1 used, \$/);
    expect((await user.here(['undo'])).stdout).toContain('made.txt');
    expect(existsSync(made)).toBe(false);
  });

  test('tries that were of no use end it for the session, and a line says so', async ({ user }) => {
    await user.emulate({
      respond({ task }) {
        if (task.startsWith(SUGGEST)) return { text: 'NEXT: Add the file.' };
        return { text: task.startsWith(WORK_AHEAD) ? 'Nothing to do.' : 'Hello.' };
      },
    });
    mkdirSync(user.rametHome, { recursive: true });
    const speculation = { enabled: true, tries: 1 };
    const background = { costShare: 1, extractMemories: false, sessionMemory: false, speculation };
    writeFileSync(join(user.rametHome, 'settings.json'), JSON.stringify({ background }));
    await using terminal = startOnTerminal(user, ['--model', 'sonnet']);
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows(/^Tab: Add the file\./m);
    await eventually(async () => /work ahead.*done|done.*work ahead/.test((await user.here(['ps'])).stdout));
    terminal.type('something else\r');
    await terminal.shows(/working ahead has ended for this session: only 0 of 1 tries were of\s+use/);
    terminal.type('\u0004');
    await terminal.ended;
  });
});
