import { describe, expect, test } from 'vitest';
import { operateCommand, resumeCommand, taskWord } from './operate-command.ts';
import { taskName } from './operator-state.ts';

describe('OP-2: the names of agents, branches and files of a task', () => {
  test('are its id, where that can be a name', () => {
    for (const id of ['T001', '1.2', 'BACK-7.1', 'schema']) expect(taskName(id)).toBe(id);
  });

  test('are one word in a command', () => {
    const words = ['T1', '-rf', "it's", 'a b', '$(x)'].map(taskWord);
    expect(words).toEqual(['T1', '-- -rf', "'it'\\''s'", "'a b'", "'$(x)'"]);
  });

  test('are part of commands that name the run', () => {
    const run = { integration: 'refs/ramet/operator/k3v9x2ab-1700000000000' };
    expect(operateCommand(run, 'retry', 'T1')).toBe('ramet operate retry T1 --session k3v9x2ab');
    expect(operateCommand(run, 'skip', '-rf')).toBe('ramet operate skip --session k3v9x2ab -- -rf');
    expect(operateCommand(run, 'resume')).toBe('ramet operate resume --session k3v9x2ab');
    expect(resumeCommand(run)).toBe('ramet operate --resume k3v9x2ab');
  });

  test('are never those of another task', () => {
    const long = 'x'.repeat(50);
    const ids = [
      'a b',
      'a-b',
      'a/b',
      'a:b',
      '#12',
      '12',
      'ä',
      'ö',
      long,
      `${long}1`,
      `${long}2`,
      '',
      ' ',
      '-rf',
      'rf',
      '../x',
      './x',
      '..',
      '.',
      '--',
      '/etc/x',
      'a..b',
      'a.b',
    ];
    const names = ids.map(taskName);
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^(?!.*\.\.)\w[\w.-]{0,39}$|^$/);
  });
});
