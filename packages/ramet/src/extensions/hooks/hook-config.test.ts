import { describe, expect, test } from 'vitest';
import { readHooks } from './hook-config.ts';

const source = { label: '.claude/settings.json' };
const command = { type: 'command', command: 'true' };

describe('EXT-2: hooks as they are set up', () => {
  test('are read in order, with the timeout of their event or their own', () => {
    const { hooks, unused } = readHooks(
      {
        PreToolUse: [
          { matcher: 'Bash', hooks: [command, { ...command, timeout: 2, async: true }] },
          { hooks: [{ type: 'command', command: 'node', args: ['x.js'] }] },
        ],
        UserPromptSubmit: [{ hooks: [command] }],
        SessionEnd: [{ hooks: [command, { ...command, timeout: 60 }] }],
      },
      source,
    );
    expect(unused).toEqual([]);
    expect(hooks).toMatchObject([
      { event: 'PreToolUse', timeoutMs: 600_000, isAsync: false, args: null },
      { timeoutMs: 2_000, isAsync: true },
      { command: 'node', args: ['x.js'] },
      { event: 'UserPromptSubmit', timeoutMs: 30_000 },
      { event: 'SessionEnd', timeoutMs: 1_500 },
      { event: 'SessionEnd', timeoutMs: 60_000 },
    ]);
  });

  test.for([
    [[], 'hooks is no object'],
    [{ Nonsense: [] }, '"Nonsense": there is no such event here'],
    [{ Stop: {} }, 'Stop is no list'],
    [{ Stop: [7] }, 'Stop: an entry is no object'],
    [{ Stop: [{}] }, 'Stop: an entry has no list of hooks'],
    [
      { Stop: [{ matchers: 'Bash', hooks: [command] }] },
      'Stop: an entry has no field "matchers": did you mean matcher?',
    ],
    [{ Stop: [{ matcher: 7, hooks: [command] }] }, 'Stop: a matcher is no text'],
    [{ Stop: [{ matcher: '(', hooks: [command] }] }, 'Stop: the matcher "(" is no regular expression'],
    [{ Stop: [{ hooks: ['x'] }] }, 'Stop: a hook is no object'],
    [{ Stop: [{ hooks: [{ type: 'http', url: 'x' }] }] }, 'Stop: type "http" is not supported'],
    [{ Stop: [{ hooks: [{ type: 'command' }] }] }, 'Stop: a hook has no command'],
    [
      { Stop: [{ hooks: [{ command: 'exit 2' }] }] },
      'Stop: a hook has no type, and does not run: "type": "command" is what it needs',
    ],
    [{ Stop: [{ hooks: [{ type: 7, command: 'x' }] }] }, 'Stop: type 7 is no text'],
    [{ Stop: [{ hooks: [{ ...command, args: 'x' }] }] }, 'Stop: args is no list of texts'],
    [{ Stop: [{ hooks: [{ ...command, shell: 'fish' }] }] }, 'Stop: shell "fish" is not supported'],
    [{ Stop: [{ hooks: [{ ...command, timeout: '5' }] }] }, 'Stop: timeout is no number of seconds: "5"'],
    [{ Stop: [{ hooks: [{ ...command, async: 1 }] }] }, 'Stop: async is neither true nor false'],
    [
      { Stop: [{ hooks: [{ ...command, if: 'Bash(git *)' }] }] },
      'Stop: a hook with "if" does not run: no call is judged at this event',
    ],
    [{ PreToolUse: [{ hooks: [{ ...command, if: 7 }] }] }, 'PreToolUse: if is no text'],
    [
      { PreToolUse: [{ hooks: [{ ...command, if: 'bash(git *)' }] }] },
      expect.stringMatching(
        /^PreToolUse: the rule "bash\(git \*\)" can never match: there is no tool bash; /,
      ),
    ],
    [
      { PreToolUse: [{ hooks: [{ ...command, once: true }] }] },
      'PreToolUse: a hook with "once" is not supported and does not run',
    ],
  ] as const)('that cannot be used are named: %j', ([value, problem]) => {
    expect(readHooks(value, source)).toMatchObject({ hooks: [], unused: [problem] });
  });

  test.for([
    ['bash', 'the matcher "bash" fits no tool: there is no tool bash; write Bash'],
    ['Foo|Fuu', 'the matcher "Foo|Fuu" fits no tool: there is no tool Foo'],
  ] as const)('with the matcher %s, which can match nothing, are named', ([matcher, what]) => {
    const of = (event: string) => ({ [event]: [{ matcher, hooks: [command] }] });
    const { unused, mistakes } = readHooks(of('PreToolUse'), source);
    expect([unused, mistakes]).toEqual([[expect.stringContaining(`PreToolUse: ${what}`)], []]);
    expect(readHooks(of('SubagentStop'), source).unused).toEqual([]);
    // A program has tools of its own.
    expect(readHooks(of('PreToolUse'), { ...source, isCode: true }).unused).toEqual([]);
  });

  test.for([
    'Bash',
    'Task',
    'MultiEdit',
    'Foo|Write',
    'mcp__db',
    'mcp__db__query',
    '',
    '*',
    'b.*',
    'Edit, bash',
  ])('with the matcher %j run', (matcher) => {
    const value = {
      PreToolUse: [{ matcher, hooks: [command] }],
      PostToolUse: [{ matcher, hooks: [command] }],
    };
    expect(readHooks(value, source)).toMatchObject({ hooks: [{}, {}], unused: [] });
  });

  test('that are good count beside bad ones', () => {
    const { hooks, unused } = readHooks({ Stop: [{ hooks: [{ type: 'prompt' }, command] }] }, source);
    expect([hooks.length, unused.length]).toEqual([1, 1]);
  });

  test('in a group with notes of its own run, unless a program sets them up', () => {
    const value = { Stop: [{ description: 'tidies up', hooks: [command] }] };
    expect(readHooks(value, source)).toMatchObject({ hooks: [{ event: 'Stop' }], unused: [] });
    expect(readHooks(value, { ...source, isCode: true })).toMatchObject({
      hooks: [],
      unused: ['Stop: an entry has no field "description": there are matcher, hooks, timeout'],
    });
  });
});
