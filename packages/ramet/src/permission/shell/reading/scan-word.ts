/** Words: quotes and escapes undone as bash does it, with what only the running shell knows left open. */
import { readBackticks, readDollar, readSubstitution } from './scan-expansion.ts';
import { readBeside } from './script-ground.ts';
import { onlyBash, type ScriptScan, UnreadScript } from './script-scan.ts';
import { addEscaped, addText, type Draft, finishWord, newDraft, type ShellWord } from './shell-word.ts';

/** One word; the caller has seen that one begins here. */
export function scanWord(scan: ScriptScan): ShellWord {
  const from = scan.at;
  const draft = newDraft();
  if (scan.text[from] === '#' && /[\s;&|()<>]|^$/.test(scan.text[from - 1] ?? ''))
    throw new UnreadScript('a comment where it stands');
  while (scan.at < scan.text.length && readPart(scan, draft));
  const source = scan.text.slice(from, scan.at);
  if (source === '') throw new UnreadScript('its syntax');
  if (/^\{\w+\}$/.test(source) && /[<>]/.test(scan.text[scan.at] ?? ''))
    throw new UnreadScript('a descriptor in a variable');
  if (source.includes('\n') && scan.heredocs.length > 0) throw new UnreadScript('where a heredoc begins');
  return finishWord(draft, source);
}

/** False at the end of the word. */
function readPart(scan: ScriptScan, draft: Draft): boolean {
  const character = scan.text[scan.at] ?? '';
  switch (character) {
    case ' ':
    case '\t':
    case '\n':
    case ';':
    case '&':
    case '|':
    case ')':
      return false;
    case '(':
      throw new UnreadScript('a parenthesis in a word');
    case '<':
    case '>':
      return readAngle(scan, draft);
    case '\\':
      return readEscape(scan, draft);
    case "'":
      return readRaw(scan, draft);
    case '"':
      return readQuoted(scan, draft);
    case '$':
      return readUnquotedDollar(scan, draft);
    case '`':
      open(draft, readBackticks(scan, false).splits);
      return true;
    default:
      addText(draft, character, 'u');
      scan.at++;
      return true;
  }
}

function open(draft: Draft, splits: boolean): void {
  draft.open = true;
  draft.splits ||= splits;
}

function readAngle(scan: ScriptScan, draft: Draft): boolean {
  if (scan.text[scan.at + 1] !== '(') return false;
  if (scan.text[scan.at] === '>') throw new UnreadScript('output to a command');
  onlyBash(scan, 'a process substitution');
  scan.at += 2;
  readBeside(scan.ground, () => readSubstitution(scan));
  addText(draft, '/', 'q'); // a path of the shell's own choosing
  draft.open = true;
  return true;
}

function readEscape(scan: ScriptScan, draft: Draft): boolean {
  const next = scan.text[scan.at + 1];
  if (next === '\n' && /[ \t]/.test(scan.text[scan.at + 2] ?? '')) return false;
  if (next === undefined || next === '\n') throw new UnreadScript('a line continued inside a word');
  addText(draft, next, 'q');
  scan.at += 2;
  return true;
}

function readRaw(scan: ScriptScan, draft: Draft): boolean {
  const end = scan.text.indexOf("'", scan.at + 1);
  if (end === -1) throw new UnreadScript('its syntax');
  addText(draft, scan.text.slice(scan.at + 1, end), 'q');
  scan.at = end + 1;
  return true;
}

function readUnquotedDollar(scan: ScriptScan, draft: Draft): boolean {
  const next = scan.text[scan.at + 1];
  if (next === '"') throw new UnreadScript('$"');
  if (next === "'") return readAnsi(scan, draft);
  const { literal = false, splits } = readDollar(scan, false);
  if (literal) addText(draft, '$', 'q');
  else open(draft, splits);
  return true;
}

function readAnsi(scan: ScriptScan, draft: Draft): boolean {
  onlyBash(scan, "$'");
  const body = /\$'((?:[^'\\]|\\[\s\S])*)'/y;
  body.lastIndex = scan.at;
  const match = body.exec(scan.text);
  if (match === null) throw new UnreadScript('its syntax');
  if (/\\(?:0|x0?0|00?0?)(?![\da-fA-F])/.test(match[1] ?? '')) throw new UnreadScript('a NUL in a word');
  addEscaped(draft, match[1] ?? '');
  scan.at += match[0].length;
  return true;
}

function readQuoted(scan: ScriptScan, draft: Draft): boolean {
  scan.at++;
  // An empty pair of quotes still makes a word.
  addText(draft, '', 'q');
  while (scan.text[scan.at] !== '"') {
    if (scan.at >= scan.text.length) throw new UnreadScript('its syntax');
    scanQuotedPart(scan, draft);
  }
  scan.at++;
  return true;
}

/** One character or expansion between double quotes, or in the body of a here-document. */
export function scanQuotedPart(scan: ScriptScan, draft: Draft): void {
  const character = scan.text[scan.at] ?? '';
  const next = scan.text[scan.at + 1] ?? '';
  if (character === '\\') {
    if (next === '\n' || next === '') throw new UnreadScript('a line continued inside a text');
    addText(draft, /[$`"\\]/.test(next) ? next : `\\${next}`, 'q');
    scan.at += 2;
  } else if (character === '`') open(draft, readBackticks(scan, true).splits);
  else if (character === '$') {
    const { literal = false, splits } = readDollar(scan, true);
    if (literal) addText(draft, '$', 'q');
    else open(draft, splits);
  } else {
    addText(draft, character, 'q');
    scan.at++;
  }
}
