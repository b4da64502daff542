/**
 * Random words that stand alone, with no name beside them. Most random text in files is public: digests, images, keys that are
 * meant to be seen, ids in addresses. So only a word of the usual length of a token counts, in a short line, with
 * nothing around it that says what it is.
 */

import type { SecretPlace } from './known-prefixes.ts';
import { isMixedRandom, isPlaceholder } from './random-text.ts';

const LONGEST_LINE = 300;
const SHORTEST = 32;
const LONGEST = 120;
const IS_PART: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(code)),
);
/** Part of an address, a path, a file name, a call. */
const BEFORE = /[=.@%$#&?\\]/;
const AFTER = /[.@%(:]/;
const PUBLIC_LINE =
  /sha-?\d|md5|blake|digest|checksum|hash|integrity|finger|etag|nonce|signature|public|\bpub|cert|ssh-|ecdsa|https?:|data:|base64|\buuid|commit|resolved|\bh1:|import |require\(|"[nxye]"\s*:|class=|href|src=|\bd=/i;
/** A line of an encoded block: nothing but the alphabet of base64. */
const BLOCK_LINE = /^[ \t>|"'+*#/]{0,20}[A-Za-z0-9+/]{40,}={0,2}["',+\\n]{0,4}\s*$/;

export function bareSecrets(text: string): SecretPlace[] {
  const found: SecretPlace[] = [];
  for (let at = 0; ; ) {
    const run = nextRun(text, at);
    if (run === null) return found;
    const { start: index, end } = run;
    at = end;
    const word = text.slice(index, end);
    if (
      word.length > LONGEST ||
      BEFORE.test(text[index - 1] ?? ' ') ||
      AFTER.test(text[index + word.length] ?? ' ')
    )
      continue;
    if (!isMixedRandom(word, SHORTEST) || isPlaceholder(word) || isPathLike(word)) continue;
    const around = linesAround(text, index);
    if (around === null || PUBLIC_LINE.test(around.line) || PUBLIC_LINE.test(around.before)) continue;
    if (BLOCK_LINE.test(around.before) || (BLOCK_LINE.test(around.line) && BLOCK_LINE.test(around.after)))
      continue;
    found.push({ rule: 'random text', at: index });
  }
}

/** Looks first at the character that a run must have: most text is passed over in steps of the shortest run. */
function nextRun(text: string, from: number): { start: number; end: number } | null {
  const isPart = (at: number): boolean => IS_PART[text.charCodeAt(at)] === true;
  let start = from;
  while (start + SHORTEST <= text.length) {
    let last = start + SHORTEST - 1;
    while (last >= start && isPart(last)) last--;
    if (last < start) {
      let end = start + SHORTEST;
      while (end < text.length && isPart(end)) end++;
      return { start, end };
    }
    start = last + 1;
  }
  return null;
}

function isPathLike(word: string): boolean {
  return word.split(/[/_-]/).some((part) => part.length >= 5 && /^[A-Za-z]?[a-z]+$/.test(part));
}

interface LinesAround {
  before: string;
  line: string;
  after: string;
}

/** Null in a long line. Looks no further than one, to either side. */
function linesAround(text: string, at: number): LinesAround | null {
  const left = text.slice(Math.max(0, at - 2 * LONGEST_LINE), at);
  const right = text.slice(at, at + 2 * LONGEST_LINE);
  const start = left.lastIndexOf('\n');
  const stop = right.indexOf('\n');
  const line = left.slice(start + 1) + (stop === -1 ? right : right.slice(0, stop));
  if (line.length > LONGEST_LINE) return null;
  const [after = ''] = stop === -1 ? [] : right.slice(stop + 1).split('\n', 1);
  return {
    before: start === -1 ? '' : left.slice(left.lastIndexOf('\n', start - 1) + 1, start),
    line,
    after,
  };
}
