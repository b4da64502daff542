/** Colours, cursor moves and titles that programs print for terminals. Bounded repeats: linear on any text. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are control characters
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[()*+][0-9A-Za-z]|[@-Z\\^_=>78c])/g;

/**
 * Characters that a reader does not see: controls, C1, marks that turn the direction of writing, zero-width ones and
 * blanks that are no plain blank. A command that holds one is never judged by itself, and a question shows it escaped.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u115f\u1160\u2800\u3164\uffa0\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const LONE_SURROGATE = /\p{Cs}/gu;

export function hasInvisible(text: string): boolean {
  return text.search(INVISIBLE) !== -1 || !text.isWellFormed();
}

/** The same text with every such character written out, as `\x1b` or `\u202e`; nothing is dropped. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, escaped).replace(LONE_SURROGATE, escaped);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/\s+/g, ' ').trim();
}

/** The same on one line, with line breaks and tabs written out too: a name cannot look like several lines, or like another. */
export function visibleName(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code > 0xffff) return `\\u{${digits}}`;
  return code < 0x100 ? `\\x${digits.padStart(2, '0')}` : `\\u${digits.padStart(4, '0')}`;
}

export function stripAnsi(text: string): string {
  return text.includes('\u001b') ? text.replace(ESCAPES, '') : text;
}

/** The first `length` characters, one fewer where that would split a surrogate pair: half a pair is no valid JSON. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last `length` characters, likewise. */
export function tailOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** `412 bytes`, `3.2 MB`. */
export function describeSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The beginning of a text, as many whole characters as fit into `most` bytes of UTF-8. */
export function headOfBytes(text: string, most: number): string {
  const bytes = Buffer.from(text.slice(0, most + 1));
  let end = Math.min(most, bytes.length);
  if (end === bytes.length) return text.slice(0, most + 1);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
