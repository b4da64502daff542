/** Quotes and list items, which surround the blocks of an answer. Pure. */
import type { BlockLead } from './blocks.ts';

export interface ListItem {
  readonly kind: 'item';
  /** Columns that its other lines are indented by. */
  readonly offset: number;
  readonly marker: string;
  /** The marker has been shown. */
  isShown: boolean;
}

interface Quote {
  readonly kind: 'quote';
  /** Something in it has been shown. */
  isShown: boolean;
}

export type Container = Quote | ListItem;

/** What is deeper is text. */
const DEEPEST = 16;
const BULLETS = ['•', '◦', '▪'];
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
export const FENCE: RegExp = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/;
export const HEADING: RegExp = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
export const RULE: RegExp = /^ {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$/;

export function isBlockStart(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line);
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Tabs before the text as blanks, to every fourth column. */
export function untabbed(line: string): string {
  return line.replace(/^[ \t]*\t/, (blanks) => {
    let width = 0;
    for (const blank of blanks) width += blank === '\t' ? 4 - (width % 4) : 1;
    return ' '.repeat(width);
  });
}

/** What is left of a line inside those that it continues, and how many these are. */
export function within(containers: readonly Container[], line: string): { rest: string; matched: number } {
  let rest = line;
  let matched = 0;
  for (const container of containers) {
    if (container.kind === 'quote') {
      const mark = QUOTE.exec(rest);
      if (mark === null) break;
      rest = rest.slice(mark[0].length);
    } else if (rest.trim() === '') rest = '';
    else if (indentOf(rest) >= container.offset) rest = rest.slice(container.offset);
    else break;
    matched += 1;
  }
  return { rest, matched };
}

/** The quotes and items that a line begins. `interrupts`: it would otherwise belong to a paragraph. */
export function containersAt(
  line: string,
  around: readonly Container[],
  interrupts: boolean,
): { opened: Container[]; rest: string } {
  const opened: Container[] = [];
  let rest = line;
  for (;;) {
    const next = containerAt(rest, interrupts && opened.length === 0);
    if (next === null || around.length + opened.length >= DEEPEST) return { opened, rest };
    opened.push(withBullet(next.container, [...around, ...opened]));
    rest = next.rest;
  }
}

function containerAt(rest: string, interrupts: boolean): { container: Container; rest: string } | null {
  const quote = QUOTE.exec(rest);
  if (quote !== null)
    return { container: { kind: 'quote', isShown: false }, rest: rest.slice(quote[0].length) };
  const found = RULE.test(rest) ? null : ITEM.exec(rest);
  if (found === null) return null;
  const [whole, indent = '', marker = '', blanks = ''] = found;
  const isEmpty = rest.length === whole.length;
  if (interrupts && (isEmpty || (/\d/.test(marker) && !/^1[.)]$/.test(marker)))) return null;
  // Five blanks and more are one, and the start of code.
  const offset = indent.length + marker.length + (isEmpty || blanks.length > 4 ? 1 : blanks.length);
  return { container: { kind: 'item', offset, marker, isShown: false }, rest: rest.slice(offset) };
}

/** Bullets differ by how deep they are. */
function withBullet(container: Container, around: readonly Container[]): Container {
  if (container.kind === 'quote' || /\d/.test(container.marker)) return container;
  const depth = around.filter(({ kind }) => kind === 'item').length;
  return { ...container, marker: BULLETS[depth % BULLETS.length] ?? '•' };
}

export function leadOf(containers: readonly Container[]): BlockLead {
  let first = '';
  let rest = '';
  for (const container of containers) {
    const blank = container.kind === 'quote' ? '│ ' : ' '.repeat(container.marker.length + 1);
    first += container.kind === 'quote' || container.isShown ? blank : `${container.marker} `;
    rest += blank;
  }
  return { first, rest };
}
