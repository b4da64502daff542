/** Where a request marked the cache: which prefix each mark names, how long that is, and how long it lives. */
import type { Breakpoint } from '../../schema/events.ts';
import type { SentBlock, SentPrompt } from './sent-prompt.ts';

export interface SentMark extends Breakpoint {
  /** Of everything up to and including the marked block. */
  link: number;
  /** Length of that. */
  bytes: number;
  /** The block's place in the prompt, counted from the first block of the first message; -1 ends the system prompt. */
  place: number;
}

export const LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const;

/** A provider looks this many blocks back from a mark, the marked one included. */
const LOOK_BACK = 20;

export function sentMarks(prompt: SentPrompt, breakpoints: readonly Breakpoint[]): SentMark[] {
  const system = prompt.head.system.length;
  // A conversation of which something is lost may be shorter than what was sent.
  const end = system + prompt.links.length - 1;
  return breakpoints.map((mark) => {
    const index = Math.min(prompt.indexOf(mark), end);
    return { ...mark, link: prompt.linkAt(index), bytes: prompt.bytesAt(index), place: index - system };
  });
}

/** Whether a prompt of this many messages begins with what the mark names. */
export function beginsWith(mark: SentMark, prompt: SentPrompt, messages: number): boolean {
  if (mark.place < 0) return prompt.linkAt(prompt.indexOf(mark)) === mark.link;
  return mark.message < messages && prompt.links[mark.place] === mark.link;
}

/** Whether a provider that looks back from one of these marks comes to that one. */
export function isInReach({ place }: SentMark, marks: readonly SentMark[]): boolean {
  return marks.some((mark) => mark.place >= place && mark.place - place < LOOK_BACK);
}

export function sizeOf(blocks: readonly SentBlock[]): number {
  return blocks.reduce((sum, { size }) => sum + size, 0);
}
