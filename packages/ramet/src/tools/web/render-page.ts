/**
 * The bytes of a page as text, and what is shown of it. Pure and without a wait: of 5 MB that takes seconds when a page
 * is made to hurt, so large ones are rendered in a thread of their own (`render-aside.ts`).
 */
import { headOf } from '../../system/text/visible-text.ts';
import { htmlToText } from './html-to-text.ts';

/** Chooses what to show of a text that is too long: the parts that share most words with what is looked for. */
const PART = 2_000;

const MOST_WORDS = 100;

export interface PageBytes {
  bytes: Uint8Array;
  /** Type of content, and its parameters as the header has them. */
  kind: string;
  parameters: string;
  url: string;
  /** What is looked for; chooses what is shown of a long page. */
  prompt: string | undefined;
  shownLength: number;
}

export interface RenderedPage {
  type: string;
  title: string;
  text: string;
  /** What is shown where the text is too long; else null. */
  shown: string | null;
  /** Only the beginning was read. */
  cut: boolean;
}

export const HTML_TYPE: RegExp = /^(?:text\/html|application\/xhtml\+xml)$/;

export function renderPage({ bytes, kind, parameters, url, prompt, shownLength }: PageBytes): RenderedPage {
  const raw = decode(bytes, parameters);
  const html = HTML_TYPE.test(kind) || (kind === '' && /^\s*<(?:!doctype html|html)/i.test(raw));
  const page = html ? htmlToText(raw, url) : { title: '', text: raw, cut: false };
  const type = kind || (html ? 'text/html' : 'no type');
  return { type, ...page, shown: shownOf(page.text, prompt, shownLength) };
}

function shownOf(text: string, prompt: string | undefined, length: number): string | null {
  if (text.length <= length) return null;
  return prompt === undefined ? headOf(text, length) : relevantParts(text, prompt, length);
}

/** By the header's charset, or the one that HTML names in its beginning; UTF-8 when that is unknown. */
function decode(bytes: Uint8Array, parameters: string): string {
  const charset = /charset\s*=\s*["']?([\w-]+)/i;
  const beginning = new TextDecoder('latin1').decode(bytes.subarray(0, 2_000));
  const label = charset.exec(parameters)?.[1] ?? charset.exec(beginning)?.[1];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** At most about `length` characters, in their order, gaps marked; the beginning always counts. */
export function relevantParts(text: string, wanted: string, length: number): string {
  const said = new Set(wanted.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
  // Long words say most; more of them than this choose no better.
  const words = [...said].sort((a, b) => b.length - a.length).slice(0, MOST_WORDS);
  const parts = splitParts(text);
  const scores = parts.map((part) => {
    const lower = part.toLowerCase();
    return words.filter((word) => lower.includes(word)).length;
  });
  const ranked = parts.map((_, index) => index).sort((a, b) => rank(scores, b) - rank(scores, a) || a - b);
  const chosen = new Set(ranked.slice(0, Math.max(1, Math.floor(length / PART))));
  return parts
    .map((part, index) => (chosen.has(index) ? part : chosen.has(index - 1) ? '\n[... left out ...]\n' : ''))
    .join('');
}

function rank(scores: readonly number[], index: number): number {
  return index === 0 ? Number.POSITIVE_INFINITY : (scores[index] ?? 0);
}

/** Cut at the last line end of each part where there is one. */
function splitParts(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    // Looked for in this part alone: a text without line ends would be searched to its beginning each time.
    const lineEnd = text.slice(at, at + PART).lastIndexOf('\n') + 1;
    const end = text.length - at <= PART ? text.length : at + (lineEnd > 0 ? lineEnd : PART);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
