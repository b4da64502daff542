import { describe, expect, test } from 'vitest';
import { isCommandLine } from '../chat-worker.ts';
import { handedBack } from './steered-lines.ts';

describe('UI-3: what was queued when a turn is stopped', () => {
  test.for<[lines: string[], written: string, text: string, left: string[]]>([
    [['also this', '/model haiku'], '', 'also this', ['/model haiku']],
    [['one', 'two'], 'three', 'one\ntwo\nthree', []],
    [['/model haiku'], '', '/model haiku', []],
    [['/model haiku'], 'draft', 'draft', ['/model haiku']],
    [['!rm x', 'go'], '', 'go', ['!rm x']],
    [['/etc/hosts is wrong', 'x'], '', '/etc/hosts is wrong\nx', []],
  ])('%j before %j: a command is never part of a prompt', ([lines, written, text, left]) => {
    expect(handedBack(lines, written, isCommandLine)).toEqual({ text, left });
  });
});
