import { describe, expect, test } from 'vitest';
import { usageError } from './near-word.ts';

describe('UI-1: what the parser refuses', () => {
  test('is one line', () => {
    expect(usageError("error: unknown option '--jsn'\n(Did you mean --json?)\n", ['ps', '--jsn'])).toBe(
      "unknown option '--jsn' (Did you mean --json?)",
    );
  });

  test('says which argument a word does not fit', () => {
    const text =
      "error: command-argument value 'y' is invalid for argument 'answer'. Allowed choices are once, always, denied.";
    expect(usageError(text, ['operate', 'answer', 'x', 'y'])).toBe(
      '"y" does not fit <answer>. Allowed choices are once, always, denied.',
    );
  });

  test('names the command that may have been meant below another', () => {
    const below = (name: string): string[] => (name === 'agents' ? ['validate', 'show'] : []);
    const text = "error: too many arguments for 'agents'. Expected 0 arguments but got 1.\n";
    expect(usageError(text, ['agents', '--json', 'valdate'], below)).toBe(
      'there is no command "agents valdate": did you mean validate?',
    );
    expect(usageError(text, ['agents', 'frobnicate'], below)).toBe(
      'there is no command "agents frobnicate": there are validate, show',
    );
    // The parser names the default below a command.
    expect(usageError(text.replace('agents', 'ls'), ['agents', 'frobnicate'], below)).toBe(
      'there is no command "agents frobnicate": there are validate, show',
    );
    expect(usageError(text.replace('agents', 'ps'), ['ps', 'x'], below)).toContain('too many arguments');
  });

  test('says about two files for operate that one is meant, and how several rules are given', () => {
    const below = (): string[] => ['status', 'retry'];
    const text = "error: too many arguments for 'operate'. Expected 1 argument but got 2.\n";
    expect(usageError(text, ['operate', 'a.md', 'b.md'], below)).toMatch(
      /^operate takes one file, folder or goal in quotes.*; several rules .* with commas: --allowedTools '/,
    );
    expect(usageError(text, ['operate', 'stauts', 'b'], below)).toContain('did you mean status?');
  });

  test('names the flag that does what a known one of another tool does', () => {
    const flag = '--dangerously-skip-permissions';
    expect(usageError(`error: unknown option '${flag}'`, ['-p', 'x', flag])).toBe(
      `unknown option '${flag}'; here it is --permission-mode bypassPermissions`,
    );
  });

  test.for([[['-p', '- mend it']], [['--print', '-x is wrong']], [['-cp', '-1']]])(
    'says how a prompt may begin with a dash: %j',
    ([args = []]) => {
      expect(usageError(`error: unknown option '${args[1]}'`, args)).toMatch(
        /; a prompt .* goes behind --, as in ramet -p -- /,
      );
      expect(usageError("error: unknown option '--verbose'", args)).toBe("unknown option '--verbose'");
      expect(usageError("error: option '--model <model>' argument missing", args)).not.toContain('prompt');
    },
  );
});
