/** A text of memory as lines, each with the headings that it stands under. */

export interface HeadedLine {
  readonly text: string;
  /** Without the end of the line: what makes two lines the same. */
  readonly key: string;
  /** Of a heading, from 1; 0 for any other line. */
  readonly level: number;
}

/** Where a line stands; that of a heading is where the heading itself stands. */
export interface LineStanding {
  /** The same for lines under the same headings. */
  readonly path: string;
  /** Their indexes, the outermost first. */
  readonly headings: readonly number[];
}

export interface LinedText {
  readonly lines: readonly HeadedLine[];
  readonly standings: readonly LineStanding[];
  readonly hasMark: boolean;
  /** Null for a text without lines. */
  readonly hasEnd: boolean | null;
}

/** Some programs begin a text with it. */
export const MARK = '\ufeff';

export function linedText(text: string): LinedText {
  const hasMark = text.startsWith(MARK);
  const body = hasMark ? text.slice(1) : text;
  const lines = body === '' ? [] : body.replace(/\n$/, '').split('\n').map(headedLine);
  const hasEnd = lines.length === 0 ? null : body.endsWith('\n');
  return { lines, standings: standingsOf(lines), hasMark, hasEnd };
}

function headedLine(text: string): HeadedLine {
  const key = text.replace(/\r$/, '');
  return { text, key, level: /^\s*(#{1,6})(?=\s|$)/.exec(key)?.[1]?.length ?? 0 };
}

export function isBlank({ key }: Pick<HeadedLine, 'key'>): boolean {
  return key.trim() === '';
}

export function standingsOf(lines: readonly Pick<HeadedLine, 'key' | 'level'>[]): LineStanding[] {
  let open: readonly number[] = [];
  const under = (headings: readonly number[]): LineStanding => ({
    path: headings.map((index) => titleOf(lines[index]?.key ?? '')).join('\n'),
    headings,
  });
  let current = under(open);
  return lines.map(({ level }, index) => {
    if (level === 0) return current;
    open = open.filter((heading) => (lines[heading]?.level ?? 0) < level);
    const own = under(open);
    open = [...open, index];
    current = under(open);
    return own;
  });
}

/** Of the lines below a heading. */
export function pathBelow({ path }: Pick<LineStanding, 'path'>, { key }: Pick<HeadedLine, 'key'>): string {
  return path === '' ? titleOf(key) : `${path}\n${titleOf(key)}`;
}

/** Whether a line may change from one to the other: headings further out may differ, but not whose words it is. */
export function isLike(one: Pick<LineStanding, 'path'>, other: Pick<LineStanding, 'path'>): boolean {
  return lastOf(one) === lastOf(other) && isOfUser(one) === isOfUser(other);
}

function lastOf({ path }: Pick<LineStanding, 'path'>): string {
  return path.slice(path.lastIndexOf('\n') + 1);
}

function titleOf(heading: string): string {
  return heading.trim().toLowerCase().replace(/\s+/g, ' ');
}

/** Under the heading for what the user has said. */
export function isOfUser({ path }: Pick<LineStanding, 'path'>): boolean {
  return /^#+ notes of the user$/m.test(path);
}
