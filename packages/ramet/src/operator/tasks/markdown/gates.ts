/** Sentences that ask for a person before a task may start, and the tasks that they name. */
import { readIdList } from '../id-list.ts';
import type { TaskReference } from '../listed-task.ts';

const GATE =
  /\b(?:must|should|needs? to|has to|have to) be (?:\w+(?:, \w+){0,2},? and )?(?:explicitly )?(?:approved|confirmed|signed off)\b|\b(?:person|human|user|owner|maintainer|some(?:body|one)) (?:has|have|must have) (?:approved|confirmed|reviewed|signed off)\b|\b(?:approval|sign-?off) (?:is )?(?:required|needed|before)\b|\b(?:wait|waits|waiting|stop) for (?:the )?(?:user|human|owner|person|maintainer|manual)(?:'s)? (?:approval|confirmation|review|sign-?off)\b|\b(?:user|human|manual) approval\b|\bget approval\b/i;

/** What a person must do first, as "tests must be approved before implementation" says. */
export function namesGate(text: string): boolean {
  return GATE.test(text);
}

const BARRED = /\b(?:must not|may not|can ?not|can't|should not|do(?:es)? not|shall not)\b/i;
const BEFORE = /\bbefore\b/gi;

/** The tasks that a gate holds back, if it names them, and those that are approved: "T019 must be approved before T021". */
export function gatedTasks(text: string, line: number): { held: TaskReference[]; approved: TaskReference[] } {
  const barred = BARRED.exec(text);
  const at = barred?.index ?? [...text.matchAll(BEFORE)].at(-1)?.index;
  if (at === undefined) return { held: [], approved: [] };
  const [left, right] = [idsIn(text, 0, at, line), idsIn(text, at, text.length, line)];
  return barred === null ? { held: right, approved: left } : { held: left, approved: right };
}

const WORD = /[^\s,;]+/g;

/** Ids with letters: plain numbers are too often something else. */
function idsIn(text: string, from: number, to: number, line: number): TaskReference[] {
  const part = text.slice(0, to);
  const found = new Map<number, TaskReference>();
  let read = from;
  for (const { index } of part.matchAll(WORD)) {
    if (index < read) continue;
    const { references, end } = readIdList(part, index, { line, prose: true });
    for (const one of references) if (/^[A-Za-z]/.test(one.id)) found.set(one.column, one);
    read = Math.max(read, end);
  }
  return [...found.values()];
}
