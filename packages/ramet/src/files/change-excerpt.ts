/** What changed between two versions of a file, as a short unified diff for a refusal. */
import { type DiffLine, lineDiff } from '../system/text/line-diff.ts';
import { decodeTextFile } from '../system/text/text-file.ts';

const CONTEXT = 2;
const MOST_LINES = 40;
const MOST_CHARACTERS = 3_000;
const LONGEST_LINE = 200;
/** Larger texts are not compared. */
const LARGEST_TEXT = 1_000_000;

const MARKS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/** Null when either is not text, or too large to compare here. */
export function changeExcerpt(before: Uint8Array, after: Uint8Array): string | null {
  if (before.byteLength > LARGEST_TEXT || after.byteLength > LARGEST_TEXT) return null;
  const [old, now] = [decodeTextFile(before), decodeTextFile(after)];
  if (old === null || now === null) return null;
  const rows = hunks(lineDiff(old.text, now.text));
  if (rows.length === 0) return '(only line ends, encoding or byte-order mark changed)';
  return bounded(rows);
}

function bounded(rows: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = row.length > LONGEST_LINE ? `${row.slice(0, LONGEST_LINE).toWellFormed()}…` : row;
    if (shown.length === MOST_LINES || length + text.length > MOST_CHARACTERS) break;
    shown.push(text);
    length += text.length + 1;
  }
  const rest = rows.length - shown.length;
  return rest === 0 ? shown.join('\n') : [...shown, `(${rest} more lines of the difference)`].join('\n');
}

/** `@@ -first,count +first,count @@` before each run of changed lines and its neighbours. */
function hunks(diff: readonly DiffLine[]): string[] {
  const rows: string[] = [];
  let [old, now] = [1, 1];
  let open: { header: number; old: number; now: number; from: [number, number] } | null = null;
  const near = nearChange(diff);
  const close = (): void => {
    if (open === null) return;
    const [firstOld, firstNow] = open.from;
    rows[open.header] = `@@ -${firstOld},${open.old} +${firstNow},${open.now} @@`;
    open = null;
  };
  diff.forEach((line, index) => {
    if (near[index] !== true) close();
    else {
      if (open === null) open = { header: rows.push('') - 1, old: 0, now: 0, from: [old, now] };
      rows.push(`${MARKS[line.kind]}${line.text}`);
      if (line.kind !== 'added') open.old++;
      if (line.kind !== 'removed') open.now++;
    }
    if (line.kind !== 'added') old++;
    if (line.kind !== 'removed') now++;
  });
  close();
  return rows;
}

function nearChange(diff: readonly DiffLine[]): boolean[] {
  const near = new Array<boolean>(diff.length).fill(false);
  diff.forEach(({ kind }, index) => {
    if (kind !== 'same') near.fill(true, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  });
  return near;
}
