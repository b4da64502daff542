/** `If-Match` and `If-None-Match` as RFC 9110, 13.1 has them: which version of a key a request is about. */
import type { MemoryEntry } from '../wire/memory-shapes.ts';

/** A list as it was sent: weak tags with their `W/`. */
export type Tags = '*' | readonly string[];

const ONE_STRONG = /^"[\x21\x23-\x7e]{1,100}"$/;
const NEXT_TAG = /[\t ]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(,|$)/y;

/** Null for what is no such list. */
export function tagsOf(header: string): Tags | null {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  for (let at = 0; ; ) {
    NEXT_TAG.lastIndex = at;
    const [whole, tag, end] = NEXT_TAG.exec(header) ?? [];
    if (whole === undefined) return null;
    if (tag !== undefined) tags.push(tag);
    if (end === '') return tags;
    at += whole.length;
  }
}

/** Whether it is one tag that compares strongly, as nearly all are. */
export function isOneTag(header: string): boolean {
  return ONE_STRONG.test(header);
}

/** By the strong comparison: a weak tag matches nothing. A deleted key has a tag, and is none that exists. */
export function isMatched(tags: Tags, current: MemoryEntry | null): boolean {
  return tags === '*' ? current?.deleted === false : current !== null && tags.includes(current.etag);
}

/** By the weak comparison. */
export function isNoneMatched(tags: Tags, current: MemoryEntry | null): boolean {
  if (tags === '*') return current?.deleted !== false;
  return current === null || !tags.some((tag) => tag.replace(/^W\//, '') === current.etag);
}

/** Whether who asks has this version already; a header that is not understood says nothing. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch === etag) return ifNoneMatch === etag;
  const tags = tagsOf(ifNoneMatch);
  return tags === '*' || tags?.some((tag) => tag.replace(/^W\//, '') === etag) === true;
}

/** Whether a reader wants another version than this one; null for a header that is not understood. */
export function wantsAnother(ifMatch: string | undefined, etag: string): boolean | null {
  if (ifMatch === undefined) return false;
  const tags = tagsOf(ifMatch);
  return tags === null ? null : tags !== '*' && !tags.includes(etag);
}
