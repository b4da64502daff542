/** Lists, pipes and compound commands: where commands stand, and which of them run in a shell of their own. */
import { scanCommand } from './scan-command.ts';
import { scanBodies, scanRedirect } from './scan-redirect.ts';
import { scanTest } from './scan-test.ts';
import { scanWord } from './scan-word.ts';
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
  for (;;) {
    skipLines(scan, scanBodies);
    const end = endOfList(scan);
    if (end !== null) return end;
    scanChain(scan);
    skipBlanks(scan);
    if (endOfList(scan) !== null || lookAt(scan, /[\n#]/y) !== null) continue;
    if (take(scan, '&')) scan.reading.features.add('a command in the background');
    else if (!take(scan, ';')) throw new UnreadScript('its syntax');
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
  do {
    skipLines(scan, scanBodies);
    scanPipe(scan);
    skipBlanks(scan);
  } while (takeMatch(scan, /&&|\|\|/y) !== null);
}

/** Each part of a pipe runs in a shell of its own and moves no other. */
function scanPipe(scan: ScriptScan): void {
  const { directories } = scan;
  if (takeMatch(scan, /!(?=[ \t])/y)) skipBlanks(scan);
  scanPart(scan);
  skipBlanks(scan);
  while (lookAt(scan, /\|(?!\|)/y) !== null) {
    scan.at++;
    if (take(scan, '&')) onlyBash(scan, '|&');
    scan.directories = directories;
    skipLines(scan, scanBodies);
    scanPart(scan);
    skipBlanks(scan);
    scan.directories = directories;
  }
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
  deeper(scan, () => (word === undefined ? scanSubshell(scan) : scanCompound(scan, word)));
  for (;;) {
    skipBlanks(scan);
    if (!scanRedirect(scan)) break;
  }
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
  const { directories } = scan;
  scan.at++;
  closeList(scan, ')');
  scan.directories = directories;
}

/** A list that ends with this word. */
function closeList(scan: ScriptScan, word: string): void {
  if (scan.list(scan) !== word) throw new UnreadScript('its syntax');
  scan.at += word.length;
}

function scanIf(scan: ScriptScan): void {
  closeList(scan, 'then');
  for (;;) {
    const end = scan.list(scan);
    scan.at += end.length;
    if (end === 'fi') return;
    if (end === 'elif') closeList(scan, 'then');
    else if (end === 'else') {
      closeList(scan, 'fi');
      return;
    } else throw new UnreadScript('its syntax');
  }
}

function scanCondition(scan: ScriptScan): void {
  closeList(scan, 'do');
}

/** Each round may begin where the last one ended, so a loop that moves may be anywhere. */
function scanLoop(scan: ScriptScan, head: (scan: ScriptScan) => void): void {
  const { directories, reading } = scan;
  const [commands, files] = [reading.commands.length, reading.files.length];
  head(scan);
  closeList(scan, 'done');
  if (scan.directories === directories) return;
  scan.directories = null;
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
  return value === null && (splits || /[$`{]/.test(source)) ? { name, value } : { name, value, start };
}

function scanCase(scan: ScriptScan): void {
  skipBlanks(scan);
  scanWord(scan);
  skipLines(scan, scanBodies);
  expect(scan, 'in');
  for (;;) {
    skipLines(scan, scanBodies);
    if (takeMatch(scan, /esac(?=[\s;&|)<>]|$)/y)) return;
    scanPatterns(scan);
    const end = scan.list(scan);
    scan.at += end.length;
    if (end === 'esac') return;
    if (end !== ';;') throw new UnreadScript('its syntax');
  }
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
