/** The list that belongs to the word being written: commands behind a slash, files behind an at sign. Pure. */
import { CHAT_COMMANDS, type ChatCommandHelp } from './command-completion.ts';
import { customCommands } from './custom-commands.ts';
import { fuzzyMatcher } from './fuzzy-match.ts';
import { deleteTo, type EditorState, insertText } from './line-editor.ts';
import { quotedPath } from './mentions.ts';
import type { PromptInput } from './prompt-input.ts';

export interface WordItem {
  readonly label: string;
  /** Enter carries it out: it needs nothing behind it. */
  readonly sendsAlone?: boolean;
  detail?(): string;
}

export interface WordMenu {
  /** As it is written, with its sign. */
  readonly word: string;
  readonly items: readonly WordItem[];
  readonly none: string;
}

const LONGEST_WORD = 300;

/** Null when the word at the cursor has no list. */
export function wordMenuOf(
  editor: EditorState,
  files: (search: string) => readonly string[],
): WordMenu | null {
  const word = wordBefore(editor);
  if (word === null) return null;
  if (word.startsWith('@'))
    return {
      word,
      items: files(word.slice(1)).map((path) => ({ label: `@${quotedPath(path)}` })),
      none: 'no such file; Esc closes',
    };
  if (!/^\/[\w.:-]*$/.test(word) || editor.cursor !== word.length || editor.cells.length !== word.length)
    return null;
  const items = commandItems(word.slice(1));
  return items.length === 0 ? null : { word, items, none: '' };
}

/** Commands that begin with it first. */
function commandItems(search: string): WordItem[] {
  const own: readonly (readonly [string, ChatCommandHelp])[] = Object.entries(CHAT_COMMANDS);
  const custom = customCommands().map((one) => [one.name, one] as const);
  const commands: readonly (readonly [string, ChatCommandHelp])[] = [...own, ...custom];
  const scored = commands.flatMap(([name, help]) => {
    const score = search === '' ? 0 : beginningScore(name, search);
    return score === null ? [] : [{ name, help, score }];
  });
  return scored
    .toSorted((a, b) => b.score - a.score)
    .map(({ name, help }) => ({
      label: `/${name}`,
      sendsAlone: !help.usage.includes('<'),
      detail: () => [help.usage.slice(name.length + 1).trim(), help.meaning].filter(Boolean).join(' · '),
    }));
}

function beginningScore(name: string, search: string): number | null {
  if (name === search) return 6_000;
  return name.startsWith(search) ? 5_000 : fuzzyMatcher(search)(name);
}

/** From the last blank to the cursor; null for none, and inside a word. */
function wordBefore({ cells, cursor }: EditorState): string | null {
  const behind = cells[cursor];
  if (behind !== undefined && !(typeof behind === 'string' && /\s/.test(behind))) return null;
  let word = '';
  for (let at = cursor - 1; at >= 0 && word.length < LONGEST_WORD; at--) {
    const cell = cells[at];
    if (typeof cell !== 'string' || /\s/.test(cell)) break;
    word = cell + word;
  }
  return /^[/@]/.test(word) ? word : null;
}

/** The word in the input becomes the item, with a blank behind it. */
export function acceptWord(input: PromptInput, menu: WordMenu, item: WordItem): PromptInput {
  const before = deleteTo(input.editor, input.editor.cursor - [...menu.word].length);
  // A folder is looked into further.
  const end = item.label.endsWith('/') ? '' : ' ';
  return { ...input, editor: insertText(before, item.label + end) };
}
