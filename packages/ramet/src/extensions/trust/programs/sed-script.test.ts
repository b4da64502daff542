import { describe, expect, test } from 'vitest';
import { plainCommand } from '../../../permission/shell/script-words.ts';
import { type SedRuns, sedRuns } from './sed-script.ts';

function read(...texts: string[]): SedRuns {
  const { words } = plainCommand(['sed', ...texts], {});
  const files: Record<string, string> = { 'x.sed': '# own\ns/^/sh /e\n', 'y.sed': 's/e/e/\n/e/d\n' };
  return sedRuns(words.slice(1), (name) => [files[name] ?? []].flat());
}

describe('SEC-1: a script for sed runs commands', () => {
  test.for([
    ['s/x/y/e'],
    ['s/x/y/ge'],
    ['s/x/y/e w out'],
    ['s|x|y|Ie'],
    ['s#x#y# 2 e'],
    ['s,x,y,;s/a/b/e'],
    ['s/[/]/x/e'],
    ['s/[]/]/x/e'],
    ['s/[^/]*/x/e'],
    ['s/\\//x/e'],
    ['s\u0001a\u0001b\u0001e'],
    ['sxaxbxe'],
    ['/a/{s/b/c/;s/d/f/e}'],
    ['/a/,/b/!s/c/d/e'],
    ['\\|a|s|a|b|e'],
    ['1,+3s/a/b/e'],
    ['$!{N;s/a/b/e}'],
    ['e'],
    ['1e sh x'],
    ['1!e sh x'],
    ['$ { e sh x\n}'],
    ['y/ab/cd/;e x'],
    ['bx;:x;s/a/b/e'],
    ['a text\\\nmore\ne x'],
    ['-n', 's/x/y/pe'],
    ['-e', 'p', '-e', 's/x/y/e'],
    ['-ne', 's/x/y/e'],
    ['-nEes/x/y/e'],
    ['--expression=s/x/y/e'],
    ['--expression', 's/x/y/e'],
    ['-f', 'x.sed'],
    ['-nfx.sed'],
    ['--file=x.sed'],
    ['-i.bak', 's/x/y/e', 'file'],
    ['s/x/y/k'],
  ])('%j', (texts) => {
    expect(read(...texts).runs).toBe(true);
  });

  test.for([
    ['s/e/e/g'],
    ['-e', 's/one/two/'],
    ['-i', '-e', '/delete/d', 'file'],
    ['-n', '/^end/,/e$/p'],
    ['s/[^e/]*$//'],
    ['y/abc/xye/'],
    ['a see here'],
    ['i\\\ne x'],
    ['c echo e'],
    ['r e'],
    [':e;be'],
    ['te;d'],
    ['s|/e/|/f/|'],
    ['/e/I!{s/e//;P;D}'],
    ['-E', 's/(e)+/\\1e/2p'],
    ['$!N;P;D'],
    ['# e'],
    ['s/a/b/ # e'],
    ['10q'],
    ['-f', 'y.sed'],
    ['-s', '-n', '$='],
    ['--sandbox', 's/x/y/e'],
    ['s/.*version.*"\\(.*\\)".*/\\1/'],
  ])('%j does not', (texts) => {
    expect(read(...texts).runs).toBe(false);
  });

  test.for([
    [['w out.sh'], ['out.sh']],
    [['-n', '/a/w out.sh'], ['out.sh']],
    [['s/a/b/gw out.sh'], ['out.sh']],
    [['/x/{w a\nw b\n}'], ['a', 'b']],
    [['s/w/w/'], []],
  ] as const)('%j writes %j', ([texts, files]) => {
    expect([...new Set(read(...texts).writes)]).toEqual(files);
  });
});
