import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import type { CommandIo } from './io.ts';
import { COMMAND_GROUPS, groupsFor, runProgram } from './program.ts';

function recordingIo(): CommandIo & { text(): string } {
  const parts: string[] = [];
  return {
    text: () => parts.join(''),
    out: (part) => void parts.push(part),
    note: (line) => void parts.push(`ramet: ${line}\n`),
    progress: () => {},
    isTerminal: false,
    columns: null,
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
  };
}

describe('UI-1: a group of commands', () => {
  test.for(COMMAND_GROUPS.map((group) => [group.names.join(', '), group] as const))(
    'defines what it names: %s',
    async ([, { names, add }]) => {
      const program = new Command();
      (await add())(program, recordingIo(), () => {});
      expect(program.commands.map((command) => command.name())).toEqual(names);
    },
  );
});

test.for(['--add-dir', '--plugin-dir', '--mcp-config'])(
  'UI-1: an empty %s is refused by its name',
  async (flag) => {
    const io = recordingIo();
    expect(await runProgram(['-p', `${flag}=`, 'x'], io)).toBe(2);
    expect(io.text()).toMatch(
      new RegExp(`^ramet: option '${flag} <\\w+>' argument '' is invalid. It is empty.\n$`),
    );
  },
);

describe('UI-1: ramet help parallel', () => {
  test('says which way to choose, with the figures of docs/which.md', async () => {
    const io = recordingIo();
    expect(await runProgram(['help', 'parallel'], io)).toBe(0);
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/which.md'), 'utf8');
    const ways = Array.from(
      page.matchAll(/^\| ([a-z0-9 ]+) \| (\d+) \| (\d+) \| [\d,]+ \| (\d\.\d) \|$/gm),
      ([, ...cells]) => cells,
    );
    expect(ways).toHaveLength(6);
    for (const [name, workers, requests, cost] of ways)
      expect(io.text()).toMatch(new RegExp(`^ +${name} +${workers} +${requests} +${cost} {2}\\w`, 'm'));
  });
});

describe('UI-1: a run defines', () => {
  const namesFor = (...args: string[]): string[] => groupsFor(args).flatMap(({ names }) => names);

  test('the command that its first word names, with its group', () => {
    expect(namesFor('cost', '--json')).toEqual(['ps', 'watch', 'show', 'logs', 'cost']);
    expect(namesFor('merge', '--help')).toEqual(['merge']);
  });

  test('no other command for a prompt', () => {
    expect(namesFor()).toEqual([]);
    expect(namesFor('-p', 'merge')).toEqual([]);
    expect(namesFor('--model', 'opus', 'merge')).toEqual([]);
  });

  test.for([
    ['--help'],
    ['-p', '-h'],
    ['help', 'merge'],
    ['mrege'],
    ['complete', 'w'],
    ['--', 'merge'],
    ['print'],
  ])('all commands for %j', (args) => {
    expect(groupsFor(args)).toBe(COMMAND_GROUPS);
  });
});

test('UI-1: help lists every command, also after a flag', async () => {
  for (const args of [['--help'], ['-p', '--help']]) {
    const io = recordingIo();
    expect(await runProgram(args, io)).toBe(0);
    const names = COMMAND_GROUPS.flatMap((group) => group.names).filter((name) => name !== 'complete');
    expect(names.filter((name) => !new RegExp(`^  ${name}\\b`, 'm').test(io.text()))).toEqual([]);
    expect(io.text()).not.toMatch(/^ {2}complete\b(?!ion)/m);
  }
});

test.for([[['mrege']], [['--model', 'opus', 'mrege']], [['help', 'mrege']]])(
  'UI-1: a command that is misspelt is named, though it was not defined: %j',
  async ([args = []]) => {
    const io = recordingIo();
    expect(await runProgram(args, io)).toBe(2);
    expect(io.text()).toContain('there is no command "mrege": did you mean merge?');
  },
);
