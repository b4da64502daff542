/**
 * The fenced blocks of a Markdown text, read as CommonMark reads them, for a text that is going to be carried out.
 *
 * Invariants
 * 1. A block ends only at a fence of the same character that is at least as long: what it holds may hold fences.
 * 2. What Markdown shows as a quotation (`>`) or does not show at all (`<!-- -->`) is not a block.
 * 3. A block that is never closed is said to be open: its end was lost, and perhaps more than that.
 * Unlike CommonMark, a fence may be indented as deep as a list is; its content loses that indentation.
 */
export interface FencedBlock {
  /** The first word after the fence, in lower case; empty without one. */
  language: string;
  /** The rest of that line. */
  argument: string;
  /** With a line end after every line. */
  content: string;
  /** Where the block begins, from 1. */
  line: number;
  closed: boolean;
}

interface OpenFence {
  block: FencedBlock;
  fence: string;
  indent: number;
  lines: string[];
}

/** Deeper than any list; it keeps the patterns below away from lines of megabytes. */
const DEEPEST_INDENT = 80;
/** Spaces and list markers: what may stand before a fence. */
const BEFORE_FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*$/;

export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: OpenFence | null = null;
  let inComment = false;
  for (const [index, line] of text.replaceAll('\r\n', '\n').split('\n').entries()) {
    if (open !== null) {
      if (!closes(line, open)) open.lines.push(unindented(line, open.indent));
      else {
        blocks.push(finish(open, true));
        open = null;
      }
    } else if (inComment || /^ {0,3}<!--/.test(line)) inComment = !line.includes('-->');
    else open = openFence(line, index + 1);
  }
  if (open !== null) blocks.push(finish(open, false));
  return blocks;
}

function openFence(line: string, number: number): OpenFence | null {
  const indent = line.search(/`{3}|~{3}/);
  if (indent === -1 || indent > DEEPEST_INDENT || !BEFORE_FENCE.test(line.slice(0, indent))) return null;
  const fence = /^(?:`+|~+)/.exec(line.slice(indent))?.[0] ?? '';
  const label = line.slice(indent + fence.length).trim();
  // Three backticks with more of them on the same line are a code span.
  if (fence.startsWith('`') && label.includes('`')) return null;
  const [word = ''] = /^\S*/.exec(label) ?? [];
  const argument = label.slice(word.length).trim();
  const block = { language: word.toLowerCase(), argument, content: '', line: number, closed: false };
  return { block, fence, indent, lines: [] };
}

function closes(line: string, { fence, indent }: OpenFence): boolean {
  const text = line.trim();
  if (text.length < fence.length || !text.startsWith(fence)) return false;
  return line.indexOf(text) <= indent + 3 && text === fence.charAt(0).repeat(text.length);
}

function unindented(line: string, most: number): string {
  let cut = 0;
  while (cut < most && (line[cut] === ' ' || line[cut] === '\t')) cut += 1;
  return line.slice(cut);
}

function finish({ block, lines }: OpenFence, closed: boolean): FencedBlock {
  return { ...block, content: lines.map((line) => `${line}\n`).join(''), closed };
}
