/**
 * A text of Markdown as its reader sees it, block by block: headings and paragraphs without links, emphasis, references and
 * HTML. The work is commonmark's parser, which is loaded late: few texts need it.
 */
import { Parser } from 'commonmark';

export interface MarkdownBlock {
  /** Its lines in the source, from 0; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
  /** What stands before it in its first line: `> `, `- `. */
  readonly column: number;
  /** Of a heading, from 1; 0 for anything else. */
  readonly level: number;
  /** On one line, as it is shown. */
  readonly text: string;
}

type Node = ReturnType<Parser['parse']>;

const HTML_HEADING = /<h([1-6])[\s>]/i;

export function markdownBlocks(source: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  const walker = new Parser().parse(source).walker();
  let text = '';
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event;
    if (isLeaf(node) && (entering ? !node.isContainer : true)) {
      blocks.push(blockOf(node, node.isContainer ? text : (node.literal ?? '')));
      text = '';
    } else if (entering) text += shownOf(node);
  }
  return blocks;
}

function isLeaf({ type }: Node): boolean {
  return type === 'paragraph' || type === 'heading' || type === 'code_block' || type === 'html_block';
}

/** Of HTML in a line nothing is seen; the text inside is a node of its own. */
function shownOf({ type, literal }: Node): string {
  if (type === 'softbreak' || type === 'linebreak') return ' ';
  return type === 'text' || type === 'code' ? (literal ?? '') : '';
}

function blockOf(node: Node, text: string): MarkdownBlock {
  const [[line, column], [last]] = node.sourcepos;
  const html = node.type === 'html_block' ? text : null;
  const level = html === null ? node.level : Number(HTML_HEADING.exec(html)?.[1] ?? 0);
  return {
    ...{ start: line - 1, end: last, column: column - 1 },
    level: node.type === 'heading' || html !== null ? level : 0,
    text: (html === null ? text : withoutTags(html)).replace(/\s+/g, ' ').trim(),
  };
}

/** As a paragraph its references are read too. */
function withoutTags(html: string): string {
  const plain = html
    .replace(/<!--[\s\S]*?(?:-->|$)|<[^>]*(?:>|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' || plain.includes('<')
    ? plain
    : markdownBlocks(plain)
        .map(({ text }) => text)
        .join(' ');
}
