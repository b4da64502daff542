import { describe, expect, test } from 'vitest';
import { WrittenPrompt } from '../chat/input/written-prompt.ts';
import type { Key, KeyName } from './key-parser.ts';
import { editorText } from './line-editor.ts';

function start(suggestions: readonly string[]) {
  const source = {
    suggestions,
    dropSuggestions(): void {
      source.suggestions = [];
    },
  };
  const written = new WrittenPrompt(['earlier'], () => source);
  const press = (key: KeyName | Key) =>
    written.press(typeof key === 'string' ? { type: 'press', name: key } : key, () => []);
  const text = (): string => editorText(written.input.editor);
  return { written, press, text, source };
}

const typed = (text: string): Key => ({ type: 'text', text });

describe('BG-4: suggestions beside the input', () => {
  test('Tab goes through them, after the last the input is empty again, and Enter sends what stands there', () => {
    const { written, press, text } = start(['One.', 'Two.']);
    expect(written.suggestion).toBe('Tab: One. (1 more)');
    press('tab');
    expect([text(), written.suggestion]).toEqual([
      'One.',
      'suggestion 1 of 2: Enter sends it, Tab shows the next',
    ]);
    press('tab');
    expect([text(), written.suggestion]).toEqual([
      'Two.',
      'suggestion 2 of 2: Enter sends it, Tab removes it',
    ]);
    press('tab');
    expect([text(), written.suggestion]).toEqual(['', 'Tab: One. (1 more)']);
    press('tab');
    expect(press('enter')).toEqual({ type: 'submit', text: 'One.' });
  });

  test('Enter with an empty input never sends one', () => {
    const { press } = start(['One.']);
    expect(press('enter')).toEqual({ type: 'accept' });
  });

  test.each<[string, (KeyName | Key)[], string]>([
    ['types', [typed('x')], 'x'],
    ['pastes', [{ type: 'paste', text: 'pasted' }], 'pasted'],
    ['changes the one that was taken', ['tab', 'backspace'], 'One'],
    ['goes back to an earlier prompt', ['up'], 'earlier'],
  ])('a person who %s drops them, and Tab has its own meaning again', (_, keys, left) => {
    const { written, press, text, source } = start(['One.', 'Two.']);
    for (const key of keys) press(key);
    expect([text(), written.suggestion, source.suggestions]).toEqual([left, null, []]);
    press('tab');
    expect(text()).toBe(left);
  });

  test('one that comes while there is text in the input waits, and its row has no control characters', () => {
    const { written, press, source } = start([]);
    press(typed('x'));
    source.suggestions = ['Run\u001b[31m it.'];
    expect(written.suggestion).toBeNull();
    press('backspace');
    expect(written.suggestion).toBe('Tab: Run it.');
  });
});
