import { describe, expect, test } from 'vitest';
import type { Key, KeyName } from '../../editor/key-parser.ts';
import { editorOf, editorText } from '../../editor/line-editor.ts';
import { newPromptInput, type PromptInput, pressKey } from '../../editor/prompt-input.ts';
import { menuRows } from '../../screen/menu-rows.ts';
import { textStyle } from '../../screen/text-style.ts';
import { Menus } from './menus.ts';

const press = (name: KeyName): Key => ({ type: 'press', name });
const files = (search: string): string[] =>
  ['src/a.ts', 'src/my file.ts', 'docs/'].filter((path) => path.includes(search));

function writing(text: string): PromptInput {
  return { ...newPromptInput([]), editor: editorOf(text) };
}

/** As the terminal does: what no list takes goes to the input. */
function type(menus: Menus, input: PromptInput, ...keys: Key[]): { input: PromptInput; lines: string[] } {
  const lines: string[] = [];
  let now = input;
  for (const key of keys) {
    const step = menus.take(key, now);
    now = step?.input ?? pressKey(now, key).input;
    lines.push(...(step?.lines ?? []));
  }
  return { input: now, lines };
}

describe('UI-3: lists beside the input', () => {
  test('a slash lists commands, and what follows it narrows them', () => {
    const menus = new Menus({ files });
    const labels = (text: string): string[] | undefined =>
      menus.shown(writing(text))?.items.map(({ label }) => label);
    expect(labels('/')).toContain('/help');
    expect(labels('/co')?.slice(0, 3)).toEqual(['/cost', '/context', '/continue']);
    expect(labels('/etc/hosts')).toBeUndefined();
    expect(labels('fix /co')).toBeUndefined();
    expect(labels('/cost now')).toBeUndefined();
    expect(labels('/zzz')).toBeUndefined();
  });

  test('Enter carries out a command that needs nothing more, and completes one that does', () => {
    const menus = new Menus({ files });
    const help = type(menus, writing('/he'), press('enter'));
    expect(help).toMatchObject({ lines: ['/help'] });
    expect(editorText(help.input.editor)).toBe('');
    const tell = type(menus, writing('/tel'), press('enter'));
    expect(tell.lines).toEqual([]);
    expect(editorText(tell.input.editor)).toBe('/tell ');
  });

  test('Ctrl-Z is not for a list that takes every other key', () => {
    const menus = new Menus({ files });
    menus.open({ title: 'earlier prompts', items: [{ id: 'a', label: 'a' }] });
    expect(menus.take(press('suspend'), writing(''))).toBeNull();
    expect(menus.isOpen).toBe(true);
  });

  test('Esc closes it, and the whole word is sent by Enter as ever', () => {
    const menus = new Menus({ files });
    const { input } = type(menus, writing('/co'), press('escape'));
    expect(menus.shown(input)).toBeNull();
    expect(menus.take(press('enter'), input)).toBeNull();
    expect(new Menus({ files }).take(press('enter'), writing('/cost'))).toBeNull();
  });

  test('files are completed at the cursor, one with a blank in quotes, a folder to look into', () => {
    const menus = new Menus({ files });
    const done = type(menus, writing('see @src/a'), press('tab'));
    expect(editorText(done.input.editor)).toBe('see @src/a.ts ');
    expect(menus.shown(done.input)).toBeNull();
    expect(editorText(type(menus, writing('@my'), press('enter')).input.editor)).toBe('@"src/my file.ts" ');
    expect(editorText(type(menus, writing('@doc'), press('tab')).input.editor)).toBe('@docs/');
    expect(menus.shown(writing('mail me@src'))).toBeNull();
    expect(menus.shown(writing('@nothing'))?.items).toEqual([]);
    expect(menus.take(press('enter'), writing('@nothing'))).toBeNull();
  });

  test('a list that a command opened takes all keys until it is closed', () => {
    const menus = new Menus({ files });
    const linesOf = (id: string): string[] => [`/resume ${id}`];
    const listed = [
      { id: 'a', label: 'one' },
      { id: 'b', label: 'two' },
    ];
    menus.open({ title: 'which?', items: listed, linesOf });
    const draft = writing('a draft');
    const { input, lines } = type(menus, draft, { type: 'text', text: 'tw' }, press('enter'));
    expect(lines).toEqual(['/resume b']);
    expect(editorText(input.editor)).toBe('a draft');
    expect(menus.shown(writing(''))).toBeNull();
  });

  test('a list without lines fills the input', () => {
    const menus = new Menus({ files });
    menus.open({ title: 'earlier', items: [{ id: 'fix\nit', label: 'fix it' }] });
    expect(editorText(type(menus, writing('draft'), press('enter')).input.editor)).toBe('fix\nit');
  });

  test('a list that came by itself takes no key that was not meant for it', () => {
    let now = 0;
    const menus = new Menus({ files }, () => now);
    const request = { title: 'go?', items: [{ id: 'go', label: 'go' }], linesOf: () => ['go'] };
    menus.open({ ...request, isQuestion: true });
    expect(type(menus, writing(''), press('enter')).lines).toEqual([]);
    now = 800;
    expect(type(menus, writing(''), press('enter')).lines).toEqual(['go']);
    menus.open({ ...request, isQuestion: true });
    now = 2_000;
    const typed = type(menus, writing(''), { type: 'text', text: 'wait' }, press('enter'));
    expect(typed.lines).toEqual([]);
    expect(menus.shown(typed.input)).toBeNull();
  });

  test('the rows fit any screen and always show the chosen one', () => {
    const items = Array.from({ length: 40 }, (_, index) => ({
      label: `session ${index}`,
      detail: () => `yesterday 10:00 · main · $0.01${' · more'.repeat(9)}`,
    }));
    for (const rows of [4, 10, 24])
      for (const place of [0, 7, 39]) {
        const menu = menuRows(
          { title: 'which?', items, place, none: '' },
          { rows, columns: 40 },
          textStyle(false),
        );
        expect(menu.length).toBeLessThan(Math.max(3, rows - 3));
        expect(menu.filter(({ text }) => text.startsWith('❯')).map(({ text }) => text)).toEqual([
          expect.stringContaining(`session ${place}`),
        ]);
      }
  });

  test('a prompt that is handed back has no list open; the next letter opens it', () => {
    const menus = new Menus({ files });
    const input = writing('look at @src');
    menus.leave(input);
    expect(menus.shown(input)).toBeNull();
    expect(menus.shown(writing('look at @src/'))?.items.map(({ label }) => label)).toContain('@src/a.ts');
  });
});
