/**
 * One word of a command as far as it is known before it runs. Quotes and escapes are undone here, so that `r\m`,
 * `'rm'` and `$'\x72m'` are one and the same word; what the shell will put in, expand or match is left open.
 */
import type { ShellNode } from './parse-shell.ts';

export interface ShellWord {
  /** As it is written. */
  source: string;
  /** What the program will get; null when that is known only at run time. */
  value: string | null;
  /** What it begins with in any case. */
  start: string;
  /** It may become several words, of which the later ones can be anything: an expansion stands outside quotes. */
  splits?: boolean;
}

/** A word made of characters, each quoted or not, up to the first thing that only the running shell knows. */
export interface Draft {
  text: string;
  /** `q` or `u` for each character of `text`. */
  quoting: string;
  open: boolean;
  splits: boolean;
}

export type UnclearWord = (reason: string) => void;

export function readWord(node: ShellNode, unclear: UnclearWord): ShellWord {
  const draft = newDraft();
  addNode(draft, node, unclear);
  return finishWord(draft, node.text);
}

export function newDraft(): Draft {
  return { text: '', quoting: '', open: false, splits: false };
}

export function finishWord(draft: Draft, source: string): ShellWord {
  const word = finish(draft, source);
  return draft.splits ? { ...word, splits: true } : word;
}

/** Could the program take it for an option? */
export function mayBeOption({ value, start, splits = false }: ShellWord): boolean {
  if (splits) return true;
  return value === null ? start === '' || start.startsWith('-') : value.startsWith('-') && value !== '-';
}

/** Any number of words that nobody knows yet: what xargs adds. */
export const UNKNOWN_WORDS: ShellWord = { source: '…', value: null, start: '' };

const BARE: ReadonlySet<string> = new Set(['word', 'number', '$', 'extglob_pattern']);
const EXPANDED: ReadonlySet<string> = new Set([
  'simple_expansion',
  'expansion',
  'command_substitution',
  'arithmetic_expansion',
  'brace_expression',
]);

/** What these give is cut at blanks; a number has none, and braces repeat what stands before them. */
const SPLIT: ReadonlySet<string> = new Set(['simple_expansion', 'expansion', 'command_substitution']);
/** Even in quotes these become one word each. */
const WORD_LIST = /\$@|\$\{@|\[@\]/;

function addNode(draft: Draft, node: ShellNode, unclear: UnclearWord): void {
  if (BARE.has(node.type) && node.childCount === 0) addBare(draft, node.text, unclear);
  else if (BARE.has(node.type) || EXPANDED.has(node.type)) {
    draft.open = true;
    draft.splits ||= SPLIT.has(node.type);
  } else if (node.type === 'raw_string') addText(draft, node.text.slice(1, -1), 'q');
  else if (node.type === 'string') addString(draft, node, unclear);
  else if (node.type === 'ansi_c_string') addEscaped(draft, node.text.slice(2, -1));
  else if (node.type === 'process_substitution') {
    addText(draft, '/', 'q'); // a path of the shell's own choosing
    draft.open = true;
  } else if (node.type === 'concatenation' || node.type === 'command_name') {
    for (const child of node.children) addNode(draft, child, unclear);
  } else {
    unclear(`${node.type.replaceAll('_', ' ')} in a word`);
    draft.open = true;
  }
}

export function addText(draft: Draft, text: string, quoting: 'q' | 'u'): void {
  if (draft.open) return;
  draft.text += text;
  draft.quoting += quoting.repeat(text.length);
}

function addBare(draft: Draft, source: string, unclear: UnclearWord): void {
  if (/(?<!\\)(?:\\\\)*`/.test(source)) unclear('a backtick inside a word');
  for (let index = 0; index < source.length; index++) {
    const character = source[index] ?? '';
    if (character !== '\\') addText(draft, character, 'u');
    else {
      const next = source[++index] ?? '';
      if (next !== '\n') addText(draft, next, 'q');
    }
  }
}

/** The grammar drops blanks between expansions, so the text is read from the source up to the first of them. */
function addString(draft: Draft, node: ShellNode, unclear: UnclearWord): void {
  const first = node.namedChildren.find((child) => child.type !== 'string_content');
  const end = first === undefined ? node.text.length - 1 : first.startIndex - node.startIndex;
  const inner = node.text.slice(1, end);
  if (first === undefined && /(?<!\\)(?:\\\\)*(?:`|\$[\w({@*#?!$-])/.test(inner)) {
    unclear('an expansion the grammar does not see');
  }
  addText(
    draft,
    inner.replace(/\\([$`"\\\n])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped)),
    'q',
  );
  if (first === undefined) return;
  draft.open = true;
  draft.splits ||= WORD_LIST.test(node.text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

export function addEscaped(draft: Draft, inner: string): void {
  const decoded = inner.replace(
    /\\(?:x([\da-fA-F]{1,2})|([0-7]{1,3})|(.))/gs,
    (whole, hex?: string, octal?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return ESCAPES[letter ?? ''] ?? whole;
    },
  );
  // An escape that is not decoded here leaves the word open.
  if (/\\[^\\ntr'"x0-7]/.test(inner.replaceAll('\\\\', ''))) draft.open = true;
  else addText(draft, decoded, 'q');
}

function finish({ text, quoting, open }: Draft, source: string): ShellWord {
  if (text[0] === '~' && quoting[0] === 'u') return { source, value: null, start: '/' };
  if (text === '[' && !open) return { source, value: text, start: text };
  const magic = firstMagic(text, quoting, open);
  if (magic === -1) return { source, value: open ? null : text, start: text };
  return { source, value: null, start: text.slice(0, magic) };
}

/** Where file names are matched or braces expanded: from there on the shell decides. */
function firstMagic(text: string, quoting: string, open: boolean): number {
  const bare = text.replace(/./gs, (character, index: number) => (quoting[index] === 'u' ? character : '_'));
  const pattern = bare.search(/[*?[]/);
  const brace = firstBrace(bare, open);
  return brace === -1 || (pattern !== -1 && pattern < brace) ? pattern : brace;
}

/** Where the end of a word is open, so is what braces make of its beginning: `{-o,$x}`. */
function firstBrace(bare: string, open: boolean): number {
  const from = bare.indexOf('{');
  if (from === -1 || open) return from;
  const middle = bare.slice(from).search(/,|\.\./);
  return middle !== -1 && bare.includes('}', from + middle) ? from : -1;
}
