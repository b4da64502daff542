/**
 * The id at the beginning of a task's text, and the flags after it: `T012 [P] [US1] title`, `2.1 (P) title`, `1. title`,
 * `**TASK-07**: title`, `Task 1.2: title`, `#12 title`. What looks like an id but is a word (`UTF-8 support`, `3 retries`)
 * counts only if the other boxes of the file have ids of the same kind.
 */

export interface TaskHead {
  id: string | null;
  title: string;
  parallel: boolean;
  optional: boolean;
  /** Where the title begins in the body. */
  titleAt: number;
  /** What kind of id, so that a file's habit shows. */
  shape: IdShape | null;
}

export type IdShape = 'letter' | 'dotted' | 'number' | 'word' | 'code' | 'issue';

interface Candidate {
  id: string;
  shape: IdShape;
  /** A sign after it says that it is an id. */
  sure: boolean;
  length: number;
  /** `2.3* title`. */
  starred: boolean;
}

const OPEN = /^[*_`[(]{0,3}/;
const CLOSE = /^[*_`\])]{0,3}\s{0,2}(?:[:.)\u2014\u2013]|-(?=\s))?[*_`]{0,3}(?=\s|$)/;
const TASK_WORD = /^(?:task|\u30bf\u30b9\u30af)\s{1,2}(?=[A-Z]{0,3}-?\d)/i;
const SHAPES: readonly [IdShape, RegExp][] = [
  ['letter', /^T-?\d{1,6}(?:\.\d{1,4}){0,3}[a-z]?(?!\w)/],
  ['code', /^[A-Z]{1,3}\d{3,6}[a-z]?(?!\w)/],
  ['word', /^(?:bd-[a-z0-9]{1,12}|[A-Za-z][A-Za-z0-9]{0,15}-\d{1,9})(?:\.\d{1,6}){0,5}(?![\w-])/],
  ['issue', /^#\d{1,9}(?!\w)/],
  ['dotted', /^\d{1,6}(?:\.\d{1,6}){1,5}[a-z]?(?!\w)/],
  ['number', /^\d{1,6}[a-z]?(?!\w)/],
];

export function candidateId(body: string): Candidate | null {
  const before = leadIn(body);
  const open = OPEN.exec(body.slice(before))?.[0].length ?? 0;
  const word = TASK_WORD.exec(body.slice(before + open))?.[0].length ?? 0;
  const start = before + open + word;
  const rest = body.slice(start, start + 60);
  for (const [shape, pattern] of SHAPES) {
    const id = pattern.exec(rest)?.[0];
    if (id === undefined) continue;
    const close = CLOSE.exec(rest.slice(id.length));
    if (close === null) continue;
    const sure = close[0] !== '' || word > 0 || open > 0 || shape === 'letter' || shape === 'dotted';
    const starred = open === 0 && close[0] === '*';
    return { id, shape, sure, length: start + id.length + close[0].length, starred };
  }
  return null;
}

/** A line that is struck through, and `[P]` before the id. */
const LEAD_IN = /^(?:~~)?(?:(?:\[P\]|\(P\))\s{1,3}(?=[*_`[(]{0,3}[A-Za-z]{0,16}[#-]?\d))?/;

function leadIn(body: string): number {
  return LEAD_IN.exec(body)?.[0].length ?? 0;
}

const FLAG =
  /^\s{0,3}[*`]{0,2}(?:\[(P)\]|\((P)\)|\[(US\s?-?\d{1,4}(?:,\s?US\s?-?\d{1,4}){0,9})\]|\[(Story|Setup|Polish|E2E|Found\w{0,9})\]|\[(optional)\]|\((optional)\))[*`]{0,2}(?=\s|$|[:.[])/i;
const LAST_FLAG = /\s(?:\[P\]|\(P\))\s{0,2}$/;
const OPTIONAL = /\(optional\)|\[optional\]|^optional:/i;

/** `accepts` decides about ids that could be words. */
export function readHead(body: string, accepts: (candidate: Candidate) => boolean): TaskHead {
  const candidate = candidateId(body);
  const isId = candidate !== null && accepts(candidate);
  let at = isId ? candidate.length : 0;
  let optional = isId && candidate.starred;
  let parallel = isId && /^(?:~~)?[[(]P[\])]/.test(body);
  for (let flag = FLAG.exec(body.slice(at)); flag !== null; flag = FLAG.exec(body.slice(at))) {
    parallel ||= flag[1] !== undefined || flag[2] !== undefined;
    optional ||= flag[5] !== undefined || flag[6] !== undefined;
    at += flag[0].length;
  }
  const rest = body.slice(at);
  const lead = /^[\s:\u2014\u2013-]{0,4}(?=\S)/.exec(rest)?.[0].length ?? 0;
  const last = LAST_FLAG.exec(rest);
  const title = evenBold(body.slice(0, at), rest.slice(lead, last?.index).replaceAll('~~', '').trim());
  return {
    id: isId ? candidate.id : null,
    title,
    parallel: parallel || last !== null,
    optional: optional || OPTIONAL.test(title),
    titleAt: at + lead,
    shape: isId ? candidate.shape : null,
  };
}

/** `**T001: title**` leaves half of its bold signs in the title. */
function evenBold(before: string, title: string): string {
  return before.split('**').length % 2 === 0 ? title.replace('**', '') : title;
}

/** What the boxes of one file have in common. */
export interface IdHabit {
  accepts: (candidate: Candidate) => boolean;
  /** Whether any box has an id. */
  any: boolean;
  numbered: boolean;
}

export function habitOf(bodies: readonly string[]): IdHabit {
  const candidates = bodies.map(candidateId).filter((candidate) => candidate !== null);
  const counts = Map.groupBy(candidates, ({ shape }) => shape);
  const usual = (shape: IdShape): boolean => (counts.get(shape)?.length ?? 0) * 2 >= bodies.length;
  const dotted = counts.has('dotted');
  const series = Map.groupBy(candidates, ({ id }) => id.replace(/\d.*$/, ''));
  const accepts = ({ id, shape, sure }: Candidate): boolean => {
    if (sure) return true;
    // R001, R002, R003 are a series; RFC7231 is a word.
    if (shape === 'code' && (series.get(id.replace(/\d.*$/, ''))?.length ?? 0) >= 3) return true;
    return shape === 'number' ? dotted || usual('number') : usual(shape);
  };
  const accepted = candidates.filter(accepts);
  const numbers = accepted.filter(({ shape }) => shape === 'dotted' || shape === 'number');
  return { accepts, any: accepted.length > 0, numbered: numbers.length * 2 > bodies.length };
}
