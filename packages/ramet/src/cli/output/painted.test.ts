import { describe, expect, test } from 'vitest';
import { stripAnsi } from '../../system/text/visible-text.ts';
import {
  paintDiff,
  paintEvent,
  paintFields,
  paintFirst,
  paintGroups,
  paintSpeaker,
  paintTable,
  styleFor,
} from './painted.ts';

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

  test('every table below another has its headings, and rows are none', () => {
    const text =
      'BY AGENT  REQ\n.1 main     3\nTOTAL       3\n\nNAME  STATE\nOK    landed\nLICENSE\n\nFORK OR FRESH (INPUT)  COST\n';
    const painted = paintTable(text, colours);
    expect(stripAnsi(painted)).toBe(text);
    for (const bold of ['BY AGENT  REQ', 'TOTAL       3', 'NAME  STATE', 'FORK OR FRESH (INPUT)  COST'])
      expect(painted).toContain(`\u001b[1m${bold}\u001b[22m\n`);
    expect(painted).toContain('OK    \u001b[32mlanded\u001b[39m\n');
    expect(painted).toContain('\n.1 main     3\n');
  });

  test('names of fields recede, groups, first words and speakers stand out', () => {
    expect(paintFields('request a.1/2\n  parts at  nowhere\nName  x\n', colours)).toBe(
      '\u001b[1mrequest a.1/2\u001b[22m\n\u001b[2m  parts at\u001b[22m  nowhere\nName  x\n',
    );
    expect(paintGroups('built-in\n  Explore\nend\n', colours)).toBe(
      '\u001b[1mbuilt-in\u001b[22m\n  Explore\nend\n',
    );
    expect(paintFirst('keep  it\nkeep it\n', colours)).toBe('\u001b[33mkeep\u001b[39m  it\nkeep it\n');
    expect(paintSpeaker('[user] hi\n[user] quoted', colours)).toBe(
      '\u001b[36m[user]\u001b[39m hi\n[user] quoted',
    );
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
