/**
 * Counts which characters follow each other in the words of this repository and of the packages that it installs, and prints
 * the table of `src/memory/secrets/letter-pairs.ts`: `node packages/ramet/scripts/letter-pairs.ts`. What words are like does not
 * change with a release, so nothing runs it by itself.
 */
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  COST_DIGITS,
  COST_STEP,
  kindOf,
  LETTER_KINDS,
  SYMBOLS,
  symbolOf,
} from '../src/memory/secrets/letter-pairs.ts';

const ROOTS = ['docs', 'packages/ramet/src', 'node_modules'];
/** Headers of C, the same for each of some forty machines. */
const LEFT_OUT = /node-linux|\/dist\//;
const TEXT = /\.(?:md|ts|js|mjs|cjs|json|txt)$/;
const LONGEST_FILE = 300_000;
const WORD = /[A-Za-z0-9+/_-]{4,60}/g;
/** A word that is everywhere is still one word. */
const MOST_OF_ONE = 3;

function* texts(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (LEFT_OUT.test(`${path}/`)) continue;
    if (entry.isDirectory()) yield* texts(path);
    else if (entry.isFile() && TEXT.test(path) && statSync(path).size < LONGEST_FILE) {
      const bytes = readFileSync(path);
      if (isUtf8(bytes)) yield bytes.toString();
    }
  }
}

const words = new Map<string, number>();
for (const root of ROOTS)
  for (const text of texts(root))
    for (const [word] of text.matchAll(WORD)) words.set(word, (words.get(word) ?? 0) + 1);

const table = (size: number): number[][] =>
  Array.from({ length: size }, () => new Array<number>(size).fill(1));
const pairs = table(SYMBOLS);
const kinds = table(LETTER_KINDS);
const count = (counts: number[][], from: number, to: number, much: number): void => {
  const row = counts[from];
  if (row !== undefined) row[to] = (row[to] ?? 0) + much;
};
for (const [word, times] of words)
  for (let at = 1; at < word.length; at++) {
    const [one, other] = [word.charCodeAt(at - 1), word.charCodeAt(at)];
    count(pairs, symbolOf(one), symbolOf(other), Math.min(MOST_OF_ONE, times));
    count(kinds, kindOf(one), kindOf(other), Math.min(MOST_OF_ONE, times));
  }

/** Bits, in steps, as one digit each. */
function costs(row: readonly number[]): string {
  const sum = row.reduce((total, each) => total + each, 0);
  return row.map((each) => COST_DIGITS[Math.min(63, Math.round(Math.log2(sum / each) / COST_STEP))]).join('');
}

console.log(`pairs:\n${pairs.map((row) => `  '${costs(row)}',`).join('\n')}`);
console.log(`kinds:\n${kinds.map((row) => `  '${costs(row)}',`).join('\n')}`);
