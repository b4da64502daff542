/**
 * The heading under which the user's own words stand: agents write none that reads like it. What counts is what a reader sees of a
 * block, by letters and digits alone, however it is spelled: with links, emphasis, HTML, references or look-alikes.
 */
import { plainLetters, replaceLookalike } from '../../conversation/quoted-text.ts';
import type { MarkdownBlock } from './markdown-blocks.ts';

const RESERVED = 'notesoftheuser';
const INSTEAD = 'Notes of agents';

/** Signs that may make a block look otherwise than its source. Without them letters alone tell. */
const MARKUP = /[<[&*_`\\~|]|^[ \t>]*(?:=+|-+)[ \t]*$/m;

/** Whether a heading, or a line that may pass for one, reads so. */
export function isReserved({ text }: Pick<MarkdownBlock, 'text'>): boolean {
  return plainLetters(text) === RESERVED;
}

/** What agents wrote, as it is shown: under no heading of the user, and with none like that of another file. Lines keep their numbers. */
export async function asOfAgents(text: string): Promise<string> {
  const lines = MARKUP.test(text) ? await withPlainBlocks(text) : text;
  return replaceLookalike(lines, RESERVED, INSTEAD).replace(/^(\s*)[#\uff03](?=[^#\uff03])/gmu, '$1##');
}

/** A block that reads so, and a heading of the first level with a line below it, in plain letters. */
async function withPlainBlocks(text: string): Promise<string> {
  const { markdownBlocks } = await import('./markdown-blocks.ts');
  const lines = text.split('\n');
  for (const block of markdownBlocks(text)) {
    const isForged = plainLetters(block.text).includes(RESERVED);
    const isUnderlined = block.level === 1 && block.end - block.start > 1;
    if (!isForged && !isUnderlined) continue;
    const prefix = (lines[block.start] ?? '').slice(0, block.column);
    const sign = block.level === 0 ? '' : `${'#'.repeat(Math.max(2, block.level))} `;
    const shown = isForged ? withoutReserved(block.text) : block.text;
    lines.splice(block.start, block.end - block.start, `${prefix}${sign}${shown}`, ...blanks(block));
  }
  return lines.join('\n');
}

function blanks({ start, end }: MarkdownBlock): string[] {
  return Array.from({ length: end - start - 1 }, () => '');
}

/** Where signs between its letters keep it from being found, nothing of the block is left. */
function withoutReserved(text: string): string {
  const plain = replaceLookalike(text, RESERVED, INSTEAD);
  return plainLetters(plain).includes(RESERVED) ? INSTEAD : plain;
}
