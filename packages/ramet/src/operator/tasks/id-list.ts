/**
 * Ids of tasks in running text: `T012, T013 and T020`, `T037-T041`, `1.1, 2.3`, `Task 4`, `#12`. All patterns are
 * sticky and without nested repeats, so that a long line costs linear time.
 */
import type { TaskReference } from './listed-task.ts';

const ID =
  /t\d{3,6}[a-z]?(?!\w)|T-?\d{1,6}(?:\.\d{1,4}){0,3}[a-z]?(?!\w)|[A-Z]{1,3}\d{3,6}[a-z]?(?!\w)|[A-Za-z][A-Za-z0-9]{0,15}-\d{1,9}(?:\.\d{1,6}){0,5}(?!\w)|bd-[a-z0-9]{1,12}(?:\.\d{1,6}){0,5}(?!\w)|#\d{1,9}(?!\w)|\d{1,6}(?:\.\d{1,6}){0,5}[a-z]?(?!\w)/y;
const RANGE =
  /[*`_\]]{0,3}\s{0,2}(?:-|\u2013|\u2014|\u301c|~|\.{2,3}|\u2026|to\b|through\b)\s{0,2}[*`_[]{0,3}(?:Tasks? )?/iy;
const BEFORE = /[\s*`_[("']{0,6}(?:tasks?[\s:#]{1,2}|\u30bf\u30b9\u30af ?)?[*`_[("']{0,3}/iy;
/** Words about an id may follow it in brackets. Ids with a letter need nothing between them. */
const BETWEEN =
  /[*`_\])"']{0,4}(?:\s{0,2}\([^()]{1,80}\))?\s{0,3}(?:(?:,|\u3001|\uff0c|;|&|\+|\/|and\b|or\b|\u3068)\s{0,3}(?:and\b|or\b)?|\s(?=T-?\d|[A-Z]{1,3}\d{3}))/iy;
const WHOLE_NUMBER = /^\d+$/;
/** What may follow a plain number that stands for a task: not "3 services". */
const END = /[*`_\])"']{0,4}\s{0,3}(?:$|[.,;:)\]\u2014\u2013-])/y;

/** An id with the name of another file or repository before it. */
const FOREIGN = /[A-Za-z][\w.@-]{0,60}[/:#!][\w./#-]{0,60}\d[a-z]?(?!\w)/y;

export interface IdList {
  references: TaskReference[];
  /** Where the list ends in the text. */
  end: number;
  /** The text ends where one more id should come: it is on the next line. */
  isOpen: boolean;
  /** What follows in the list and is no id here, such as `other/T-009`. */
  foreign: string | null;
}

/** The ids that begin at `from`. `prose` is stricter with plain numbers than a field such as `Depends:`. */
export function readIdList(text: string, from: number, place: { line: number; prose: boolean }): IdList {
  const references: TaskReference[] = [];
  let end = from;
  let isOpen = false;
  let foreign: string | null = null;
  for (let at = past(BEFORE, text, from); ; ) {
    const id = match(ID, text, at);
    if (id === undefined) {
      if (references.length === 0) break;
      isOpen = text.slice(at).trim() === '' && !/[)\]"']/.test(text.slice(end, at));
      foreign = match(FOREIGN, text, at) ?? null;
      break;
    }
    const column = at + 1;
    at += id.length;
    const range = rangeEnd(text, at, id);
    if (range !== null) at = range.end;
    const weak = place.prose && WHOLE_NUMBER.test(id);
    if (weak && past(END, text, at) === at && match(BETWEEN, text, at) === undefined) break;
    const to = range === null ? {} : { to: range.id };
    references.push({
      id: id.replace(/^t(?=\d)/, 'T'),
      line: place.line,
      column,
      ...to,
      ...(weak && { weak }),
      prose: place.prose,
    });
    end = at;
    const next = match(BETWEEN, text, at);
    if (next === undefined) break;
    at = past(BEFORE, text, at + next.length);
  }
  return { references, end, isOpen, foreign };
}

const LEFT_ID = /(?<![\w/.-])(?:[A-Z]{1,3}-?\d{2,6}|T-?\d{1,6})(?!\w)/;

/** An id that stands further on in the same field or bracket, and was not read. */
export function leftId(text: string, from: number, isBracket: boolean): string | null {
  const end = isBracket ? text.slice(from).search(/[)\uff09]/) : -1;
  const rest = end === -1 ? text.slice(from) : text.slice(from, from + end);
  return LEFT_ID.exec(rest)?.[0] ?? null;
}

function rangeEnd(text: string, at: number, first: string): { id: string; end: number } | null {
  const sign = match(RANGE, text, at);
  if (sign === undefined) return null;
  const id = match(ID, text, at + sign.length);
  if (id === undefined) return null;
  // T037-041: the letter is said once.
  const letters = /^[A-Za-z]+-?/.exec(first)?.[0] ?? '';
  const whole = WHOLE_NUMBER.test(id) ? `${letters}${id}` : id;
  return { id: whole, end: at + sign.length + id.length };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function past(pattern: RegExp, text: string, at: number): number {
  return at + (match(pattern, text, at)?.length ?? 0);
}

const VERB =
  /\b(?:(?:depends?|dependent|depending)(?:\s+(?:up)?on)?|dependenc(?:y|ies)(?=\s?:)|deps?(?=\s?:)|(?:is |are )?blocked by|requires?|needs|(?:must |should )?(?:run |start |come )?after|waits? for)\b[\s:*_`]{0,4}/gi;

/** "does not depend on", "no longer needs". */
const DENIED = /(?:\bnot|\bnever|n['\u2019]t|\bno longer)\s{1,3}$/i;
const DENIAL_LENGTH = 14;

export interface ProseDependency {
  /** The tasks that wait. Empty when the sentence names none. */
  subjects: TaskReference[];
  objects: TaskReference[];
  /** "depends on", after which an unknown id is a mistake and not a word. */
  strong: boolean;
  /** More of the objects are on the next line. */
  isOpen: boolean;
  foreign: string | null;
  start: number;
  end: number;
}

/** `T037-T041 depend on T036`, `(depends on T012, T013)`, `— requires 2.1`. */
export function proseDependencies(written: string, line: number): ProseDependency[] {
  const found: ProseDependency[] = [];
  // Code with blanks in it is an example, not a sentence.
  const text = written.replace(/`[^`]{1,300}`/g, (code) =>
    /\s/.test(code) ? ' '.repeat(code.length) : code,
  );
  for (const { 0: verb, index } of text.matchAll(VERB)) {
    if (DENIED.test(text.slice(Math.max(0, index - DENIAL_LENGTH), index))) continue;
    const objects = readIdList(text, index + verb.length, { line, prose: true });
    const strong = /^dep/i.test(verb);
    const isOpen = objects.isOpen || (strong && text.slice(index + verb.length).trim() === '');
    if (objects.references.length === 0 && !isOpen) continue;
    const subjects = subjectsBefore(text, index, line);
    const { references, end } = objects;
    const isBracket = strong && /[(\uff08]\s{0,2}$/.test(text.slice(Math.max(0, index - 3), index));
    const foreign = objects.foreign ?? (isBracket ? leftId(text, end, true) : null);
    found.push({ subjects, objects: references, strong, isOpen, foreign, start: index, end });
  }
  return found;
}

const LONGEST_SUBJECT = 200;
const SUBJECT_BREAK = /[;\u3002(\uff08]|\.\s|\b(?:that|which|where|if|when)\b/g;

/** The ids right before the verb: `T037-T041 depend`, `**T4** and T5 both depend`. */
function subjectsBefore(text: string, verb: number, line: number): TaskReference[] {
  const start = Math.max(0, verb - LONGEST_SUBJECT);
  const before = text.slice(start, verb);
  let from = 0;
  for (const { 0: sign, index } of before.matchAll(SUBJECT_BREAK)) from = index + sign.length;
  const list = readIdList(text, start + from + leadIn(before.slice(from)), { line, prose: true });
  if (list.references.length === 0) return [];
  const rest = text.slice(list.end, verb);
  return /^[\s*`_)\]:]{0,6}(?:\([^()]{0,80}\)\s?)?(?:(?:both|all|each|also|then|which|tasks?)\s?){0,2}[\s:]{0,3}$/i.test(
    rest,
  )
    ? list.references
    : [];
}

/** List signs and bold before the first id. */
function leadIn(text: string): number {
  return /^[\s\-*+>]{0,8}/.exec(text)?.[0].length ?? 0;
}
