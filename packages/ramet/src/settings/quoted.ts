const LONGEST = 60;
const LONGEST_LINE = 240;

/** Text of a file as it may stand in a message: in quotes, cut, and without what could act on a terminal. */
export function quoted(text: string): string {
  return withoutControls(JSON.stringify(cut(text, LONGEST)));
}

/** A message that may repeat text of a file. */
export function shownLine(text: string): string {
  return withoutControls(cut(text, LONGEST_LINE));
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function withoutControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
