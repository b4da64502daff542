/**
 * The lists that open below the input: one that a command asked for takes every key until something is chosen or it is
 * closed; one that completes a word stays beside the text, and takes only the keys that choose. It draws nothing.
 */
import type { AgentId } from '../../../../schema/ids.ts';
import type { Key } from '../../editor/key-parser.ts';
import { type EditorState, editorOf } from '../../editor/line-editor.ts';
import { matchingItems, newPicker, type Picker, type PickerItem, pressPicker } from '../../editor/picker.ts';
import { cleared, type PromptInput } from '../../editor/prompt-input.ts';
import { acceptWord, type WordMenu, wordMenuOf } from '../../editor/word-menu.ts';
import type { Menu } from '../../screen/menu-rows.ts';

/** A list that a command offers. What is chosen becomes lines to carry out, or the text of the input. */
export interface PickRequest {
  readonly title: string;
  readonly items: readonly PickerItem[];
  /** The lines for what was chosen; absent where it goes into the input. */
  linesOf?(id: string): readonly string[];
  /** It came by itself: keys pressed just then are not meant for it, and text closes it. */
  readonly isQuestion?: true;
}

/** What a command came to; none knows the screen. */
export interface CommandAnswer {
  readonly text: string;
  readonly leave?: boolean;
  /** Whether the interrupted work of the session is resumed. */
  readonly goOn?: boolean;
  /** Another session is open now: what was said in it is shown. */
  readonly isResumed?: boolean;
  /** What the input holds next. */
  readonly fill?: string;
  /** What is asked of the model next. */
  readonly prompt?: string;
  /** A list to choose from. */
  readonly pick?: PickRequest;
  /** The agent whose conversation is shown next. */
  readonly open?: AgentId;
}

/** As for a question whether a call may run. */
const UNAWARE_MS = 700;

export interface MenuSources {
  /** Paths that answer what was typed behind an `@`, the best first. */
  files(search: string): readonly string[];
}

export interface MenuStep {
  readonly input: PromptInput;
  /** To be carried out at once. */
  readonly lines?: readonly string[];
}

export class Menus {
  readonly #sources: MenuSources;
  #request: PickRequest | null = null;
  #picker: Picker | null = null;
  #place = 0;
  /** The word whose list was closed with Esc, or chosen from. */
  #closedFor: string | null = null;
  readonly #now: () => number;
  #openedAt = 0;

  constructor(sources: MenuSources, now: () => number = () => performance.now()) {
    this.#sources = sources;
    this.#now = now;
  }

  open(request: PickRequest): void {
    this.#request = request;
    this.#openedAt = this.#now();
    this.#picker = newPicker(request.title, request.items);
  }

  /** What the input holds was not just written: the list of its last word stays closed. */
  leave({ editor }: PromptInput): void {
    this.#closedFor = wordMenuOf(editor, () => [])?.word ?? null;
  }

  /** A list takes every key. */
  get isOpen(): boolean {
    return this.#picker !== null;
  }

  /** What is written: the search of an open list, or the input. */
  editorFor({ editor }: PromptInput): EditorState {
    return this.#picker?.query ?? editor;
  }

  shown(input: PromptInput): Menu | null {
    if (this.#picker !== null) {
      const { title, place } = this.#picker;
      return { title, items: matchingItems(this.#picker), place, none: 'nothing matches; Esc closes' };
    }
    const menu = this.#wordMenu(input);
    if (menu === null) return null;
    return { title: null, items: menu.items, place: this.#placeIn(menu), none: menu.none };
  }

  /** Null when the key is not for a list. */
  take(key: Key, input: PromptInput): MenuStep | null {
    if (key.type === 'press' && key.name === 'suspend') return null;
    if (this.#picker !== null) {
      if (this.#request?.isQuestion !== true) return this.#takeForPicker(this.#picker, key, input);
      if (key.type === 'press') {
        return this.#now() - this.#openedAt < UNAWARE_MS
          ? { input }
          : this.#takeForPicker(this.#picker, key, input);
      }
      this.#picker = null;
      return null;
    }
    const menu = key.type === 'press' ? this.#wordMenu(input) : null;
    if (key.type !== 'press' || menu === null) {
      this.#place = 0;
      return null;
    }
    const { length } = menu.items;
    switch (key.name) {
      case 'up':
      case 'previous':
      case 'down':
      case 'next': {
        if (length < 2) return null;
        const by = key.name === 'up' || key.name === 'previous' ? -1 : 1;
        this.#place = (this.#placeIn(menu) + by + length) % length;
        return { input };
      }
      case 'escape':
        this.#closedFor = menu.word;
        return { input };
      case 'tab':
      case 'enter':
        return this.#choose(menu, key.name, input);
      default:
        this.#place = 0;
        return null;
    }
  }

  /** Enter on a whole word is for the input: it sends. */
  #choose(menu: WordMenu, key: 'tab' | 'enter', input: PromptInput): MenuStep | null {
    const item = menu.items[this.#placeIn(menu)];
    this.#place = 0;
    if (item === undefined || (key === 'enter' && item.label === menu.word)) return null;
    this.#closedFor = item.label;
    if (key === 'enter' && item.sendsAlone === true) return { input: cleared(input), lines: [item.label] };
    return { input: acceptWord(input, menu, item) };
  }

  #takeForPicker(picker: Picker, key: Key, input: PromptInput): MenuStep {
    const step = pressPicker(picker, key);
    this.#picker = step.type === 'open' ? step.picker : null;
    if (step.type !== 'picked' || this.#request === null) return { input };
    const { linesOf } = this.#request;
    if (linesOf === undefined) return { input: { ...cleared(input), editor: editorOf(step.id) } };
    return { input, lines: linesOf(step.id) };
  }

  #wordMenu(input: PromptInput): WordMenu | null {
    const menu = input.recalled === null ? wordMenuOf(input.editor, this.#sources.files) : null;
    if (menu === null) this.#closedFor = null;
    return menu === null || menu.word === this.#closedFor ? null : menu;
  }

  #placeIn({ items }: WordMenu): number {
    return Math.min(this.#place, Math.max(0, items.length - 1));
  }
}
