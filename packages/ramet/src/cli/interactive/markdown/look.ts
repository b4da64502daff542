/** How parts of an answer look on this terminal. With no colours marks of the source stay where they carry meaning. */
import type { Span } from './wrapped-rows.ts';

export interface Look {
  readonly colours: boolean;
  /** The terminal is known to understand links (OSC 8). */
  readonly links: boolean;
  /** The terminal shows no more than ASCII. */
  readonly isAscii?: boolean;
  /** What the answer has defined so far (`[label]: address`), by `labelKey`. */
  readonly references?: ReadonlyMap<string, string>;
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Paint = keyof typeof CODES;

export function painted(text: string, paints: readonly Paint[], look: Look): Span {
  if (!look.colours || paints.length === 0) return { text, open: '', close: '' };
  const open = paints.map((paint) => `\u001b[${CODES[paint][0]}m`).join('');
  const close = paints.map((paint) => `\u001b[${CODES[paint][1]}m`).join('');
  return { text, open, close };
}

/** The same as text for a terminal. */
export function paint(text: string, paints: readonly Paint[], look: Look): string {
  const { open, close } = painted(text, paints, look);
  return text === '' ? '' : `${open}${text}${close}`;
}

/** The span as a link that the terminal opens; only to addresses of the usual kinds. */
export function linked(span: Span, address: string, look: Look): Span {
  if (!look.links || !/^(?:https?|mailto|ftp):/i.test(address)) return span;
  const safe = address.toWellFormed().replace(/[^\u0021-\u007e]/gu, encodeURIComponent);
  return {
    ...span,
    open: `\u001b]8;;${safe}\u001b\\${span.open}`,
    close: `${span.close}\u001b]8;;\u001b\\`,
  };
}
