/** What an agent may not do to memory: put its words where the user's own stand, or write what reads like their heading. */
import { join } from 'node:path';
import { UserMistake } from '../../schema/errors.ts';
import { htmlLevel, type MarkdownBlock, markdownBlocks, sourceLines } from './markdown-blocks.ts';
import type { ChangedFile } from './memory-history.ts';
import { isReserved } from './reserved-heading.ts';

/** Throws a mistake. Lines of the user may go. */
export function refuseForgedNotes(root: string, { path, before, after }: ChangedFile): void {
  if (!READINGS.some((read) => isForged(userNotes(read(before ?? '')), userNotes(read(after ?? ''))))) return;
  throw new UserMistake(
    'memory_of_user',
    `not saved to ${join(root, path)}: only the user puts a line under "Notes of the user", or writes that heading; put it under another, or tell the user that # at the prompt saves a note`,
  );
}

function isForged(old: UserNotes, now: UserNotes): boolean {
  const left = Map.groupBy(old.lines, (line) => line);
  return now.headings > old.headings || now.lines.some((line) => left.get(line)?.pop() === undefined);
}

interface ReadText {
  readonly lines: readonly string[];
  readonly blocks: readonly Pick<MarkdownBlock, 'start' | 'level' | 'text'>[];
}

/** A person sees it rendered. A model reads the source, and so does code that looks for headings line by line: fences and comments hide nothing there. */
const READINGS: readonly ((text: string) => ReadText)[] = [
  (text) => ({ lines: sourceLines(text), blocks: markdownBlocks(text) }),
  (text) => {
    const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
    return {
      lines,
      blocks: lines.map((line, start) => ({ start, level: levelOf(line), text: seenOf(line) })),
    };
  },
];

function levelOf(line: string): number {
  return /^[\s>*+-]*(#{1,6})(?!#)/.exec(line)?.[1]?.length ?? htmlLevel(line);
}

function seenOf(line: string): string {
  return line.replace(/<\/?[a-z][^<>]*>/gi, '');
}

interface UserNotes {
  /** How many blocks read as their heading. */
  readonly headings: number;
  /** These, and what stands below them. */
  readonly lines: readonly string[];
}

const LOWEST = 6;

function userNotes({ lines, blocks }: ReadText): UserNotes {
  const own: string[] = [];
  let [headings, open] = [0, 0];
  for (const [index, block] of blocks.entries()) {
    const isHeading = isReserved(block);
    if (isHeading) headings += 1;
    if (block.level > 0 && block.level <= open) open = 0;
    if (isHeading && open === 0) open = block.level || LOWEST;
    const end = open === 0 ? block.start : (blocks[index + 1]?.start ?? lines.length);
    for (const line of lines.slice(block.start, end)) if (line.trim() !== '') own.push(line.trim());
  }
  return { headings, lines: own };
}
