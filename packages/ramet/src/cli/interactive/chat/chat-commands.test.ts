import { describe, expect, test } from 'vitest';
import type { SessionMode } from '../../../schema/status.ts';
import { CHAT_COMMANDS, completeCommand } from '../editor/command-completion.ts';
import { textStyle } from '../screen/text-style.ts';
import {
  type CommandContext,
  isPlan,
  PLAN_CHOICE,
  parseChatCommand,
  runChatCommand,
  unknownCommand,
} from './chat-commands.ts';
import { ChatWorker, isCommandLine, type WorkerParts } from './chat-worker.ts';
import { createEventView } from './event-text.ts';

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

  test('a slip gets the command that may have been meant', () => {
    expect(unknownCommand('hlep')).toBe('there is no command /hlep: did you mean /help?');
    expect(unknownCommand('frobnicate')).toBe('there is no command /frobnicate: /help lists them');
  });

  test('every command is completed from its name', () => {
    for (const name of Object.keys(CHAT_COMMANDS)) expect(completeCommand(`/${name}`).text).toBe(`/${name} `);
  });

  test('agents at work are completed where one is to be named', () => {
    const words = (command: string): string[] => (command === 'stop' ? ['parser', '.2', '.3'] : []);
    expect(completeCommand('/stop p', words).text).toBe('/stop parser ');
    expect(completeCommand('/stop .', words)).toEqual({ text: '/stop .', candidates: ['.2', '.3'] });
    expect(completeCommand('/model p', words).text).toBe('/model p');
  });

  test.for(['', 'help', '/nothing', '/constructor x', '/model opus 4', '/ help'])(
    '%j is left as it is',
    (text) => {
      expect(completeCommand(text).text).toBe(text);
    },
  );
});

test('UI-3: a lone exclamation mark is a command that lacks its words, and no prompt', () => {
  expect(['!', '! ', '!ls', '/help', 'wow!'].map(isCommandLine)).toEqual([true, true, true, true, false]);
});

test('MEM-2: # and a note save it; headings and numbers of issues are prompts', () => {
  const lines = ['# use tabs', '#  user: use tabs ', '#12 is broken', '#', '# Plan\nfirst', '## use tabs'];
  expect(lines.map((line) => parseChatCommand(line)?.argument ?? null)).toEqual([
    ...['use tabs', 'user: use tabs', null, null, null, null],
  ]);
});

describe('UI-3: what follows a plan', () => {
  test('a mode that is chosen while a question is open decides nothing, and what was to follow waits for it', async () => {
    const set: SessionMode[] = [];
    const ended = Promise.withResolvers<void>();
    const desk: { current: object | null } = { current: {} };
    const handedBack: string[] = [];
    const output: string[] = [];
    const print = (text: string): void => void output.push(text);
    const view = { print, answer: print, endAnswer: () => {} };
    const style = textStyle(false);
    const worker = new ChatWorker({
      ...{ desk, print, style, events: createEventView(style, view) },
      chat: {
        setPermissionMode: (mode: SessionMode) => void set.push(mode),
      } as unknown as WorkerParts['chat'],
      changed: () => worker.current === null && ended.resolve(),
      handBack: (lines: readonly string[]) => void handedBack.push(...lines),
    } as unknown as WorkerParts);
    for (const line of PLAN_CHOICE.linesOf?.('go') ?? []) worker.submit(line);
    await ended.promise;
    expect(output.join('')).toContain('the permission mode stays while a question is open: answer it first');
    expect([set, handedBack]).toEqual([[], ['The plan is good. Carry it out.']]);
    desk.current = null;
    const answer = { chat: { setPermissionMode: (mode: SessionMode) => void set.push(mode) }, desk };
    await runChatCommand({ name: 'permissions', argument: 'default' }, answer as unknown as CommandContext);
    expect(set).toEqual(['default']);
  });

  test.each([
    ['1. Read it.\n2. Change it.', true],
    ['## Plan\n\n- first\n- second', true],
    ['It is 42 - not 43.', false],
    ['The file has two functions.\n\nBoth are pure.', false],
    ['- only this', false],
  ])('%j is a plan: %s', (answer, expected) => {
    expect(isPlan(answer)).toBe(expected);
  });

  test.for<[id: string, lines: string[]]>([
    ['go', ['/permissions default', 'The plan is good. Carry it out.']],
    ['edit', ['/permissions acceptEdits', 'The plan is good. Carry it out.']],
    ['change', []],
    ['no', []],
  ])('%s: %j', ([id, lines]) => {
    expect(PLAN_CHOICE.items.map((item) => item.id)).toContain(id);
    expect(PLAN_CHOICE.linesOf?.(id)).toEqual(lines);
    expect(PLAN_CHOICE.isQuestion).toBe(true);
  });
});
