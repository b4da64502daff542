import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyParser, type Key, type KeyName } from './key-parser.ts';
import { editorText } from './line-editor.ts';
import { type InputAction, newPromptInput, type PromptInput, pressKey } from './prompt-input.ts';

/** Feeds what a terminal would send; `|` in the shown text marks the cursor. */
function type(sent: string, history: readonly string[] = []): { shown: string; actions: InputAction[] } {
  const parser = createKeyParser();
  const actions: InputAction[] = [];
  let input: PromptInput = newPromptInput(history);
  for (const key of [...parser.feed(sent), ...parser.flush()]) {
    const step = pressKey(input, key);
    input = step.input;
    if (step.action !== undefined) actions.push(step.action);
  }
  return { shown: shown(input), actions };
}

function shown({ editor: { cells, cursor } }: PromptInput): string {
  const part = (some: typeof cells): string => editorText({ cells: some, cursor: 0 });
  return `${part(cells.slice(0, cursor))}|${part(cells.slice(cursor))}`;
}

const [LEFT, UP, DOWN, HOME, DELETE] = ['\u001b[D', '\u001b[A', '\u001b[B', '\u001b[H', '\u001b[3~'];

describe('UI-1: writing a prompt', () => {
  test.for<[string, string, string]>([
    ['moves and inserts', `helo${LEFT}l`, 'hell|o'],
    ['deletes on both sides', `abc${LEFT}\u007f${DELETE}`, 'a|'],
    ['goes to the start and the end of a line', 'one\u001b\rtwo\u0001>\u0005<', 'one\n>two<|'],
    ['goes home in the first line', `ab${HOME}x`, 'x|ab'],
    ['deletes a word before the cursor', 'fix the  bug \u0017', 'fix the  |'],
    ['deletes to the start of the line', 'one\u001b\rtwo\u0015', 'one\n|'],
    ['deletes to the end of the line', `abc\u0001\u000b`, '|'],
    ['moves by words', 'one two three\u001bb\u001bb\u001bf', 'one two| three'],
    ['keeps an emoji together', `a👩‍👩‍👧${LEFT}x`, 'ax|👩‍👩‍👧'],
    ['deletes an emoji whole', 'a👩‍👩‍👧\u007f', 'a|'],
    ['joins a combining mark with its letter', 'e\u0301\u007f', '|'],
    ['breaks the line at a backslash', 'one\\\rtwo', 'one\ntwo|'],
    ['breaks the line at Ctrl-J', 'one\ntwo', 'one\ntwo|'],
    ['moves between its own lines first', `one\u001b\rtwo${UP}x`, 'onex|\ntwo'],
    [
      'takes control characters out of a paste',
      '\u001b[200~a\u0007b\r\nc\u001b[31m\u001b[201~',
      'ab\nc[31m|',
    ],
    ['completes a command', '/per\t', '/permissions |'],
    ['completes what commands have in common', '/c\t', '/c|'],
    ['completes an argument', '/model so\t', '/model sonnet |'],
    ['leaves Tab in other text alone', 'text\t', 'text|'],
  ])('%s', ([, sent, expected]) => {
    expect(type(sent).shown).toBe(expected);
  });

  test('Enter sends and empties the line; empty lines are not sent', () => {
    expect(type('hello\r  \r')).toEqual({
      shown: '|',
      actions: [{ type: 'submit', text: 'hello' }, { type: 'accept' }],
    });
  });

  test('Tab shows what a beginning could become', () => {
    expect(type('/c\t').actions).toEqual([
      { type: 'candidates', candidates: ['cost', 'context', 'cancel', 'continue', 'compact', 'clear'] },
    ]);
  });

  test('Ctrl-D leaves when the line is empty and deletes when it is not', () => {
    expect(type('\u0004').actions).toEqual([{ type: 'leave' }]);
    expect(type(`ab\u0001\u0004`)).toEqual({ shown: '|b', actions: [] });
  });

  test('going through history and back keeps the draft', () => {
    const history = ['first', 'second'];
    expect(type(`draft${UP}`, history).shown).toBe('second|');
    expect(type(`draft${UP}${UP}${UP}`, history).shown).toBe('first|');
    expect(type(`draft${UP}${UP}${DOWN}${DOWN}${DOWN}`, history).shown).toBe('draft|');
  });

  test('what was sent can be called back, once', () => {
    expect(type(`one\rone\r${UP}${UP}`).shown).toBe('one|');
  });

  test('a long paste is one cell and is sent whole', () => {
    const pasted = 'line\n'.repeat(100_000);
    const { actions } = type(`see: \u001b[200~${pasted}\u001b[201~ and more\r`);
    expect(actions).toEqual([{ type: 'submit', text: `see: ${pasted} and more` }]);
    expect(type(`a\u001b[200~${pasted}\u001b[201~\u007f`).shown).toBe('a|');
  });

  test('no sequence of keys throws or puts the cursor outside the text', () => {
    const names = Object.keys({
      enter: 0,
      newline: 0,
      tab: 0,
      escape: 0,
      backspace: 0,
      delete: 0,
      left: 0,
      right: 0,
      up: 0,
      down: 0,
      home: 0,
      end: 0,
      'word-left': 0,
      'word-right': 0,
      'delete-word': 0,
      'delete-next-word': 0,
      'delete-to-start': 0,
      'delete-to-end': 0,
      interrupt: 0,
      'end-of-input': 0,
      redraw: 0,
      expand: 0,
      search: 0,
      editor: 0,
      suspend: 0,
      mode: 0,
      agents: 0,
      'page-up': 0,
      'page-down': 0,
      background: 0,
      previous: 0,
      next: 0,
    } satisfies Record<KeyName, 0>) as KeyName[]; // keys of an object literal that names every KeyName
    const key: fc.Arbitrary<Key> = fc.oneof(
      fc.constantFrom(...names).map((name): Key => ({ type: 'press', name })),
      fc.string({ unit: 'binary' }).map((text): Key => ({ type: 'text', text })),
      fc.string({ unit: 'grapheme', maxLength: 2_000 }).map((text): Key => ({ type: 'paste', text })),
      fc.constantFrom('/', '/m', '\\', '\n').map((text): Key => ({ type: 'text', text })),
    );
    const property = fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      let input: PromptInput = newPromptInput(['old\nentry', 'older']);
      for (const next of keys) {
        input = pressKey(input, next).input;
        const { cells, cursor } = input.editor;
        expect(cursor).toBeGreaterThanOrEqual(0);
        expect(cursor).toBeLessThanOrEqual(cells.length);
        expect(cells).not.toContain('');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be in the text
        expect(editorText(input.editor)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }
    });
    fc.assert(property);
  });
});
