/** What a terminal is known to show, from what its environment says. Unknown is no. */
import type { Look } from '../markdown/look.ts';
import { wantsColours } from './text-style.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether text beyond ASCII arrives as it is: only with a locale that says so. */
export function hasUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '') ?? '';
  return /utf-?8/i.test(locale);
}

const LINKING_PROGRAMS = /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio|Tabby)$/i;
const LINKING_TERMS = /kitty|ghostty|alacritty|foot|wezterm|contour/i;

/** Whether it opens links (OSC 8). A multiplexer may be older than the terminal around it, and hides them. */
export function opensLinks(env: Environment): boolean {
  if ((env.TMUX ?? '') !== '' || (env.STY ?? '') !== '' || /^(?:screen|tmux)/.test(env.TERM ?? ''))
    return false;
  return (
    LINKING_PROGRAMS.test(env.TERM_PROGRAM ?? '') ||
    LINKING_TERMS.test(env.TERM ?? '') ||
    Number(env.VTE_VERSION ?? 0) >= 5_000 ||
    (env.WT_SESSION ?? '') !== '' ||
    Number(env.KONSOLE_VERSION ?? 0) >= 201_200
  );
}

/** How answers look on this terminal. */
export function lookOf(env: NodeJS.ProcessEnv): Look {
  return { colours: wantsColours(env), links: opensLinks(env), isAscii: !hasUnicode(env) };
}

/** Signs that we use, and what stands for each without Unicode; as wide, so that nothing moves. */
const ASCII: Readonly<Record<string, string>> = {
  '•': '*',
  '◦': 'o',
  '▪': '-',
  '│': '|',
  '─': '-',
  '┼': '+',
  '╭': '+',
  '╰': '+',
  '✓': 'v',
  '✗': 'x',
  '→': '>',
  '←': '<',
  '↑': '^',
  '❯': '>',
  '…': '~',
  '·': '-',
  '»': '>',
  '⋮': ':',
  '☐': 'o',
  '☑': 'x',
  '◐': '>',
  '∴': '*',
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
};
const SIGNS = new RegExp(`[${Object.keys(ASCII).join('')}]|[\\u2800-\\u28ff]`, 'gu');
const SPINNER = '|/-\\';

/** The bytes for a terminal without Unicode. Other letters than ours stay: which it can show is not known. */
export function asciiForms(bytes: string): string {
  return bytes.replace(
    SIGNS,
    (sign) => ASCII[sign] ?? SPINNER[(sign.codePointAt(0) ?? 0) % SPINNER.length] ?? '*',
  );
}
