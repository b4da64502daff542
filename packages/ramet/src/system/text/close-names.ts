/** Near names: what a model meant by a file that is not there, or a program by an option that does not exist. */
import { readdirSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';

const LOOKED_AT = 2_000;
const SHOWN = 3;

/** Null when the directory itself is missing. Never more than three, the nearest first. */
export function closeNames(path: string): string[] | null {
  const wanted = basename(path).toLowerCase();
  return (
    entriesOf(dirname(path))
      ?.slice(0, LOOKED_AT)
      .map((name) => ({ name, distance: distanceBetween(wanted, name.toLowerCase()) }))
      .filter(({ distance }) => distance <= 3)
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
      .slice(0, SHOWN)
      .map(({ name }) => name) ?? null
  );
}

/** The one of `known` that is meant by a name with a slip, in other letters or cut short; null when none is near. */
export function nearName(name: string, known: readonly string[]): string | null {
  const wanted = name.slice(0, 100).toLowerCase();
  const most = wanted.length < 4 ? 1 : wanted.length < 8 ? 2 : 3;
  const near = known
    .map((one) => {
      const own = one.toLowerCase();
      const part = wanted.length >= 4 && (own.includes(wanted) || wanted.includes(own)) ? most : Infinity;
      return { one, distance: Math.min(editDistance(wanted, own), part) };
    })
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1));
  return near[0]?.one ?? null;
}

function entriesOf(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    return null;
  }
}

function distanceBetween(a: string, b: string): number {
  if (a === b) return 0;
  if (stem(a) === stem(b)) return 1;
  if (a.length > 3 && (b.includes(a) || a.includes(b)) && b.length > 3) return 2;
  return Math.abs(a.length - b.length) > 3 || a.length < 4 ? Number.POSITIVE_INFINITY : editDistance(a, b);
}

function stem(name: string): string {
  return name.slice(0, name.length - extname(name).length);
}

/** Levenshtein, one row at a time; two neighbours that changed places are one slip. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : substitution;
      next.push(Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
