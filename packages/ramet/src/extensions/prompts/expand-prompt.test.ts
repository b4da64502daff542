import { describe, expect, test } from 'vitest';
import { expandPrompt, splitArguments } from './expand-prompt.ts';
import type { PromptFile } from './prompt-file.ts';

const COMMAND: PromptFile = {
  kind: 'command',
  name: 'x',
  description: 'd',
  argumentHint: null,
  argumentNames: [],
  allowedTools: [],
  disallowedTools: [],
  model: null,
  effort: null,
  forModel: false,
  forUser: true,
  agent: null,
  source: 'user',
  path: '/c/x.md',
  real: '/c/x.md',
  folder: '/c',
};
const SKILL: PromptFile = { ...COMMAND, kind: 'skill', forModel: true };

function textOf(body: string, argument: string, prompt: PromptFile = COMMAND): string {
  const { parts } = expandPrompt(body, prompt, { argument, session: 's1', projectRoot: '/work' });
  return parts.map((part) => ('text' in part ? part.text : `[ran ${part.command}]`)).join('');
}

describe('EXT-3: the arguments of a command', () => {
  test('take the place of $ARGUMENTS, whole', () => {
    expect(textOf('Fix $ARGUMENTS now.', ' issue 7 ')).toBe('Fix issue 7 now.');
  });

  test('are counted from $1, and from $0 in a file that has it', () => {
    expect(textOf('$1 then $2, $3.', 'a "b c"')).toBe('a then b c, .');
    expect(textOf('$0 then $1', 'a b')).toBe('a then b');
    expect(textOf('$ARGUMENTS[1] before $0', 'a b')).toBe('b before a');
  });

  test('have the names that the file gives them', () => {
    const named = { ...COMMAND, argumentNames: ['issue', 'branch'] };
    expect(textOf('$issue on $branch, $other', '7 main', named)).toBe('7 on main, $other');
  });

  test('follow as a line of their own where the text has no place for them', () => {
    expect(textOf('Review.', 'src')).toBe('Review.\n\nARGUMENTS: src');
    expect(textOf('Review.', '')).toBe('Review.');
  });

  test('leave scripts alone: $1 of a skill without arguments is no place for one', () => {
    const script = "awk '{print $1}'";
    expect(textOf(script, '', COMMAND)).toBe(script);
    expect(textOf(script, 'x', SKILL)).toBe(`${script}\n\nARGUMENTS: x`);
    expect(textOf('$1', 'x', { ...SKILL, argumentHint: '[what]' })).toBe('x');
  });

  test('are never taken for commands or files of the text', () => {
    const { parts, files } = expandPrompt('Do $ARGUMENTS and @$1', COMMAND, {
      argument: '!`rm -rf x` @/etc/passwd',
      session: 's1',
      projectRoot: '/work',
    });
    expect(parts.every((part) => 'text' in part)).toBe(true);
    expect(files).toEqual([]);
  });

  test('are split at blanks outside of quotes', () => {
    expect(splitArguments(`a "b \\" c" 'd e' f"g`)).toEqual(['a', 'b " c', 'd e', 'f"g']);
  });
});

describe('EXT-3: what a text names', () => {
  test('commands count only at the beginning and after white space', () => {
    expect(textOf('!`a`\nx !`b $1` y!`c` `!d`', 'arg')).toBe('[ran a]\nx [ran b arg] y!`c` `!d`');
  });

  test('files are found after white space, also with an argument in their path', () => {
    const { files } = expandPrompt('See @src/a.ts, @docs/$1.md and me@example.org, @team', COMMAND, {
      argument: 'guide',
      session: 's1',
      projectRoot: '/work',
    });
    expect(files).toEqual(['src/a.ts', 'docs/guide.md']);
  });

  test('variables of the convention are filled in, others stay', () => {
    const plugin = { ...SKILL, plugin: { name: 'p', root: '/plugins/p' } };
    const names = ['SKILL_DIR', 'PLUGIN_ROOT', 'PROJECT_DIR', 'SESSION_ID', 'OTHER'];
    const body = names.map((name) => `$\{CLAUDE_${name}}`).join(' ');
    expect(textOf(body, '', plugin)).toBe(`/c /plugins/p /work s1 $\{CLAUDE_OTHER}`);
  });
});
