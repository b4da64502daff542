/** Lists, pipes and compound commands: where commands stand, and which of them run in a shell of their own. */
import { chained, eitherPlace, type ShellPlaces, staying } from './follow-directory.ts';
import { scanCommand } from './scan-command.ts';
import { scanBodies, scanRedirect } from './scan-redirect.ts';
import { scanTest } from './scan-test.ts';
import { scanWord } from './scan-word.ts';
import { nextLine, noteTogether, readPart } from './script-ground.ts';
import {
  deeper,
  expect,
  type ListEnd,
  lookAt,
  onlyBash,
  type ScriptScan,
  skipBlanks,
  skipLines,
  take,
  takeMatch,
  UnreadScript,
} from './script-scan.ts';
import type { ShellAssignment } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

const RESERVED =
  /(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|coproc|\{|\}|!|\[\[)(?=[\s;&|()<>]|$)/y;
const CLOSING: ReadonlySet<string> = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}']);

/** Reads commands up to what ends the list, which is left for the caller to take. */
export function scanList(scan: ScriptScan): ListEnd {
  settle(scan, scan.places);
  for (;;) {
    const from = scan.at;
    skipLines(scan, scanBodies);
    const end = endOfList(scan);
    if (end !== null) return end;
    if (scan.depth === 0 && scan.text.slice(from, scan.at).includes('\n'))
      scan.places = nextLine(scan.ground, scan.places);
    const { places } = scan;
    const { trusted } = scan.ground;
    scanChain(scan);
    skipBlanks(scan);
    if (endOfList(scan) !== null || lookAt(scan, /[\n#]/y) !== null) continue;
    if (take(scan, '&')) {
      scan.reading.features.add('a command in the background');
      scan.ground.beside ||= scan.ground.trusted > trusted;
      settle(scan, places);
    } else if (!take(scan, ';')) throw new UnreadScript('its syntax');
    if (lookAt(scan, /[&|;]/y) !== null && endOfList(scan) === null) throw new UnreadScript('its syntax');
  }
}

function endOfList(scan: ScriptScan): ListEnd | null {
  if (scan.at >= scan.text.length) return '';
  if (scan.text[scan.at] === ')') return ')';
  if (lookAt(scan, /;;&|;&/y) !== null) throw new UnreadScript('a case that falls through');
  if (lookAt(scan, /;;/y) !== null) return ';;';
  const word = lookAt(scan, RESERVED)?.[0] ?? '';
  return CLOSING.has(word) ? word : null;
}

function scanChain(scan: ScriptScan): void {
  const { places } = scan;
  scanPipe(scan);
  skipBlanks(scan);
  let { outcome } = scan;
  for (let sign = takeSign(scan); sign !== null; sign = takeSign(scan)) {
    scan.places = reachable(sign === '&&' ? outcome.succeeded : outcome.failed, scan.places);
    skipLines(scan, scanBodies);
    scanPipe(scan);
    skipBlanks(scan);
    outcome = chained(outcome, sign, scan.outcome);
  }
  scan.outcome = outcome;
  scan.places = reachable(eitherPlace(outcome.succeeded, outcome.failed), places);
}

function takeSign(scan: ScriptScan): string | null {
  return takeMatch(scan, /&&|\|\|/y)?.[0] ?? null;
}

/** What nothing can reach is read as if the shell had not moved. */
function reachable(places: ShellPlaces, otherwise: ShellPlaces): ShellPlaces {
  return places?.length === 0 ? otherwise : places;
}

function settle(scan: ScriptScan, places: ShellPlaces): void {
  scan.places = places;
  scan.outcome = staying(places);
}

/** Each part of a pipe runs in a shell of its own and moves no other. */
function scanPipe(scan: ScriptScan): void {
  const { places } = scan;
  const isNegated = takeMatch(scan, /!(?=[ \t])/y) !== null;
  if (isNegated) skipBlanks(scan);
  const parts = [readPart(scan.ground, () => scanPart(scan))];
  const { succeeded, failed } = scan.outcome;
  if (isNegated) scan.outcome = { succeeded: failed, failed: succeeded };
  skipBlanks(scan);
  while (lookAt(scan, /\|(?!\|)/y) !== null) {
    scan.at++;
    if (take(scan, '&')) onlyBash(scan, '|&');
    scan.places = places;
    skipLines(scan, scanBodies);
    parts.push(readPart(scan.ground, () => scanPart(scan)));
    skipBlanks(scan);
    settle(scan, places);
  }
  noteTogether(scan.ground, parts);
}

const COMPOUNDS: Readonly<Record<string, (scan: ScriptScan) => void>> = {
  if: scanIf,
  while: (scan) => scanLoop(scan, scanCondition),
  until: (scan) => scanLoop(scan, scanCondition),
  for: (scan) => scanLoop(scan, scanFor),
  case: scanCase,
  '{': (scan) => closeList(scan, '}'),
  '[[': scanTest,
};

function scanPart(scan: ScriptScan): void {
  const word = lookAt(scan, RESERVED)?.[0];
  if (word === undefined && scan.text[scan.at] !== '(') {
    scanCommand(scan);
    return;
  }
  const { places } = scan;
  settle(scan, places);
  const { ground } = scan;
  const body = readPart(ground, () =>
    deeper(scan, () => (word === undefined ? scanSubshell(scan) : scanCompound(scan, word))),
  );
  const { places: after, outcome } = scan;
  scan.places = places;
  let redirected = false;
  const redirects = readPart(ground, () => {
    for (skipBlanks(scan); scanRedirect(scan); skipBlanks(scan)) redirected = true;
  });
  noteTogether(ground, [body, redirects]);
  scan.places = after;
  // Where the file cannot be opened, nothing of it runs.
  scan.outcome = redirected ? { ...outcome, failed: eitherPlace(outcome.failed, places) } : outcome;
}

function scanCompound(scan: ScriptScan, word: string): void {
  const read = Object.hasOwn(COMPOUNDS, word) ? COMPOUNDS[word] : undefined;
  if (read === undefined)
    throw new UnreadScript(word === 'function' ? 'a function' : `${word} where it stands`);
  if (word !== '[[') scan.reading.features.add(word === '{' ? 'a group' : `the word ${word}`);
  scan.at += word.length;
  read(scan);
}

function scanSubshell(scan: ScriptScan): void {
  if (lookAt(scan, /\(\(/y) !== null) throw new UnreadScript('arithmetic as a command');
  scan.reading.features.add('a subshell');
  const { places } = scan;
  scan.at++;
  closeList(scan, ')');
  settle(scan, places);
}

/** A list that ends with this word. */
function closeList(scan: ScriptScan, word: string): void {
  if (scan.list(scan) !== word) throw new UnreadScript('its syntax');
  scan.at += word.length;
}

function scanIf(scan: ScriptScan): void {
  const { places } = scan;
  const ends: ShellPlaces[] = [];
  closeList(scan, 'then');
  let otherwise = scan.outcome.failed;
  scan.places = reachable(scan.outcome.succeeded, places);
  for (;;) {
    const end = scan.list(scan);
    scan.at += end.length;
    ends.push(endOf(scan));
    if (end === 'fi') break;
    scan.places = reachable(otherwise, places);
    if (end === 'elif') {
      closeList(scan, 'then');
      otherwise = scan.outcome.failed;
      scan.places = reachable(scan.outcome.succeeded, places);
    } else if (end === 'else') otherwise = [];
    else throw new UnreadScript('its syntax');
  }
  settle(scan, reachable(eitherPlace(...ends, otherwise), places));
}

/** Where the list ends that was read last. */
function endOf({ outcome }: ScriptScan): ShellPlaces {
  return eitherPlace(outcome.succeeded, outcome.failed);
}

function scanCondition(scan: ScriptScan): void {
  closeList(scan, 'do');
}

/** Each round may begin where the last one ended, so a loop that moves may be anywhere. */
function scanLoop(scan: ScriptScan, head: (scan: ScriptScan) => void): void {
  const { places, reading } = scan;
  const [commands, files, leaps] = [reading.commands.length, reading.files.length, scan.ground.leaps.length];
  scan.ground.touched = true;
  head(scan);
  closeList(scan, 'done');
  const isStill = scan.places === places && scan.ground.leaps.slice(leaps).every((each) => each === places);
  settle(scan, isStill ? places : null);
  if (isStill) return;
  for (const part of [...reading.commands.slice(commands), ...reading.files.slice(files)])
    part.directories = null;
}

function scanFor(scan: ScriptScan): void {
  skipBlanks(scan);
  const name = takeMatch(scan, /[A-Za-z_]\w*(?=[\s;])/y)?.[0];
  if (name === undefined) throw new UnreadScript('the head of a loop');
  skipBlanks(scan);
  const words: ShellWord[] = [];
  if (takeMatch(scan, /in(?=[\s;])/y)) {
    for (skipBlanks(scan); lookAt(scan, /[\n;]/y) === null; skipBlanks(scan)) words.push(scanWord(scan));
  }
  scan.reading.variables.push(...words.map((word) => givenBy(name, word)));
  if (words.length === 0) scan.reading.variables.push({ name, value: null });
  take(scan, ';');
  skipLines(scan, scanBodies);
  expect(scan, 'do');
}

function givenBy(name: string, { value, start, source, splits = false }: ShellWord): ShellAssignment {
  if (/^\{\d+\.\.\d+\}$/.test(source)) return { name, value: '0' };
  // Only of a pattern the beginning says where it leads.
  return value === null && (splits || /[$`{]/.test(source))
    ? { name, value, source }
    : { name, value, start, source };
}

function scanCase(scan: ScriptScan): void {
  skipBlanks(scan);
  scanWord(scan);
  skipLines(scan, scanBodies);
  expect(scan, 'in');
  const { places } = scan;
  const ends: ShellPlaces[] = [places];
  for (;;) {
    skipLines(scan, scanBodies);
    if (takeMatch(scan, /esac(?=[\s;&|)<>]|$)/y)) break;
    scanPatterns(scan);
    scan.places = places;
    const end = scan.list(scan);
    scan.at += end.length;
    ends.push(endOf(scan));
    if (end === 'esac') break;
    if (end !== ';;') throw new UnreadScript('its syntax');
  }
  settle(scan, eitherPlace(...ends));
}

function scanPatterns(scan: ScriptScan): void {
  take(scan, '(');
  do {
    skipBlanks(scan);
    scanWord(scan);
    skipBlanks(scan);
  } while (take(scan, '|'));
  expect(scan, ')');
}
