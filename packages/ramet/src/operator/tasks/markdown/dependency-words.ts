/** What a list says about dependencies in words: what was understood is not shown again, and what nobody reads is told. */
import { readIdList } from '../id-list.ts';
import type { TaskDraft } from '../task-draft.ts';
import { saysNothing } from './task-fields.ts';

/** Marks in the text of a title that were understood and need not be shown. */
const SAID =
  /\s*[([\uff08]\s{0,2}(?:depends?(?: on)?|dependencies|deps?)\b[^()[\]\uff08\uff09]{0,300}[)\]\uff09]|\s*[\u2014\u2013-]\s{0,2}depends? on\b[^()]{0,300}$|<!--.{0,300}?-->|\s@(?:depend(?:s|encies)|requirements)\([^()]{0,200}\)/gi;

const BEGINNING = /^[^A-Za-z]*(?:dependencies|depends?(?: on)?|deps?)\b[\s:]*/i;

/** A title without what was read of it. `unread`: what speaks of a dependency and names no task; it stays. */
export function withoutSaid(title: string): { title: string; unread: string | null } {
  let unread: string | null = null;
  const left = title.replace(SAID, (said) => {
    if (isRead(said)) return '';
    unread ??= said.trim();
    return said;
  });
  return { title: left, unread };
}

function isRead(said: string): boolean {
  if (/^\s*(?:<!--|@)/.test(said)) return true;
  const value = said.replace(BEGINNING, '').replace(/\W+$/, '');
  // A name like an id that is none is told where ids are looked up.
  if (saysNothing(value) || /^[A-Z]{1,3}\d/.test(value)) return true;
  return readIdList(value, 0, { line: 0, prose: true }).references.length > 0;
}

const SHORT_ID = /^[*_`]{0,2}([A-Z]{1,3}\d{1,2})[*_`]{0,2}(?=[\s:.)])/;
const WAITS = /\b(?:depend|blocked by|requires?\b|needs\b|after\b|waits? for)/i;
const NAMED = /\b[A-Z]{1,3}\d{1,2}\b/g;

/**
 * `B0` looks like an id and is none: too many words look like it. Where a list names its tasks so, and others wait for them by
 * that name, nothing would wait. That is told.
 */
export function warnOfShortIds(draft: TaskDraft, text: string): void {
  const names = new Set(draft.tasks.flatMap(({ title }) => SHORT_ID.exec(title)?.[1] ?? []));
  if (names.size === 0) return;
  for (const [index, line] of text.split('\n').entries()) {
    const verb = WAITS.exec(line);
    if (verb === null) continue;
    for (const { 0: name, index: at } of line.slice(verb.index).matchAll(NAMED)) {
      if (!names.delete(name)) continue;
      const better = name.replace(/\d+$/, (digits) => `-${digits}`);
      draft.problem(
        { line: index + 1, column: verb.index + at + 1 },
        `${name} is not read as an id, so nothing waits for it: write ${better} in both places`,
        'warning',
      );
    }
  }
}
