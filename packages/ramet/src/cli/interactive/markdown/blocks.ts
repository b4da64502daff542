/** The blocks of an answer as rows of a terminal, at any width. Pure. */
import { displayWidth, fitText } from '../../../views/text/format.ts';
import { inlineText } from './inline-marks.ts';
import type { Definition } from './link-address.ts';
import { type Look, linked, type Paint, paint, painted } from './look.ts';
import { type TableParts, tableRows } from './table-rows.ts';
import { colouredSpans, type Row, type Span, wrapLine, wrapSpans } from './wrapped-rows.ts';

/** Something that is written once, and drawn again only where it is still in sight. */
export interface Block {
  rows(columns: number): readonly Row[];
}

/** What quotes and lists put before a block. */
export interface BlockLead {
  readonly first: string;
  readonly rest: string;
}

/** What stands between this block and the one before. */
export interface BlockPlace {
  readonly lead: BlockLead;
  /** An empty row comes first, with the lead of what surrounds it. */
  readonly gap: string | null;
}

const EMPTY: Row = { text: '', width: 0 };
const TASK = /^\[([ xX])\] /;

/** Lines that Ramet itself writes. Colours may span several; the last line break ends the last line. */
export function lineBlocks(text: string): Block[] {
  const lines = spanLines(colouredSpans(text));
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines.map((spans) => ({ rows: (columns) => wrapLine(spans, columns) }));
}

function spanLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    for (const [index, text] of span.text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ ...span, text });
    }
  }
  return lines;
}

export function textBlock(text: string, heading: number, place: BlockPlace, look: Look): Block {
  const marks = heading > 0 && !look.colours ? `${'#'.repeat(heading)} ` : '';
  const paints: Paint[] = heading === 0 ? [] : heading === 1 ? ['bold', 'underline'] : ['bold'];
  const shown = marks + withTask(text, place, look);
  const shift = text.length - shown.length;
  return {
    rows(columns) {
      const rows = wrapSpans(inlineText(shown, look, paints).spans, columns, leadSpans(place.lead, look));
      const placed = rows.map((each) => (each.at === undefined ? each : { ...each, at: each.at + shift }));
      return [...gapRows(place, columns, look), ...placed];
    },
  };
}

/** A box to tick at the start of a list item. */
function withTask(text: string, { lead }: BlockPlace, look: Look): string {
  if (lead.first === lead.rest || look.isAscii === true) return text;
  return text.replace(TASK, (_, mark: string) => (mark === ' ' ? '☐ ' : '☑ '));
}

export interface CodeParts {
  /** Coloured already. */
  readonly lines: readonly string[];
  /** What stands behind the opening fence; null where this is not the beginning. */
  readonly opening: string | null;
  readonly isEnd: boolean;
}

/** Lines of code are not wrapped: the terminal does it, and what is copied has the line breaks of the source. */
export function codeBlock({ lines, opening, isEnd }: CodeParts, place: BlockPlace, look: Look): Block {
  const { first, rest } = place.lead;
  const edge = (text: string, columns: number): Row =>
    row(paint(fitText(text.trimEnd(), columns), ['dim'], look));
  const line = (text: string, index: number): Row => {
    const before = opening === null && index === 0 ? first : rest;
    return { ...row(paint(before, ['dim'], look) + withoutTabs(text)), isWhole: true };
  };
  return {
    rows: (columns) => [
      ...gapRows(place, columns, look),
      ...(opening === null ? [] : [edge(`${first}╭─ ${opening}`, columns)]),
      ...lines.map(line),
      ...(isEnd ? [edge(`${rest}╰─`, columns)] : []),
    ],
  };
}

export function tableBlock(parts: TableParts, place: BlockPlace, look: Look): Block {
  const { first, rest } = leadSpans(place.lead, look);
  const taken = displayWidth(place.lead.rest);
  return {
    rows(columns) {
      const isRoomy = taken <= columns / 2;
      const rows = tableRows(parts, Math.max(1, columns - (isRoomy ? taken : 0)), look);
      return [
        ...gapRows(place, columns, look),
        ...rows.map(({ text, width }, index) => {
          const { open, text: before, close } = index === 0 ? first : rest;
          return isRoomy
            ? { text: `${open}${before}${close}${text}`, width: width + taken }
            : { text, width };
        }),
      ];
    },
  };
}

/** Where a reference leads. It is shown, because text above it may refer to it that was written before. */
export function definitionBlock(definition: Definition, place: BlockPlace, look: Look): Block {
  const { label, address, title } = definition;
  const spans = [
    painted(`[${label}]: `, ['dim'], look),
    linked(painted(address, ['underline'], look), address, look),
    ...(title === '' ? [] : [painted(` ${title}`, ['dim'], look)]),
  ];
  return {
    rows: (columns) => [
      ...gapRows(place, columns, look),
      ...wrapSpans(spans, columns, leadSpans(place.lead, look)),
    ],
  };
}

export function ruleBlock(place: BlockPlace, look: Look): Block {
  return {
    rows(columns) {
      const { first } = place.lead;
      const width = Math.max(1, Math.min(columns, 40) - displayWidth(first));
      return [
        ...gapRows(place, columns, look),
        row(paint(`${first}${'─'.repeat(width)}`, ['dim'], look)),
      ].map((each) => (each.width > columns ? EMPTY : each));
    },
  };
}

function gapRows({ gap }: BlockPlace, columns: number, look: Look): Row[] {
  return gap === null ? [] : [row(paint(fitText(gap.trimEnd(), columns), ['dim'], look))];
}

function leadSpans({ first, rest }: BlockLead, look: Look) {
  const dimmed = (text: string) => painted(text, text.includes('│') ? ['dim'] : [], look);
  return { first: dimmed(first), rest: dimmed(rest) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with Escape and take no room
const COLOURS = /\u001b\[\d+m/g;

function row(text: string): Row {
  return { text, width: displayWidth(text.replace(COLOURS, '')) };
}

const TAB = 8;

function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line;
  const [head = '', ...others] = line.split('\t');
  let text = head;
  let width = row(head).width;
  for (const part of others) {
    const blanks = TAB - (width % TAB);
    text += ' '.repeat(blanks) + part;
    width += blanks + row(part).width;
  }
  return text;
}
