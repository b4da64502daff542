import { describe, expect, test } from 'vitest';
import { parseChatCommand } from './chat-commands.ts';
import { CHAT_COMMANDS, completeCommand } from './command-completion.ts';

describe('UI-1: lines that begin with a slash', () => {
  test.for<[string, ReturnType<typeof parseChatCommand>]>([
    ['/help', { name: 'help', argument: '' }],
    ['  /model  opus  ', { name: 'model', argument: 'opus' }],
    ['/compact keep the plan', { name: 'compact', argument: 'keep the plan' }],
    ['/unknown', { name: 'unknown', argument: '' }],
    ['/etc/hosts is wrong', null],
    ['/', null],
    ['// a comment', null],
    ['/help\nand more', null],
    ['fix /help', null],
  ])('%j is %j', ([line, command]) => {
    expect(parseChatCommand(line)).toEqual(command);
  });

  test('every command is completed from its name', () => {
    for (const name of Object.keys(CHAT_COMMANDS)) expect(completeCommand(`/${name}`).text).toBe(`/${name} `);
  });

  test.for(['', 'help', '/nothing', '/constructor x', '/model opus 4', '/ help'])(
    '%j is left as it is',
    (text) => {
      expect(completeCommand(text).text).toBe(text);
    },
  );
});
