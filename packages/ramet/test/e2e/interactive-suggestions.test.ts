import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { startOnTerminal } from '../fixtures/terminal.ts';
import { test } from '../fixtures/user.ts';

const SUGGEST = 'Suggest what the user may ask next.';

describe('BG-4: suggestions on a terminal', () => {
  test('Tab takes one, Enter sends it, and ps and cost name their source', async ({ user }) => {
    const emulator = await user.emulate({
      respond({ task }) {
        if (task.startsWith(SUGGEST)) return { text: 'NEXT: Run the tests.\nNEXT: Commit it.' };
        return { text: task.includes('Commit it.') ? 'It is committed.' : 'Hello.' };
      },
    });
    mkdirSync(user.rametHome, { recursive: true });
    writeFileSync(
      join(user.rametHome, 'settings.json'),
      JSON.stringify({ background: { costShare: 1, extractMemories: false, sessionMemory: false } }),
    );
    await using terminal = startOnTerminal(user, ['--model', 'sonnet']);
    await terminal.shows(/^>/m);
    terminal.type('hi\r');
    await terminal.shows(/^Tab: Run the tests\. \(1 more\)\n>/m);
    terminal.type('\t\t');
    await terminal.shows(/^suggestion 2 of 2: Enter sends it, Tab removes it\n> Commit it\./m);
    expect(emulator.requests.filter(({ body }) => body.includes('Commit it.'))).toEqual([]);
    terminal.type('\r');
    await terminal.shows(/It is committed\./);
    terminal.type('\u0004');
    await terminal.ended;
    expect((await user.here(['ps'])).stdout).toMatch(/suggestions: prompts that may/);
    expect((await user.here(['cost'])).stdout).toMatch(/^suggestions +/m);
  });
});
