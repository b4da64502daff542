import { Argument, Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { suggest } from './suggest.ts';

function program(): Command {
  const ramet = new Command('ramet').option('--model <model>', 'which model').option('-v, --verbose', 'more');
  ramet.command('show').description('show a session').argument('[session]').option('--json', 'print JSON');
  ramet.command('logs').argument('[target]');
  ramet.command('hidden', { hidden: true });
  ramet
    .command('emulate')
    .option('--scenario <file>', 'rules')
    .option('--port <number>', 'where')
    .option('--tag <name...>', 'tags');
  ramet.command('merge').argument('[branch...]').option('--into <branch>', 'the target');
  const cache = ramet.command('cache').alias('c');
  cache.command('explain').addOption(new Option('--as <format>', 'how').choices(['text', 'json']));
  cache.command('clear').addArgument(new Argument('<what...>').choices(['all', 'old']));
  cache.command('drop').argument('<worktrees...>');
  return ramet;
}

const named = (...texts: string[]) => texts.map((text) => ({ text, description: 'today' }));
const sources = {
  sessions: () => named('abcd1234', 'abzz9999'),
  branches: () => named('main', 'ramet/one'),
  agents: (word: string) => named(`${word.split('.', 1)[0]}.1`, `${word.split('.', 1)[0]}.2`),
  types: () => named('Explore', 'reviewer'),
  worktrees: () => named('feature', 'try'),
};

function texts(...words: string[]): string[] {
  return suggest(program(), words, sources).found.map(({ text }) => text);
}

describe('UI-1: how a command line can continue', () => {
  test.each<[string[], string[]]>([
    [[''], ['show', 'logs', 'emulate', 'merge', 'cache', 'help']],
    [['s'], ['show']],
    [['x'], []],
    [['-'], ['--model', '--verbose', '--help']],
    [
      ['--verbose', '--'],
      ['--model', '--help'],
    ],
    [['-v', '--v'], []],
    [
      ['--model', ''],
      ['haiku', 'sonnet', 'opus', 'fable'],
    ],
    [['--model', 'so'], ['sonnet']],
    [['--model=so'], ['--model=sonnet']],
    [['--model', '=', 'so'], ['sonnet']],
    [
      ['--model', '='],
      ['haiku', 'sonnet', 'opus', 'fable'],
    ],
    [
      ['--model', 'sonnet', ''],
      ['--verbose', '--help'],
    ],
    [
      ['cache', 'drop', 'try', ''],
      ['feature', 'try'],
    ],
    [
      ['show', ''],
      ['abcd1234', 'abzz9999'],
    ],
    [['show', 'abz'], ['abzz9999']],
    [['show', 'abcd1234.'], []],
    [['logs', 'abz'], ['abzz9999']],
    [
      ['logs', 'abcd1234.'],
      ['abcd1234.1', 'abcd1234.2'],
    ],
    [['logs', '.2'], ['.2']],
    [['show', '--json', 'abc'], ['abcd1234']],
    [
      ['show', 'abcd1234', ''],
      ['--json', '--help'],
    ],
    [['show', '--', '-'], []],
    [
      ['cache', ''],
      ['explain', 'clear', 'drop', 'help'],
    ],
    [['c', 'ex'], ['explain']],
    [['cache', 'explain', '--as', 't'], ['text']],
    [
      ['cache', 'clear', 'all', ''],
      ['all', 'old'],
    ],
    [['emulate', '--port', ''], []],
    [['emulate', '--tag', 'a', '--t'], ['--tag']],
    [['merge', 'ra'], ['ramet/one']],
    [
      ['merge', 'ramet/one', '--into', ''],
      ['main', 'ramet/one'],
    ],
    [['help', 's'], ['show']],
    [[], ['show', 'logs', 'emulate', 'merge', 'cache', 'help']],
  ])('%j', (words, expected) => {
    expect(texts(...words)).toEqual(expected);
  });

  test('file names are left to the shell', () => {
    expect(suggest(program(), ['emulate', '--scenario', 'x'], sources)).toEqual({ found: [], files: true });
    expect(suggest(program(), ['emulate', ''], sources).files).toBe(false);
  });

  test('suggestions carry the descriptions of the help', () => {
    expect(suggest(program(), ['sh'], sources).found).toEqual([
      { text: 'show', description: 'show a session' },
    ]);
  });
});
