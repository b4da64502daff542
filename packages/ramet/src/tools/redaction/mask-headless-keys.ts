/**
 * Private keys without their first line, as `tail -n +2` shows them: known by their last. Looked for from there upwards,
 * so text without such a line costs one search.
 */
const LAST = /-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
/** What tools put before a line, the line, and what they put behind it. */
const PART =
  /^(?:[^\n:]{1,200}[:-])?[ \t\d:]{0,90}(?:\^I){0,8}[<>|#*+-]{0,3}[ \t]{0,80}[A-Za-z0-9+/=]{1,80}(?:\^M)?\$?\r?$/;
const LONG = /[A-Za-z0-9+/]{40,}={0,2}(?:\^M)?\$?\r?$/;

export function maskHeadlessKeys(text: string): string {
  if (!LAST.test(text)) return text;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    if (LAST.test(line)) maskAbove(kept);
    kept.push(line);
  }
  return kept.join('\n');
}

function maskAbove(lines: string[]): void {
  let from = lines.length;
  while (from > 0 && PART.test(lines[from - 1] ?? '')) from--;
  // A word or two above it is text about keys.
  const at = lines.findIndex((line, index) => index >= from && LONG.test(line));
  if (at !== -1) lines.splice(at, lines.length - at, '[redacted: private key]');
}
