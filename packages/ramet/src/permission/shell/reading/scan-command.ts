/** One simple command: assignments, words, redirects, and what a builtin changes in the shell that reads on. */
import { directoriesOf, moved, staying } from './follow-directory.ts';
import { endsShell, isMove, leavesDirectories, namesSet } from './moving-words.ts';
import { scanRedirect } from './scan-redirect.ts';
import { scanWord } from './scan-word.ts';
import { noteBreakOff, noteMove, noteTouch } from './script-ground.ts';
import { lookAt, type ScriptScan, skipBlanks, takeMatch, UnreadScript } from './script-scan.ts';
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

const END = /[\n;|)#]|&(?!>)|$/y;
const ASSIGNMENT = /([A-Za-z_]\w*)(\+?=)/y;
const SUBSCRIPT = /[A-Za-z_]\w*\[/y;

interface SimpleCommand {
  words: readonly ShellWord[];
  assignments: readonly ShellAssignment[];
  redirected: boolean;
}

export function scanCommand(scan: ScriptScan): void {
  const from = scan.at;
  const assignments: ShellAssignment[] = [];
  const words: ShellWord[] = [];
  const sources: string[] = [];
  const directories = directoriesOf(scan.places);
  let redirected = false;
  for (;;) {
    skipBlanks(scan);
    if (lookAt(scan, END) !== null) break;
    if (scanRedirect(scan)) {
      redirected = true;
      continue;
    }
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
  scan.outcome = staying(scan.places);
  if (DECLARES.test(name ?? '') || assignments.some((each) => scan.ground.fixes || FIXED.test(each.name)))
    noteBreakOff(scan);
  if (words.length === 0) return;
  if (DECLARES.test(name ?? '')) declare(scan, words);
  else reading.commands.push({ words, assignments, source: sources.join(' '), directories });
  noteEffects(scan, { words, assignments, redirected });
}

function scanAssignment(scan: ScriptScan): ShellAssignment {
  const [, name = '', sign] = takeMatch(scan, ASSIGNMENT) ?? [];
  if (/[\s;&|)]|^$/.test(scan.text[scan.at] ?? '')) return { name, value: '' };
  const { source, value } = scanWord(scan);
  if (sign === '+=') return { name, value: null };
  // Arithmetic gives a number, whichever.
  return { name, value: /^"?\$\(\([^()]*\)\)"?$/.test(source) ? '0' : value, source };
}

const DECLARES = /^(?:export|readonly|declare|typeset|local)$/;

/** Nothing can be assigned to these. */
const FIXED = /^(?:UID|EUID|PPID|BASHOPTS|SHELLOPTS|BASH_VERSINFO)$/;

/** Names and assignments; an option such as `-i` or `-n` would give what follows another meaning. */
function declare(scan: ScriptScan, [keyword, ...words]: readonly ShellWord[]): void {
  const shared = keyword?.value === 'export' || keyword?.value === 'readonly';
  scan.ground.fixes ||= keyword?.value !== 'export';
  for (const word of words) {
    const { value, start, source, splits } = word;
    const name = /^([A-Za-z_]\w*)(?:=|$)/.exec(value ?? start)?.[1];
    const known = name !== undefined && source.startsWith(name) && (value !== null || start.includes('='));
    if (known && (!splits || scan.dialect === 'bash')) {
      const given = value === null ? null : value.slice(name.length + 1);
      // What is exported, or may be, reaches every program that runs afterwards.
      const written = source.slice(name.length + 1);
      scan.reading.variables.push({ name, value: given, source: written, exported: true });
    } else if (!(shared ? /^-[rx]+$/ : /^-[rxg]+$/).test(value ?? ''))
      throw new UnreadScript(`${keyword?.value ?? 'a declaration'} with ${source}`);
  }
}

function noteEffects(scan: ScriptScan, command: SimpleCommand): void {
  const { reading, ground } = scan;
  const isBash = scan.dialect === 'bash';
  const values = command.words.map(({ value }) => value);
  const [first = null] = values;
  const { variables } = reading;
  const { touched, steered } = ground;
  scan.outcome =
    endsShell(command.words) && !command.redirected && command.assignments.length === 0
      ? staying([])
      : moved(scan.places, command, { variables, isBash, steered, touched: touched || !isBash });
  if (isMove(first)) noteMove(ground);
  else if (!leavesDirectories(first)) noteTouch(ground);
  if (/^(?:break|continue|return)$/.test(first ?? '')) ground.leaps.push(scan.places);
  for (const name of namesSet(values)) {
    if (name === null) ground.steered = true;
    else variables.push({ name, value: null });
  }
}
