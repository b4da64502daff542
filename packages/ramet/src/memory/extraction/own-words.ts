/**
 * What of a prompt is surely the user's own: whole sentences and lines outside of quotations, code and what was pasted. Where it
 * is not clear where something that was quoted ends, nothing behind its beginning counts.
 */

/** A longer prompt is likely to hold text that was pasted. */
const LONGEST_TYPED = 2_000;

const FENCE = /^(```|~~~)[\s\S]*?(?:^\1|(?![\s\S]))/gm;
/** An element, a comparison of files: the lines below belong to it, and nobody knows how many. */
const BEGINS_PASTED = /<[A-Za-z/!?]|^(?:diff |index [0-9a-f]{7}|@@ |--- |\+\+\+ )/;
const QUOTING = /["\u201c\u201d\u00ab\u00bb\u201e`]/;
/** Of a quotation, a table, a command, a comparison of files, code. */
const NO_PROSE = /^\s*(?:>|\||\$ |[-+](?=\S))|^ {4}|^\t/;

/** The user's sentences, and lines, of a prompt. */
export function ownSentences(prompt: string): string[] {
  if (prompt.length > LONGEST_TYPED) return [];
  const lines = ownLines(prompt.replace(FENCE, '').split(/\r\n|[\n\r\u0085\u2028\u2029]/));
  return lines.flatMap((line) => [line, ...sentencesOf(line)]);
}

function ownLines(lines: readonly string[]): string[] {
  const own: string[] = [];
  let isQuoted = false;
  for (const line of lines) {
    if (BEGINS_PASTED.test(line) || hasOpenQuotation(line)) break;
    // The lines below one of a quotation belong to it, up to a blank one.
    isQuoted = line.trim() !== '' && (isQuoted || /^\s*>/.test(line));
    if (!isQuoted && !NO_PROSE.test(line) && !QUOTING.test(line)) own.push(line);
  }
  return own;
}

/** It goes on in the lines below, or began above. */
function hasOpenQuotation(line: string): boolean {
  const count = (signs: RegExp): number => line.match(signs)?.length ?? 0;
  // A quotation of several marks, such as the German, has one to begin and one to end it: an even number.
  return (
    count(/"/g) % 2 === 1 ||
    count(/[\u201c\u201d\u201e\u201f]/g) % 2 === 1 ||
    count(/[\u00ab\u00bb]/g) % 2 === 1
  );
}

/** A full stop ends no sentence behind an abbreviation (`e.g.`, `etc.`), and dots in a row do not. */
const SENTENCE_END =
  /(?<=(?:[\p{L}\p{N})]{2}|\p{N})[.!?])(?<!\b(?:etc|resp|incl|excl|approx|esp|ex|vs|cf|viz|al|inc|no|nr|fig|vol|dept|est|sec|min|max|ca|bzw|usw|vgl|ggf)\.)\s+/iu;

function sentencesOf(line: string): string[] {
  return line.split(SENTENCE_END);
}
