/** Task lists whose tasks are headings. */
import type { MarkdownLine } from './markdown-lines.ts';
import { candidateId, type IdHabit, readHead, type TaskHead } from './task-id.ts';

/** Headings that are tasks: `### T001 title`, `### Task 1.1: title`, with no task as a box below them. */
export function headingTasks(lines: readonly MarkdownLine[], habit: IdHabit): Map<number, TaskHead> {
  const found = new Map<number, TaskHead>();
  const open: { level: number; number: number }[] = [];
  for (const line of lines) {
    if (line.kind === 'box') {
      if (readHead(line.body, habit.accepts).id === null) continue;
      for (const { number } of open) found.delete(number);
    }
    if (line.kind !== 'heading') continue;
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= line.level) open.pop();
    const candidate = candidateId(line.body);
    const isTask =
      candidate !== null &&
      line.level > 1 &&
      (/^[*_]{0,2}task\s/i.test(line.body) || /^(?:T-?\d+|[A-Z]{2,}-\d+)/.test(candidate.id));
    if (!isTask) continue;
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
