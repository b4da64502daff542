/**
 * Private keys in a file, line by line: the redactor knows a key by its first line, and a part of a file may begin after
 * it. Lines stay lines, so their numbers are right.
 */
const FIRST = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const LAST = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;
const PART = /^\s*(?:[A-Za-z0-9+/=]{1,200}|[A-Za-z-]{3,20}: .{1,100}|)\s*$/;

export function* maskPrivateKeys(lines: readonly string[]): Generator<string> {
  let inside = false;
  for (const line of lines) {
    if (inside && (LAST.test(line) || !PART.test(line))) inside = false;
    yield inside && line.trim() !== '' ? '[redacted: private key]' : line;
    // A whole key on one line is the redactor's.
    if (FIRST.test(line) && !LAST.test(line)) inside = true;
  }
}
