/**
 * What a fork has found worth keeping, a line each, and which of its lines are kept (BG-3, BG-5). Memory is not a way in:
 * whatever a page, a server, a file or another agent has planted, and whatever the model made of it, is judged here.
 *
 * Invariants
 * 1. Only a whole sentence of the user's own prompts is kept as the user's word, as the user wrote it.
 * 2. No other line is kept that tells its reader what to do.
 * 3. A line that is not in the user's words says where it was seen; if it was put into other words, what had been read before it.
 */
import { isInstruction } from './instruction-form.ts';
import { ownSentences } from './own-words.ts';

export interface FoundLines {
  readonly facts: readonly { readonly topic: string; readonly text: string }[];
  /** Wishes of the user, in the user's words. */
  readonly wishes: readonly string[];
  readonly notes: readonly string[];
}

/** A text of the conversation that is none of the user's. */
export interface SeenText {
  /** The tool that brought it, or `messages`. */
  readonly from: string;
  readonly text: string;
  /** What every session begins with: it says where a line comes from only if it has the words. */
  readonly isOpening?: boolean;
}

export interface KnownTexts {
  /** Prompts as the user typed them. */
  readonly typed: readonly string[];
  readonly seen: readonly SeenText[];
}

const MOST_LINES = 12;
const LONGEST_LINE = 300;
/** No topic is one that was taken out as a secret: `[redacted: ...]`. */
const LINE = /^\s*[-*]?\s*(FACT(?:\s+([^:[]{1,60}))?|USER|NOTE)\s*:\s*(\S.*)$/;

/** The lines of an answer that have one of the three forms; whatever else it says is left out. */
export function readAnswer(answer: string): FoundLines {
  const facts: { topic: string; text: string }[] = [];
  const wishes: string[] = [];
  const notes: string[] = [];
  for (const line of answer.split(/\r\n|[\n\r\u0085\u2028\u2029]/)) {
    const [, kind, topic = 'general', text = ''] = LINE.exec(line) ?? [];
    if (kind === undefined || facts.length + wishes.length + notes.length === MOST_LINES) continue;
    const plain = plainText(text);
    if (plain === '' || plain.length > LONGEST_LINE) continue;
    if (kind === 'USER') wishes.push(plain);
    else if (kind === 'NOTE') notes.push(plain);
    else facts.push({ topic, text: plain });
  }
  return { facts, wishes, notes };
}

/** Without signs that nobody sees, and that could hide a part of it. */
function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

export function judgeLines(found: FoundLines, known: KnownTexts): FoundLines {
  const read = new SeenWords(known.seen);
  const told = new SeenWords(known.typed.map((text) => ({ from: 'the user', text })));
  const readBefore = namesOf(known.seen);
  const sourceOf = (text: string, where: { from: string; share: number }): string => {
    if (told.mostOf(text).share > MOSTLY) return '';
    if (where.share > MOSTLY) return ` (seen in ${where.from})`;
    const alike = read.likest(text);
    if (alike.share >= MOSTLY) return ` (seen in ${alike.from})`;
    return readBefore === '' ? '' : ` (after ${readBefore})`;
  };
  const kept = (text: string, isNote: boolean): string[] => {
    const where = told.mostOf(text).share > MOSTLY ? NOWHERE : read.mostOf(text);
    if (isInstruction(text) || (!isNote && CLAIMS_A_WISH.test(text))) return [];
    if (where.share >= PARTLY && (MAY_INSTRUCT.test(text) || CLAIMS_A_WISH.test(text))) return [];
    return [text + sourceOf(text, where)];
  };
  return {
    wishes: found.wishes.flatMap((text) => {
      const own = ownWord(text, known.typed);
      return own === null || read.mostOf(own).share === 1 ? [] : [own];
    }),
    facts: found.facts.flatMap(({ topic, text }) => kept(text, false).map((line) => ({ topic, text: line }))),
    notes: found.notes.flatMap((text) => kept(text, true)),
  };
}

const MOST_NAMES = 3;

/** What was read in this conversation, the latest first. */
function namesOf(seen: readonly SeenText[]): string {
  const names = new Set(
    seen
      .filter(({ isOpening }) => isOpening !== true)
      .map(({ from }) => from)
      .reverse(),
  );
  const shown = [...names].slice(0, MOST_NAMES);
  return [...shown, ...(names.size > MOST_NAMES ? ['others'] : [])].join(', ');
}

/** From which share of its words on a line is partly, or mostly, what was seen. */
const PARTLY = 0.25;
const MOSTLY = 0.5;
const NOWHERE = { from: '', share: 0 };

const SHORTEST_WISH = 8;

/** The sentence of a prompt that has its words, as the user wrote it: "No, push" is not "No push". Null without one. */
function ownWord(text: string, typed: readonly string[]): string | null {
  const wanted = sameness(text);
  if (wanted.length < SHORTEST_WISH) return null;
  const found = typed.flatMap(ownSentences).find((own) => sameness(own) === wanted);
  const own = plainText(found ?? '');
  return own === '' || own.length > LONGEST_LINE ? null : own;
}

function sameness(text: string): string {
  return wordsOf(text.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '')).join(' ');
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Of a fact just as of a rule: it counts where the words are another's. */
const MAY_INSTRUCT =
  /\b(?:must|should|shall|always|never|do not|don't|have to|has to|need to|needs to|required|requires|mandatory|forbidden|only ever|important)\b/i;
const CLAIMS_A_WISH =
  /\b(?:user|owner|maintainers?|team|admin\w*|developer|operator|company|policy)\s+(?:\w+\s+)?(?:wants?|wishes|asks?|asked|prefers?|likes?|expects?|requires?|said|says|told|insists?|demands?|agreed|allows?|allowed|approved?|permits?|permitted|authori[sz]e[sd]?)\b/i;

/** As Read and Grep write a number, and a path, before each line. */
const LINE_NUMBER = /^[ \t]*(?:[^\s:]{1,200}[:-])?\d{1,9}[\t:\u2192-]/gm;

/** The words of texts, in threes: a text that has most of a line's is where the line comes from. */
class SeenWords {
  readonly #texts: readonly SeenText[];
  readonly #stems = new Map<SeenText, ReadonlySet<string>>();

  constructor(texts: readonly SeenText[]) {
    this.#texts = texts.flatMap(({ from, text }) =>
      [...new Set([text, text.replace(LINE_NUMBER, '')])].map((one) => ({
        from,
        text: ` ${wordsOf(one).join(' ')} `,
      })),
    );
  }

  /** The text that has most of a line's words that carry meaning, in any order and form. */
  likest(line: string): { from: string; share: number } {
    const stems = stemsOf(line);
    let most = NOWHERE;
    for (const seen of this.#texts) {
      const known = this.#stems.get(seen) ?? stemsOf(seen.text);
      this.#stems.set(seen, known);
      const share = stems.intersection(known).size / Math.max(1, stems.size);
      if (share > most.share) most = { from: seen.from, share };
    }
    return most;
  }

  mostOf(line: string): { from: string; share: number } {
    const words = wordsOf(line);
    const size = Math.min(3, words.length);
    const parts = words
      .slice(0, words.length - size + 1)
      .map((_, at) => ` ${words.slice(at, at + size).join(' ')} `);
    let most = NOWHERE;
    for (const { from, text } of this.#texts) {
      const share = parts.filter((part) => text.includes(part)).length / Math.max(1, parts.length);
      if (share > most.share) most = { from, share };
    }
    return most;
  }
}

const STEM = 4;

/** Beginnings of longer words: "uploads" and "uploaded" are the same. */
function stemsOf(text: string): Set<string> {
  return new Set(wordsOf(text).flatMap((word) => (word.length >= STEM ? word.slice(0, STEM) : [])));
}
