import { describe, expect, test } from 'vitest';
import { stripAnsi } from '../../system/text/visible-text.ts';
import { paintDiff, paintEvent, paintTable, styleFor } from './painted.ts';

const colours = styleFor({ isTerminal: true, env: {} });
const TABLE =
  'AGENT  STATUS         FOR\na.1    failed: x      done\na.2    running        it\nfailed badly\n';

describe('UI-1: colours of views', () => {
  test('the status and the headings have some, and the text is the same', () => {
    const painted = paintTable(TABLE, colours);
    expect(stripAnsi(painted)).toBe(TABLE);
    expect(painted).toContain('\u001b[31mfailed\u001b[39m: x      done');
    expect(painted).toContain('\u001b[36mrunning\u001b[39m');
    expect(painted).toContain('\nfailed badly\n');
  });

  test.for([
    { isTerminal: false, env: {} },
    { isTerminal: true, env: { NO_COLOR: '1' } },
    { isTerminal: true, env: { TERM: 'dumb' } },
  ])('none where nobody sees them or wants them: %j', (io) => {
    expect(paintTable(TABLE, styleFor(io))).toBe(TABLE);
    expect(paintDiff('+a\n-b\n', styleFor(io))).toBe('+a\n-b\n');
  });

  test('a patch is coloured as git does, and an event has its time dimmed', () => {
    expect(paintDiff('diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n-a\n+b\n c', colours)).toBe(
      '\u001b[1mdiff --git a/x b/x\u001b[22m\n\u001b[1m--- a/x\u001b[22m\n\u001b[36m@@ -1 +1 @@\u001b[39m\n' +
        '\u001b[31m-a\u001b[39m\n\u001b[32m+b\u001b[39m\n c',
    );
    expect(paintEvent('2026-01-01 10:00:00.000  s.1  x', colours)).toBe(
      '\u001b[2m2026-01-01 10:00:00.000\u001b[22m  s.1  x',
    );
  });
});
