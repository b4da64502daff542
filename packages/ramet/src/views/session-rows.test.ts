import { describe, expect, test } from 'vitest';
import { type SessionSummary, sessionTable } from './session-rows.ts';
import { displayWidth } from './text/format.ts';

const session: SessionSummary = {
  session: 'k3v9x2ab',
  title: 'mend the parser of dates, and all of its many friends in other places',
  cwd: '/srv',
  created: 0,
  lastUsed: 0,
  branch: 'main',
  costUsd: 0.0177,
  prompts: 1,
  status: 'done',
  agents: 1,
};

describe('UI-1: sessions in a table', () => {
  test('at 40 columns the title stands below the figures', () => {
    const shown = sessionTable([session], 40, 0);
    expect(Math.max(...shown.split('\n').map(displayWidth))).toBeLessThanOrEqual(40);
    expect(shown).toMatch(
      /^SESSION .*STATUS\n {2}TITLE\nk3v9x2ab .* done\n {2}mend the parser of dates, and all of\n/,
    );
  });

  test('at 80 columns the title is cut', () => {
    expect(sessionTable([session], 80, 0)).toMatch(/TITLE\nk3v9x2ab .* done +mend the parser.*…\n$/);
  });
});
