/** What a title says about dependencies: not shown again once it was understood. */
import { readIdList } from '../id-list.ts';
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
