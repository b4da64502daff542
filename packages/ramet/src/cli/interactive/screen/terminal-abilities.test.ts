import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../views/text/format.ts';
import { asciiForms, hasUnicode, opensLinks } from './terminal-abilities.ts';

/** Arrows, lines, shapes and dots in the sources of a directory. */
function signsOf(directory: string): string[] {
  const sources = globSync('**/*.ts', { cwd: directory }).filter((file) => !file.endsWith('.test.ts'));
  const found = sources.flatMap(
    (file) => readFileSync(join(directory, file), 'utf8').match(/[\u2190-\u2bff]/gu) ?? [],
  );
  return [...new Set(found)];
}

describe('UI-1: what a terminal is known to show', () => {
  test.for([
    [{ LANG: 'en_US.UTF-8' }, true],
    [{ LANG: 'C.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: '' }, true],
    [{ LANG: 'C', LC_CTYPE: 'C.UTF-8' }, true],
    [{}, false],
  ] as const)('Unicode with %o: %o', ([env, expected]) => {
    expect(hasUnicode(env)).toBe(expected);
  });

  test.for([
    [{ TERM: 'xterm-256color' }, false],
    [{ TERM: 'xterm-kitty' }, true],
    [{ TERM: 'xterm-256color', VTE_VERSION: '7600' }, true],
    [{ TERM: 'xterm-256color', VTE_VERSION: '4205' }, false],
    [{ TERM_PROGRAM: 'WezTerm' }, true],
    [{ TERM: 'tmux-256color', VTE_VERSION: '7600', TMUX: '/tmp/x' }, false],
  ] as const)('links with %o: %o', ([env, expected]) => {
    expect(opensLinks(env)).toBe(expected);
  });

  test('signs of ours as ASCII, as wide as before; letters stay', () => {
    const signs = `… · » ${signsOf(join(import.meta.dirname, '..')).join(' ')}`;
    expect(signs).toContain('❯');
    expect(asciiForms(signs)).toMatch(/^[ -~]+$/);
    expect(displayWidth(asciiForms(signs))).toBe(displayWidth(signs));
    expect(asciiForms('\u001b[1mGrün\u001b[22m')).toBe('\u001b[1mGrün\u001b[22m');
  });
});
