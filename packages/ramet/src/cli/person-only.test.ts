import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { runProgram } from './program.ts';

describe('SEC-1: a command that an agent runs', () => {
  test.each([
    ['operate', 'approve', 'T001'],
    ['operate', 'answer', 'T001-ab', 'always'],
    ['operate', 'pause'],
    ['team', 'send', 'a', 'text'],
    ['trust'],
    ['memory', 'token', 'new', 'x'],
    ['merge', 'ramet/T001-1'],
    ['worktree', 'rm', 'x'],
  ])('does not decide for a person: ramet %s %s', async (...args) => {
    const notes: string[] = [];
    const home = temporaryDirectory();
    mkdirSync(join(home, 'projects/repo-1'), { recursive: true });
    writeFileSync(join(home, 'projects/repo-1/abcdefgh.sqlite'), '');
    const env = { RAMET_HOME: home, RAMET_AGENT: 'abcdefgh.2', RAMET_WORKTREE: '/w' };
    const io = {
      ...{ out: () => {}, note: (line: string) => void notes.push(line), progress: () => {} },
      ...{ isTerminal: false, columns: null, env, cwd: temporaryDirectory() },
      signal: new AbortController().signal,
    };
    expect(await runProgram(args, io)).toBe(2);
    expect(notes.join()).toMatch(/^ramet .* is for a person, and this is a command of agent abcdefgh\.2/);
  });
});
