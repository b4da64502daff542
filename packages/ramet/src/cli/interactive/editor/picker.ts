/**
 * A list to choose from, with a search: a state and a key in, the next state or the choice out. Pure. It knows neither
 * the screen nor what is chosen.
 *
 * Invariant: the chosen place is one of those that match, or 0 where none does.
 */
import { fuzzyMatcher } from './fuzzy-match.ts';
import type { Key } from './key-parser.ts';
import {
  deleteTo,
  type EditorState,
  EMPTY_EDITOR,
  editorText,
  insertPaste,
  insertText,
  wordStart,
} from './line-editor.ts';

/** Of a longer text, such as a prompt with a paste of megabytes, only the beginning is searched. */
const SEARCHED = 2_000;

export interface PickerItem {
  readonly id: string;
  /** What is searched and shown first. */
  readonly label: string;
  /** What else is shown; asked for only when it is. */
  detail?(): string;
}

export interface Picker {
  readonly title: string;
  readonly items: readonly PickerItem[];
  readonly query: EditorState;
  readonly place: number;
}

export type PickerStep =
  | { readonly type: 'open'; readonly picker: Picker }
  | { readonly type: 'picked'; readonly id: string }
  | { readonly type: 'closed' };

export function newPicker(title: string, items: readonly PickerItem[]): Picker {
  return { title, items, query: EMPTY_EDITOR, place: 0 };
}

/** In their own order without a search, else the best first. */
export function matchingItems({ items, query }: Picker): readonly PickerItem[] {
  const wanted = editorText(query).trim();
  if (wanted === '') return items;
  const scoreOf = fuzzyMatcher(wanted);
  const scored = items.flatMap((item, index) => {
    const score = scoreOf(`${item.id.slice(0, SEARCHED)} ${item.label.slice(0, SEARCHED)}`.toLowerCase());
    return score === null ? [] : [{ item, score, index }];
  });
  return scored.toSorted((a, b) => b.score - a.score || a.index - b.index).map(({ item }) => item);
}

export function pressPicker(picker: Picker, key: Key): PickerStep {
  if (key.type === 'text') return searching(picker, insertText(picker.query, key.text));
  if (key.type === 'paste')
    return searching(picker, insertPaste(picker.query, key.text.replace(/\s+/g, ' ').slice(0, 200)));
  switch (key.name) {
    case 'enter':
    case 'tab':
      return pick(picker);
    case 'escape':
    case 'interrupt':
    case 'end-of-input':
      return { type: 'closed' };
    case 'up':
    case 'previous':
      return moved(picker, -1);
    case 'down':
    case 'next':
      return moved(picker, 1);
    case 'backspace':
      return searching(picker, deleteTo(picker.query, picker.query.cursor - 1));
    case 'delete-word':
      return searching(picker, deleteTo(picker.query, wordStart(picker.query)));
    case 'delete-to-start':
      return searching(picker, EMPTY_EDITOR);
    default:
      return { type: 'open', picker };
  }
}

function pick(picker: Picker): PickerStep {
  const chosen = matchingItems(picker)[picker.place];
  return chosen === undefined ? { type: 'open', picker } : { type: 'picked', id: chosen.id };
}

/** Another search begins at its best match. */
function searching(picker: Picker, query: EditorState): PickerStep {
  return { type: 'open', picker: { ...picker, query, place: 0 } };
}

/** From the last on to the first, and back. */
function moved(picker: Picker, by: -1 | 1): PickerStep {
  const { length } = matchingItems(picker);
  const place = length === 0 ? 0 : (picker.place + by + length) % length;
  return { type: 'open', picker: { ...picker, place } };
}
