/**
 * `B0` looks like an id and is none: too many words look like it. Where a list names its tasks so, and others wait for them by that
 * name, nothing would wait. That is told.
 */
import type { TaskDraft } from '../task-draft.ts';

const SHORT_ID = /^[*_`]{0,2}([A-Z]{1,3}\d{1,2})[*_`]{0,2}(?=[\s:.)])/;
const WAITS = /\b(?:depend|blocked by|requires?\b|needs\b|after\b|waits? for)/i;
const NAMED = /\b[A-Z]{1,3}\d{1,2}\b/g;

export function warnOfShortIds(draft: TaskDraft, text: string): void {
  const names = new Set(draft.tasks.flatMap(({ title }) => SHORT_ID.exec(title)?.[1] ?? []));
  if (names.size === 0) return;
  for (const [index, line] of text.split('\n').entries()) {
    const verb = WAITS.exec(line);
    if (verb === null) continue;
    for (const { 0: name, index: at } of line.slice(verb.index).matchAll(NAMED)) {
      if (!names.delete(name)) continue;
      const better = name.replace(/\d+$/, (digits) => `-${digits}`);
      draft.problem(
        { line: index + 1, column: verb.index + at + 1 },
        `${name} is not read as an id, so nothing waits for it: write ${better} in both places`,
        'warning',
      );
    }
  }
}
