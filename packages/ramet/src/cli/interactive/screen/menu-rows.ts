/** A list to choose from, as rows below the input: at most a few, those around the chosen one. Pure. */
import { fitText, safeLine } from '../../../views/text/format.ts';
import type { ScreenSize } from './screen.ts';
import type { TextStyle } from './text-style.ts';

export interface Menu {
  /** Above the list; null for none. */
  readonly title: string | null;
  readonly items: readonly MenuItem[];
  readonly place: number;
  /** What is said where there is nothing to choose. */
  readonly none: string;
}

export interface MenuItem {
  readonly label: string;
  detail?(): string;
}

export interface MenuRow {
  readonly text: string;
  readonly paint: (text: string) => string;
}

const MOST_ROWS = 10;
/** Rows that the rest needs: output, input and status. */
const OTHERS = 5;
const plain = (text: string): string => text;

export function menuRows(menu: Menu, { rows, columns }: ScreenSize, style: TextStyle): MenuRow[] {
  const title = menu.title === null ? [] : [{ text: menu.title, paint: style.bold }];
  const room = Math.max(1, Math.min(MOST_ROWS, rows - OTHERS - title.length));
  const { length } = menu.items;
  if (length === 0) return [...title, { text: `  ${menu.none}`, paint: style.dim }];
  const first = Math.min(Math.max(0, menu.place - room + 1), length - Math.min(length, room));
  const shown = menu.items.slice(first, first + room);
  return [
    ...title,
    ...shown.map((item, index) => {
      const isChosen = first + index === menu.place;
      return {
        text: itemText(
          item,
          isChosen,
          columns - 1,
          isChosen && length > room ? `${menu.place + 1}/${length}` : '',
        ),
        paint: isChosen ? style.cyan : plain,
      };
    }),
  ];
}

/** The details end with the row; a long label is cut before they are. */
function itemText(item: MenuItem, isChosen: boolean, columns: number, count: string): string {
  const mark = isChosen ? '❯ ' : '  ';
  const about = [safeLine(item.detail?.() ?? ''), count].filter(Boolean).join(' · ');
  const room =
    columns - mark.length - (about === '' ? 0 : Math.min(about.length, Math.floor(columns / 2)) + 2);
  const label = fitText(safeLine(item.label), Math.max(8, room));
  return `${mark}${label}${about === '' ? '' : `  ${about}`}`;
}
