/**
 * The heading under which the user's own words stand: agents write none that reads like it. What counts is what a reader sees of a
 * block, by letters and digits alone, however it is spelled: with links, emphasis, HTML, references or look-alikes.
 */
import { plainLetters, replaceLookalike } from '../../conversation/quoted-text.ts';
import { denseParagraphs } from './dense-markdown.ts';
import type { MarkdownBlock } from './markdown-blocks.ts';

const RESERVED = 'notesoftheuser';
const INSTEAD = 'Notes of agents';
const LEFT_OUT = '(a paragraph with too many brackets to be read is left out)';

/** Signs that may make a block look otherwise than its source. Without them letters alone tell. */
const MARKUP = /[<[&*_`\\~|]|^[ \t>]*(?:=+|-+)[ \t]*$/m;

/** Whether a heading has these words, also with others around them, or a line reads so that may pass for one. */
export function isReserved({ text, level }: Pick<MarkdownBlock, 'text' | 'level'>): boolean {
  if (level > 0) return plainLetters(text).includes(RESERVED);
  return text.split('\n').some((line) => plainLetters(line) === RESERVED);
}

/** What agents wrote, as it is shown: under no heading of the user, and with none like that of another file. Lines keep their numbers. */
export async function asOfAgents(text: string): Promise<string> {
  const lines = MARKUP.test(text) ? await withPlainBlocks(text) : text;
  return replaceLookalike(lines, RESERVED, INSTEAD).replace(
    /^([^\S\n\r\u2028\u2029]*)[#\uff03](?=[^#\uff03])/gmu,
    '$1##',
  );
}

/** A block that reads so, and a heading of the first level with a line below it, in plain letters. */
async function withPlainBlocks(text: string): Promise<string> {
  const { markdownBlocks, sourceLines } = await import('./markdown-blocks.ts');
  const lines = sourceLines(text);
  const dense = denseParagraphs(lines);
  for (const block of markdownBlocks(text)) {
    const isForged = plainLetters(block.text).includes(RESERVED);
    const isUnderlined = block.level === 1 && block.end - block.start > 1;
    if (!isForged && !isUnderlined) continue;
    const prefix = (lines[block.start] ?? '').slice(0, block.column);
    const sign = block.level === 0 ? '' : `${'#'.repeat(Math.max(2, block.level))} `;
    const shown = onOneLine(isForged ? withoutReserved(block.text) : block.text);
    lines.fill('', block.start, block.end);
    lines[block.start] = `${prefix}${sign}${shown}`;
  }
  for (const { start, end } of dense) {
    lines.fill('', start, end);
    lines[start] = LEFT_OUT;
  }
  return lines.join('\n');
}

function onOneLine(text: string): string {
  return text.replace(/\n+/g, ' ');
}

/** Where signs between its letters keep it from being found, nothing of the block is left. */
function withoutReserved(text: string): string {
  const plain = replaceLookalike(text, RESERVED, INSTEAD);
  return plainLetters(plain).includes(RESERVED) ? INSTEAD : plain;
}
