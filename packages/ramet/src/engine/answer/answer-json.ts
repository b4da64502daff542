/**
 * Finds the JSON in what an agent answers: models wrap it in a code block or in prose however they are told. Made for
 * a bounded call: brackets without end are searched from each of them.
 */
import { fencedBlocks } from '../../model/recipe/fenced-blocks.ts';

export interface FoundJson {
  /** As it was written: numbers keep all their digits. */
  json: string;
  value: unknown;
}

/** All of the text, its only code block, or else the last object or array in it. */
export function findJson(text: string): FoundJson | null {
  const bare = parsed(text);
  if (bare !== null) return bare;
  const [block, ...others] = fencedBlocks(text);
  const fenced = block !== undefined && others.length === 0 ? parsed(block.content) : null;
  return fenced ?? lastValue(text);
}

function parsed(text: string): FoundJson | null {
  const json = text.trim();
  try {
    return { json, value: JSON.parse(json) };
  } catch {
    return null;
  }
}

function lastValue(text: string): FoundJson | null {
  let last: FoundJson | null = null;
  const opener = /[[{]/g;
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const end = endOfValue(text, match.index);
    const found = end === null ? null : parsed(text.slice(match.index, end));
    if (found === null) continue;
    last = found;
    opener.lastIndex = match.index + found.json.length;
  }
  return last;
}

/** Behind the bracket that closes the one at `start`; null if it is never closed. Brackets in strings do not count. */
function endOfValue(text: string, start: number): number | null {
  const sign = /["[\]{}]/g;
  sign.lastIndex = start;
  let depth = 0;
  for (let match = sign.exec(text); match !== null; match = sign.exec(text)) {
    if (match[0] === '"') {
      const end = endOfString(text, match.index);
      if (end === null) return null;
      sign.lastIndex = end;
    } else depth += match[0] === '[' || match[0] === '{' ? 1 : -1;
    if (depth === 0) return match.index + 1;
  }
  return null;
}

function endOfString(text: string, start: number): number | null {
  const sign = /["\\\n]/g;
  sign.lastIndex = start + 1;
  for (let match = sign.exec(text); match !== null; match = sign.exec(text)) {
    if (match[0] === '"') return match.index + 1;
    if (match[0] === '\n') return null;
    sign.lastIndex = match.index + 2;
  }
  return null;
}
