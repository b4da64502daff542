/** Task lists whose tasks are headings. */
import type { MarkdownLine } from './markdown-lines.ts';
import { candidateId, type IdHabit, readHead, type TaskHead } from './task-id.ts';

/** Headings that are tasks: `### TASK-01: title`, `### T001 title`, with no task as a box below them. */
export function headingTasks(lines: readonly MarkdownLine[], habit: IdHabit): Map<number, TaskHead> {
  const found = new Map<number, TaskHead>();
  const isMeant = meantIds(lines);
  const open: { level: number; number: number }[] = [];
  for (const line of lines) {
    if (line.kind === 'box') {
      if (readHead(line.body, habit.accepts).id === null) continue;
      for (const { number } of open) found.delete(number);
    }
    if (line.kind !== 'heading') continue;
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= line.level) open.pop();
    if (!isMeant(line)) continue;
    // What is inside a task that is a heading is a part of it.
    for (const { number } of open) found.delete(number);
    open.push({ level: line.level, number: line.number });
    found.set(
      line.number,
      readHead(line.body, () => true),
    );
  }
  return found;
}

const SIGN = /[:.\u2014\u2013-][*_`]{0,3}$/;

/** The id with letters that a heading begins with, and whether a sign after it says that it is one. */
function idOf({ level, body }: MarkdownLine): { id: string; letters: string; isSigned: boolean } | null {
  const candidate = level > 1 ? candidateId(body) : null;
  const letters = /^(?:T(?=-?\d)|[A-Z]{2,}(?=-\d))/.exec(candidate?.id ?? '')?.[0];
  if (candidate === null || letters === undefined) return null;
  return { id: candidate.id, letters, isSigned: SIGN.test(body.slice(0, candidate.length)) };
}

/** `COVID-19 charts` and `T5 models` begin like ids: a sign, or others like it, must say that it is one. */
function meantIds(lines: readonly MarkdownLine[]): (heading: MarkdownLine) => boolean {
  const ids = lines.flatMap((line) => (line.kind === 'heading' ? (idOf(line) ?? []) : []));
  const meant = new Set(['TASK', ...ids.flatMap(({ letters, isSigned }) => (isSigned ? [letters] : []))]);
  if (new Set(ids.flatMap(({ id, letters }) => (letters === 'T' ? [id] : []))).size > 1) meant.add('T');
  return (heading) => {
    if (heading.level > 1 && /^[*_]{0,2}task\s/i.test(heading.body))
      return candidateId(heading.body) !== null;
    const found = idOf(heading);
    if (found === null) return false;
    return meant.has(found.letters) || heading.markAt >= 0 || /^T-?\d{2}/.test(found.id);
  };
}

/** The id of a heading that would be a task with a colon after it. */
export function unsignedId(heading: MarkdownLine): string | null {
  const found = idOf(heading);
  return found === null || found.isSigned ? null : found.id;
}
