/**
 * What a person enters for an open question: where an "always" holds, its rule, or the reason of a "no". Pure.
 *
 * Only keys that are no letters lead into it and change it from outside a field, so that a word never does.
 */
import type { SavedRulePlace } from '../../../../sdk/calls/allow-rules.ts';
import { visibleLine } from '../../../../views/text/format.ts';
import { collectRules } from '../../../run-options.ts';
import type { Key } from '../../editor/key-parser.ts';
import { type EditorState, editorOf, editorText } from '../../editor/line-editor.ts';
import { newPromptInput, type PromptInput, pressKey } from '../../editor/prompt-input.ts';

export type RulePlace = 'session' | SavedRulePlace;

const PLACES: readonly RulePlace[] = ['session', 'project', 'user'];

interface AlwaysEntry {
  readonly kind: 'always';
  readonly rules: readonly string[];
  readonly place: RulePlace;
  /** What was offered or written, before it was made wider. */
  readonly narrow: readonly string[];
  /** Whether the rules allow the call that is asked about; null until that is known. */
  readonly covers: boolean | null;
}

interface RuleEntry {
  readonly kind: 'rule';
  readonly from: AlwaysEntry;
  readonly input: PromptInput;
  /** Why what was entered is no rule. */
  readonly problem: string | null;
}

interface ReasonEntry {
  readonly kind: 'reason';
  readonly input: PromptInput;
}

export type QuestionEntry = AlwaysEntry | RuleEntry | ReasonEntry;

export type EntryStep =
  | { readonly type: 'entry'; readonly entry: QuestionEntry }
  /** Back to the question, and the key is used up. */
  | { readonly type: 'back' }
  /** The key has nothing to do with it. */
  | { readonly type: 'left' }
  | (Pick<AlwaysEntry, 'rules' | 'place' | 'covers'> & { readonly type: 'always' })
  | { readonly type: 'denied'; readonly reason: string };

export function newReason(): QuestionEntry {
  return { kind: 'reason', input: newPromptInput([]) };
}

export function newAlways(rules: readonly string[]): QuestionEntry {
  return { kind: 'always', rules, place: 'session', narrow: rules, covers: true };
}

/** Finds out whether rules that were changed cover the call. `learn` gets the entry that knows it, for the one that does not. */
export function checkCoverage(
  entry: QuestionEntry | null,
  covers: ((rules: readonly string[]) => Promise<boolean>) | undefined,
  learn: (from: QuestionEntry, to: QuestionEntry) => void,
): void {
  if (entry?.kind !== 'always' || entry.covers !== null) return;
  const know = (known: boolean): void => learn(entry, { ...entry, covers: known });
  if (covers === undefined) know(true);
  else covers(entry.rules).then(know, () => know(false));
}

/** `problemOf` says why rules cannot be read; null when they can. */
export function enterKey(
  entry: QuestionEntry,
  key: Key,
  problemOf: (rules: readonly string[]) => string | null,
): EntryStep {
  const name = key.type === 'press' ? key.name : null;
  switch (entry.kind) {
    case 'always':
      return alwaysKey(entry, name);
    case 'reason':
      if (name === 'escape') return { type: 'back' };
      if (name === 'enter') return { type: 'denied', reason: textOf(entry.input) };
      return { type: 'entry', entry: { ...entry, input: edited(entry.input, key) } };
    case 'rule':
      if (name === 'escape') return { type: 'entry', entry: entry.from };
      if (name === 'enter') return ruleEntered(entry, problemOf);
      return { type: 'entry', entry: { ...entry, input: edited(entry.input, key), problem: null } };
  }
}

function alwaysKey(entry: AlwaysEntry, name: string | null): EntryStep {
  const { rules, place, covers } = entry;
  switch (name) {
    case 'enter':
      // Who confirms has seen what it does.
      return covers === null ? { type: 'entry', entry } : { type: 'always', rules, place, covers };
    case 'escape':
      return { type: 'back' };
    case 'tab': {
      const next = PLACES[(PLACES.indexOf(place) + 1) % PLACES.length] ?? place;
      return { type: 'entry', entry: { ...entry, place: next } };
    }
    case 'up':
      return { type: 'entry', entry: { ...entry, rules: rules.map(wider), covers: null } };
    case 'down':
      return { type: 'entry', entry: { ...entry, rules: entry.narrow, covers: null } };
    case 'right': {
      const input = { ...newPromptInput([]), editor: editorOf(rules.join(', ')) };
      return { type: 'entry', entry: { kind: 'rule', from: entry, input, problem: null } };
    }
    default:
      return { type: 'left' };
  }
}

/** For a file or a folder of the working directory the folder that it is in; never all of them. Other rules stay. */
function wider(rule: string): string {
  const path = /^Edit\((?!\/)(.+)\)$/.exec(rule)?.[1]?.replace(/\/\*\*$/, '') ?? '';
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return folder === '' ? rule : `Edit(${folder}/**)`;
}

function ruleEntered(entry: RuleEntry, problemOf: (rules: readonly string[]) => string | null): EntryStep {
  const rules = collectRules(textOf(entry.input));
  const problem = rules.length === 0 ? 'write a rule' : problemOf(rules);
  if (problem !== null) return { type: 'entry', entry: { ...entry, problem } };
  return { type: 'entry', entry: { ...entry.from, rules, narrow: rules, covers: null } };
}

/** Keys that do more than change text have no meaning in a field. */
function edited(input: PromptInput, key: Key): PromptInput {
  return key.type === 'press' && key.name === 'tab' ? input : pressKey(input, key).input;
}

function textOf({ editor }: PromptInput): string {
  return editorText(editor).trim().replace(/\s+/g, ' ');
}

const UNCOVERED = 'this rule does not cover this call, which will ask again';

export interface EntryRows {
  /** Above the keys: what an "always" allows. */
  readonly rule: string | null;
  readonly keys: string;
  /** What is written in place of the input; null when nothing is. */
  readonly field: { readonly prompt: string; readonly editor: EditorState } | null;
}

export function entryRows(entry: QuestionEntry): EntryRows {
  switch (entry.kind) {
    case 'always': {
      const rule = `${entry.covers === false ? UNCOVERED : 'always'}: ${visibleLine(entry.rules.join(', '))}`;
      const canGrow = entry.rules.some((one) => wider(one) !== one);
      const keys = `Enter: ${entry.place} · Tab: where${canGrow ? ' · ↑: folder' : ''} · →: edit`;
      return { rule, keys, field: null };
    }
    case 'rule': {
      const keys = entry.problem === null ? 'Enter: done · Esc: back' : visibleLine(entry.problem);
      return { rule: null, keys, field: { prompt: 'rule: ', editor: entry.input.editor } };
    }
    case 'reason': {
      const keys = 'Enter: no · Esc: back';
      return { rule: null, keys, field: { prompt: 'no, because: ', editor: entry.input.editor } };
    }
  }
}
