/**
 * A text of Markdown as its reader sees it, block by block: headings and paragraphs without links, emphasis, references and
 * HTML. The work is commonmark's parser, which is loaded late: few texts need it.
 */
import { Parser } from 'commonmark';
import { newParsingBudget, type ParsingBudget, withoutDense } from './dense-markdown.ts';

export interface MarkdownBlock {
  /** Its lines in the source, from 0; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
  /** What stands before it in its first line: `> `, `- `. */
  readonly column: number;
  /** Of a heading, from 1, also of one that HTML makes of a part of it; 0 for anything else. */
  readonly level: number;
  /** As it is shown; a paragraph has its lines. */
  readonly text: string;
  /** Tags and comments in it, or all of it. */
  readonly html: readonly string[];
  /** In no list and no quotation. */
  readonly isAtTop: boolean;
}

type Node = ReturnType<Parser['parse']>;

/** The lines that blocks count: a carriage return alone ends one too. */
export function sourceLines(source: string): string[] {
  return source.split(/\r\n|\n|\r/);
}

/** Of what is too dense to be parsed (`dense-markdown.ts`), no link and no HTML is seen. */
export function markdownBlocks(source: string, budget: ParsingBudget = newParsingBudget()): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  const walker = new Parser().parse(withoutDense(source, budget)).walker();
  let [text, level] = ['', 0];
  let html: string[] = [];
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event;
    if (isLeaf(node) && !(entering && node.isContainer)) {
      const literal = node.literal ?? '';
      if (node.type === 'html_block')
        [text, level, html] = [withoutTags(literal, budget), htmlLevel(literal), [literal]];
      else if (node.type === 'code_block') text = literal;
      else if (node.type === 'heading') level = node.level;
      blocks.push(blockOf(node, { text, level, html }));
      [text, level, html] = ['', 0, []];
    } else if (entering) {
      text += shownOf(node);
      if (node.type === 'html_inline') {
        level ||= htmlLevel(node.literal ?? '');
        html.push(node.literal ?? '');
      }
    }
  }
  return blocks;
}

function isLeaf({ type }: Node): boolean {
  return type === 'paragraph' || type === 'heading' || type === 'code_block' || type === 'html_block';
}

/** Of HTML in a line nothing is seen; the text inside is a node of its own. */
function shownOf({ type, literal }: Node): string {
  if (type === 'softbreak' || type === 'linebreak') return '\n';
  return type === 'text' || type === 'code' ? (literal ?? '') : '';
}

function blockOf(
  { sourcepos, parent }: Node,
  { text, ...rest }: Pick<MarkdownBlock, 'text' | 'level' | 'html'>,
): MarkdownBlock {
  const [[line, column], [last]] = sourcepos;
  const lines = text.split('\n').map((one) => one.replace(/\s+/g, ' ').trim());
  const place = { start: line - 1, end: last, column: column - 1, isAtTop: parent?.type === 'document' };
  return { ...rest, ...place, text: lines.join('\n').trim() };
}

/** Of the first heading in HTML; 0 without one. */
export function htmlLevel(html: string): number {
  return Number(/<h([1-6])(?=[\s>/])/i.exec(html)?.[1] ?? 0);
}

/** As a paragraph its references are read too. */
function withoutTags(html: string, budget: ParsingBudget): string {
  const plain = html
    .replace(/<!--[\s\S]*?(?:-->|$)|<[^>]*(?:>|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' || plain.includes('<')
    ? plain
    : markdownBlocks(plain, budget)
        .map(({ text }) => text)
        .join(' ');
}
