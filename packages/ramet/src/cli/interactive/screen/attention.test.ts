import { describe, expect, test } from 'vitest';
import { createAttention } from './attention.ts';

function written(env: Readonly<Record<string, string>>) {
  const bytes: string[] = [];
  return { bytes, attention: createAttention(env, (text) => bytes.push(text)) };
}

const named = (bytes: string): string => bytes.replaceAll('\u001b', '<esc>').replaceAll('\u0007', '<bell>');

describe('UI-1: a person who looks elsewhere', () => {
  test('hears a question and the end of a long turn, and not that of a short one', () => {
    const { bytes, attention } = written({ TERM: 'xterm-256color' });
    attention.turnEnded(5_000);
    expect(bytes).toEqual([]);
    attention.turnEnded(60_000);
    attention.question('Bash');
    expect(bytes).toEqual(['\u0007', '\u0007']);
  });

  test.for<[Record<string, string>, string]>([
    [{ TERM_PROGRAM: 'iTerm.app' }, '<bell><esc>]9;Ramet asks: Bash x<bell>'],
    [{ TERM: 'xterm-kitty' }, '<bell><esc>]99;;Ramet asks: Bash x<esc>\\'],
    [{ TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/x' }, '<bell>'],
    [{ RAMET_NOTIFY: 'title' }, ''],
    [{ RAMET_NOTIFY: 'off' }, ''],
  ])('with %j gets %j, without controls of what asks', ([env, expected]) => {
    const { bytes, attention } = written(env);
    attention.question('Bash;x\u0007');
    expect(named(bytes.join(''))).toBe(expected);
  });

  test('sees in the title what the conversation is about, and has the old title afterwards', () => {
    const { bytes, attention } = written({ TERM: 'xterm-256color' });
    attention.release();
    attention.about('Fix\u0007 the\nparser');
    attention.about('more');
    attention.release();
    expect(named(bytes[0] ?? '').replace(/ +/g, ' ')).toBe('<esc>[22;2t<esc>]2;ramet: Fix the parser<bell>');
    expect(bytes.slice(1)).toEqual(['\u001b]2;ramet: more\u0007', '\u001b]2;\u0007\u001b[23;2t']);
    const off = written({ RAMET_NOTIFY: 'off' });
    off.attention.about('x');
    expect(off.bytes).toEqual([]);
  });
});
