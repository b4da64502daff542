/** What an agent may not do to memory: put its words where the user's own stand, or write what reads like their heading. */
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { markdownBlocks } from './markdown-blocks.ts';
import type { ChangedFile } from './memory-history.ts';
import { isReserved } from './reserved-heading.ts';

/** Throws a mistake. Lines of the user may go. */
export function refuseForgedNotes(root: string, { path, before, after }: ChangedFile): void {
  const [old, now] = [userNotes(before ?? ''), userNotes(after ?? '')];
  const left = [...old.lines];
  const isForged = now.lines.some((line) => {
    const at = left.indexOf(line);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  if (!isForged && now.headings <= old.headings) return;
  throw new UserMistake(
    'memory_of_user',
    `not saved to ${join(root, path)}: only the user puts a line under "Notes of the user", or writes that heading; put it under another, or tell the user that # at the prompt saves a note`,
  );
}

interface UserNotes {
  /** How many blocks read as their heading. */
  readonly headings: number;
  /** What stands below them. */
  readonly lines: readonly string[];
}

function userNotes(text: string): UserNotes {
  const lines = text.split('\n');
  const blocks = markdownBlocks(text);
  const headings = blocks.filter(({ level }) => level > 0);
  const own = headings.filter(isReserved).flatMap((heading) => {
    const next = headings.find(({ start, level }) => start > heading.start && level <= heading.level);
    return lines.slice(heading.end, next?.start ?? lines.length);
  });
  return {
    headings: blocks.filter(isReserved).length,
    lines: own.map((line) => line.trim()).filter((line) => line !== ''),
  };
}
