/**
 * The files that a prompt names: `@src/a.ts`, `@"my file.ts"`, and paths of images as terminals write them when one is
 * dropped. A word that names no file stays a word. Pure: what is there is asked for.
 */
/** Behind a blank or a bracket: an address of mail has its sign inside a word. */
const MENTION = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;
/** A whole word, in quotes, or with its blanks escaped. */
const IMAGE = /(?<=^|\s)(?:'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s'"\\])+))(?=\s|$)/g;
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;
/** What may follow a name in a sentence. */
const PUNCTUATION = /[.,;:!?)\]}'"]+$/;
const MOST_FILES = 20;

/** `isFile` says whether something that could be attached is there. Each file once, in the order of the text. */
export function mentionedFiles(text: string, isFile: (path: string) => boolean): string[] {
  const found = new Set<string>();
  for (const [, quoted, word] of text.matchAll(MENTION)) {
    const named = quoted ?? word ?? '';
    const path = [named, named.replace(PUNCTUATION, '')].find((name) => name !== '' && isFile(name));
    if (path !== undefined) found.add(path);
  }
  for (const [, single, double, word] of text.matchAll(IMAGE)) {
    const path = single ?? double ?? word?.replace(/\\(.)/g, '$1') ?? '';
    if (IMAGE_NAME.test(path) && !path.startsWith('@') && isFile(path)) found.add(path);
  }
  return [...found].slice(0, MOST_FILES);
}

/** Whether it could name files: a cheap question, asked before any is looked for. */
export function mayMention(text: string): boolean {
  return /(?:^|[\s(])@\S/.test(text) || /\.(?:png|jpe?g|gif|webp)\b/i.test(text);
}
