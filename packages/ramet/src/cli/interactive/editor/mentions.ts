/**
 * The files that a prompt names: `@src/a.ts`, `@"my file.ts"`, and paths of images as terminals write them when one is
 * dropped. A word that names no file stays a word. Pure: what is there is asked for.
 */
import { visibleName } from '../../../views/text/format.ts';

/** Behind a blank or a bracket: an address of mail has its sign inside a word. */
const MENTION = /(?<=^|[\s(])@(?:"((?:\\.|[^"\\\n])+)"|([^\s"]+))/g;
/** A whole word, in quotes, or with its blanks escaped. */
const IMAGE = /(?<=^|\s)(?:'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s'"\\])+))(?=\s|$)/g;
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
/** What may follow a name in a sentence. */
const PUNCTUATION = /[.,;:!?)\]}'"]+$/;
const MOST_FILES = 20;
/** As `quotedPath` writes out what cannot be seen or typed. */
const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|([nt"\\]))/g;
const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t' };

/** `isFile` says whether something that could be attached is there. Each file once, in the order of the text. */
export function mentionedFiles(text: string, isFile: (path: string) => boolean): string[] {
  const found = new Set<string>();
  for (const [, quoted, word] of text.matchAll(MENTION)) {
    const names =
      quoted === undefined
        ? [word ?? '', (word ?? '').replace(PUNCTUATION, '')]
        : [quoted, unescaped(quoted)];
    const path = names.find((name) => name !== '' && isFile(name));
    if (path !== undefined) found.add(path);
  }
  for (const [, single, double, word] of text.matchAll(IMAGE)) {
    const path = single ?? double ?? word?.replace(/\\(.)/g, '$1') ?? '';
    if (IMAGE_NAME.test(path) && !path.startsWith('@') && isFile(path)) found.add(path);
  }
  return [...found].slice(0, MOST_FILES);
}

/** A path as a prompt names it: in quotes if it has blanks, and with what a reader cannot see written out. */
export function quotedPath(path: string): string {
  const visible = visibleName(path);
  if (visible === path && !/[\s"]/.test(path)) return path;
  return `"${visible.replaceAll('"', '\\"')}"`;
}

function unescaped(name: string): string {
  return name.replace(ESCAPE, (whole, byte?: string, unit?: string, point?: string, letter?: string) => {
    if (letter !== undefined) return LETTERS[letter] ?? letter;
    const code = Number.parseInt(byte ?? unit ?? point ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Whether it could name files: a cheap question, asked before any is looked for. */
export function mayMention(text: string): boolean {
  return /(?:^|[\s(])@\S/.test(text) || /\.(?:png|jpe?g|gif|webp)\b/i.test(text);
}
