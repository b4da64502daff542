/**
 * The input line as a state machine: a state and a key in, the next state and at most one action out. It owns
 * editing, history and completion; it knows neither the screen nor the session.
 *
 * Invariants
 * 1. No sequence of keys throws or loses text that was not deleted: going through history keeps the draft.
 * 2. Enter with nothing but white space sends nothing.
 */
import { completeCommand } from './command-completion.ts';
import type { Key, KeyName } from './key-parser.ts';
import {
  deleteTo,
  type EditorState,
  EMPTY_EDITOR,
  editorOf,
  editorText,
  insertPaste,
  insertText,
  lineEnd,
  lineStart,
  moveBy,
  moveLine,
  moveTo,
  wordEnd,
  wordStart,
} from './line-editor.ts';

export interface PromptInput {
  readonly editor: EditorState;
  /** Oldest first. */
  readonly history: readonly string[];
  /** Which entry is shown; null when it is the user's own draft. */
  readonly recalled: number | null;
  readonly draft: EditorState;
}

export type InputAction =
  | { type: 'submit'; text: string }
  /** Enter without a text. */
  | { type: 'accept' }
  | { type: 'interrupt' }
  | { type: 'leave' }
  | { type: 'escape' }
  | { type: 'redraw' }
  | { type: 'candidates'; candidates: readonly string[] };

export interface InputStep {
  readonly input: PromptInput;
  readonly action?: InputAction;
}

const MOST_REMEMBERED = 1_000;

export function newPromptInput(history: readonly string[]): PromptInput {
  return { editor: EMPTY_EDITOR, history, recalled: null, draft: EMPTY_EDITOR };
}

/** `wordsFor` gives what an argument of a command can be just now, for Tab. */
export function pressKey(
  input: PromptInput,
  key: Key,
  wordsFor?: (command: string) => readonly string[],
): InputStep {
  if (key.type === 'text') return edited(input, insertText(input.editor, key.text));
  if (key.type === 'paste') return edited(input, insertPaste(input.editor, key.text));
  return key.name === 'tab' ? complete(input, wordsFor) : KEYS[key.name](input);
}

/** The input without its text, as after sending or Ctrl-C. */
export function cleared(input: PromptInput): PromptInput {
  return newPromptInput(input.history);
}

const KEYS: Readonly<Record<Exclude<KeyName, 'tab'>, (input: PromptInput) => InputStep>> = {
  enter,
  newline: (input) => edited(input, insertText(input.editor, '\n')),
  escape: (input) => ({ input, action: { type: 'escape' } }),
  backspace: (input) => edited(input, deleteTo(input.editor, input.editor.cursor - 1)),
  delete: (input) => edited(input, deleteTo(input.editor, input.editor.cursor + 1)),
  background: (input) => edited(input, moveBy(input.editor, -1)),
  left: (input) => edited(input, moveBy(input.editor, -1)),
  right: (input) => edited(input, moveBy(input.editor, 1)),
  up: (input) => vertical(input, -1),
  down: (input) => vertical(input, 1),
  previous: (input) => recall(input, -1),
  next: (input) => recall(input, 1),
  home: (input) => edited(input, moveTo(input.editor, lineStart(input.editor))),
  end: (input) => edited(input, moveTo(input.editor, lineEnd(input.editor))),
  'word-left': (input) => edited(input, moveTo(input.editor, wordStart(input.editor))),
  'word-right': (input) => edited(input, moveTo(input.editor, wordEnd(input.editor))),
  'delete-word': (input) => edited(input, deleteTo(input.editor, wordStart(input.editor))),
  'delete-next-word': (input) => edited(input, deleteTo(input.editor, wordEnd(input.editor))),
  'delete-to-start': (input) => edited(input, deleteTo(input.editor, lineStart(input.editor))),
  'delete-to-end': (input) => edited(input, deleteTo(input.editor, lineEnd(input.editor))),
  interrupt: (input) => ({ input, action: { type: 'interrupt' } }),
  redraw: (input) => ({ input, action: { type: 'redraw' } }),
  expand: (input) => ({ input }),
  search: (input) => ({ input }),
  editor: (input) => ({ input }),
  suspend: (input) => ({ input }),
  mode: (input) => ({ input }),
  agents: (input) => ({ input }),
  'page-up': (input) => ({ input }),
  'page-down': (input) => ({ input }),
  'end-of-input': (input) =>
    input.editor.cells.length === 0
      ? { input, action: { type: 'leave' } }
      : edited(input, deleteTo(input.editor, input.editor.cursor + 1)),
};

function edited(input: PromptInput, editor: EditorState): InputStep {
  return { input: { ...input, editor } };
}

/** A backslash before the cursor turns Enter into a line break. */
function enter(input: PromptInput): InputStep {
  const { editor } = input;
  if (editor.cells[editor.cursor - 1] === '\\') {
    return edited(input, insertText(deleteTo(editor, editor.cursor - 1), '\n'));
  }
  const text = editorText(editor);
  if (text.trim() === '') return { input: cleared(input), action: { type: 'accept' } };
  return { input: newPromptInput(remember(input.history, text)), action: { type: 'submit', text } };
}

function remember(history: readonly string[], text: string): readonly string[] {
  if (history.at(-1) === text) return history;
  return [...history, text].slice(-MOST_REMEMBERED);
}

function complete(input: PromptInput, wordsFor?: (command: string) => readonly string[]): InputStep {
  const { cells, cursor } = input.editor;
  if (cursor !== cells.length) return { input };
  const { text, candidates } = completeCommand(editorText(input.editor), wordsFor);
  const step = edited(input, editorOf(text));
  return candidates.length > 1 ? { ...step, action: { type: 'candidates', candidates } } : step;
}

function vertical(input: PromptInput, direction: -1 | 1): InputStep {
  const moved = moveLine(input.editor, direction);
  return moved === null ? recall(input, direction) : edited(input, moved);
}

function recall(input: PromptInput, direction: -1 | 1): InputStep {
  const { history, recalled, editor } = input;
  const wanted = (recalled ?? history.length) + direction;
  if (wanted < 0 || wanted > history.length) return { input };
  const draft = recalled === null ? editor : input.draft;
  const entry = history[wanted];
  if (entry === undefined) return { input: { ...input, editor: draft, recalled: null, draft } };
  return { input: { ...input, editor: editorOf(entry), recalled: wanted, draft } };
}
