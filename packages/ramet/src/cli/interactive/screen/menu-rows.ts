/** A list to choose from, as rows below the input: at most a few, those around the chosen one. Pure. */
import { displayWidth, fitText, safeLine } from '../../../views/text/format.ts';
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
const LONGEST_LABEL = 2_000;
const plain = (text: string): string => text;

export function menuRows(menu: Menu, { rows, columns }: ScreenSize, style: TextStyle): MenuRow[] {
  const title = menu.title === null ? [] : [{ text: menu.title, paint: style.bold }];
  const room = Math.max(1, Math.min(MOST_ROWS, rows - OTHERS - title.length));
  const { length } = menu.items;
  if (length === 0) return [...title, { text: `  ${menu.none}`, paint: style.dim }];
  const first = Math.min(Math.max(0, menu.place - room + 1), length - Math.min(length, room));
  const shown = menu.items.slice(first, first + room);
  const width = labelWidth(shown, columns - 1);
  return [
    ...title,
    ...shown.map((item, index) => {
      const isChosen = first + index === menu.place;
      const count = isChosen && length > room ? `${menu.place + 1}/${length}` : '';
      const label = fitText(labelText(item), width);
      const about = [safeLine(item.detail?.() ?? ''), count].filter(Boolean).join(' · ');
      const gap = about === '' ? '' : ' '.repeat(width - displayWidth(label) + 2);
      return {
        text: `${isChosen ? '❯ ' : '  '}${label}${gap}${about}`,
        paint: isChosen ? style.cyan : plain,
      };
    }),
  ];
}

/** Wider than any screen; the rest of a longer one is not looked at. */
function labelText({ label }: MenuItem): string {
  return safeLine(label.slice(0, LONGEST_LABEL));
}

/** Details are in one column; a long label is cut before they are. */
function labelWidth(items: readonly MenuItem[], columns: number): number {
  const longest = Math.max(...items.map((item) => displayWidth(labelText(item))));
  const hasDetails = items.some(({ detail }) => detail !== undefined);
  return Math.max(8, Math.min(longest, hasDetails ? Math.floor(columns / 2) : columns - 2));
}
