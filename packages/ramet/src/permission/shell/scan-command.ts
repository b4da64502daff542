/** One simple command: assignments, words, redirects, and what a builtin changes in the shell that reads on. */
import { resolve } from 'node:path';
import { scanRedirect } from './scan-redirect.ts';
import { scanWord } from './scan-word.ts';
import { lookAt, type ScriptScan, skipBlanks, takeMatch, UnreadScript } from './script-scan.ts';
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

const END = /[\n;|)#]|&(?!>)|$/y;
const ASSIGNMENT = /([A-Za-z_]\w*)(\+?=)/y;
const SUBSCRIPT = /[A-Za-z_]\w*\[/y;

export function scanCommand(scan: ScriptScan): void {
  const from = scan.at;
  const assignments: ShellAssignment[] = [];
  const words: ShellWord[] = [];
  const sources: string[] = [];
  const { directories } = scan;
  for (;;) {
    skipBlanks(scan);
    if (lookAt(scan, END) !== null) break;
    if (scanRedirect(scan)) continue;
    const start = scan.at;
    if (words.length === 0 && lookAt(scan, SUBSCRIPT) !== null)
      throw new UnreadScript('a part of a variable');
    if (words.length === 0 && lookAt(scan, ASSIGNMENT) !== null) assignments.push(scanAssignment(scan));
    else words.push(scanWord(scan));
    sources.push(scan.text.slice(start, scan.at));
  }
  if (scan.at === from) throw new UnreadScript('its syntax');
  const { reading } = scan;
  const name = words[0]?.value ?? null;
  if (name === '[') reading.features.add('a test');
  if (words.length === 0 || DECLARES.test(name ?? '')) reading.variables.push(...assignments);
  if (words.length === 0) return;
  if (DECLARES.test(name ?? '')) declare(scan, words);
  else reading.commands.push({ words, assignments, source: sources.join(' '), directories });
  noteEffects(scan, words);
}

function scanAssignment(scan: ScriptScan): ShellAssignment {
  const [, name = '', sign] = takeMatch(scan, ASSIGNMENT) ?? [];
  if (/[\s;&|)]|^$/.test(scan.text[scan.at] ?? '')) return { name, value: '' };
  const { source, value } = scanWord(scan);
  if (sign === '+=') return { name, value: null };
  // Arithmetic gives a number, whichever.
  return { name, value: /^"?\$\(\([^()]*\)\)"?$/.test(source) ? '0' : value };
}

const DECLARES = /^(?:export|readonly|declare|typeset|local)$/;

/** Names and assignments; an option such as `-i` or `-n` would give what follows another meaning. */
function declare(scan: ScriptScan, [keyword, ...words]: readonly ShellWord[]): void {
  const shared = keyword?.value === 'export' || keyword?.value === 'readonly';
  for (const word of words) {
    const { value, start, source, splits } = word;
    const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(value ?? start)?.[1];
    const known = name !== undefined && source.startsWith(name) && (value !== null || start.includes('='));
    if (known && (!splits || scan.dialect === 'bash')) {
      const given = value === null ? null : value.slice(name.length + 1);
      // What is exported, or may be, is looked at by every program that runs afterwards.
      scan.reading.variables.push({ name, value: given, exported: true });
    } else if (!(shared ? /^-[rx]+$/ : /^-[rxg]+$/).test(value ?? ''))
      throw new UnreadScript(`${keyword?.value ?? 'a declaration'} with ${source}`);
  }
}

/** These may change the directory without the word `cd`. */
const MOVES: ReadonlySet<string> = new Set(['cd', 'eval', 'pushd', 'popd', 'source']);
const PASSES_ON = /^(?:command|builtin|exec|time|env|nice|nohup|timeout|stdbuf)$/;

function noteEffects(scan: ScriptScan, words: readonly ShellWord[]): void {
  const values = words.map(({ value }) => value);
  const [first = null] = values;
  if (first === 'cd') changeDirectory(scan, words.slice(1));
  else if (MOVES.has(first ?? '') || first === '.') scan.directories = null;
  else if (PASSES_ON.test(first ?? '') && values.some((value) => MOVES.has(value ?? '') || value === '.'))
    scan.directories = null;
  const sets =
    /^(?:read|unset)$/.test(first ?? '') || (PASSES_ON.test(first ?? '') && values.includes('read'));
  if (!sets) return;
  for (const name of values.slice(1))
    if (name !== null && /^[A-Za-z_]\w*$/.test(name)) scan.reading.variables.push({ name, value: null });
}

const MOST_DIRECTORIES = 8;

/** The old directory stays possible: `cd` may fail. */
function changeDirectory(scan: ScriptScan, operands: readonly ShellWord[]): void {
  const [target, ...more] = operands;
  const to = target?.value;
  const from = scan.directories;
  if (from === null || to === null || to === undefined || to.startsWith('-') || more.length > 0) {
    scan.directories = null;
    return;
  }
  const places = new Set(from.flatMap((place) => [place, resolve(place, to)]));
  scan.directories = places.size > MOST_DIRECTORIES ? null : [...places];
}
