/** Redirects and here-documents: which file is opened, and where a body ends. */
import { directoriesOf } from './follow-directory.ts';
import { scanQuotedPart, scanWord } from './scan-word.ts';
import { noteTogether, readPart } from './script-ground.ts';
import {
  type Heredoc,
  lookAt,
  onlyBash,
  type ScriptScan,
  scanInside,
  skipBlanks,
  takeMatch,
  UnreadScript,
} from './script-scan.ts';
import { newDraft } from './shell-word.ts';

/** Where output goes without changing anything. */
const NOWHERE = /^\/dev\/(?:null|stdout|stderr|fd\/[0-9])$/;
/** Bash itself opens connections for these. */
const NETWORK = /^\/+dev\/+(?:tcp|udp)/;
const OPERATOR = /(\d*)(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())/y;

/** Reads a redirect when one stands here. */
export function scanRedirect(scan: ScriptScan): boolean {
  const match = lookAt(scan, OPERATOR);
  if (match === null) return false;
  const [whole, descriptor = '', operator = ''] = match;
  if (descriptor !== '' && (descriptor.length > 2 || operator.startsWith('&')))
    throw new UnreadScript('the descriptor of a redirect');
  scan.at += whole.length;
  skipBlanks(scan);
  if (operator === '<<' || operator === '<<-') queueHeredoc(scan, operator === '<<-');
  else if (operator === '<<<') {
    onlyBash(scan, 'a here-string');
    scanWord(scan);
  } else readFile(scan, operator);
  return true;
}

function readFile(scan: ScriptScan, operator: string): void {
  if (operator.startsWith('&')) onlyBash(scan, operator);
  const word = scanWord(scan);
  const { value } = word;
  if (/^[<>]&$/.test(operator)) {
    if (value !== null && /^(?:\d{1,2}|-)$/.test(value)) return;
    if (operator === '<&' || scan.dialect === 'posix') throw new UnreadScript(`the redirect ${operator}`);
  }
  if (NETWORK.test(value ?? word.start)) throw new UnreadScript('a connection that the shell opens');
  const access = operator === '<' ? 'read' : 'write';
  if (access === 'write' && value !== null && NOWHERE.test(value)) return;
  if (access === 'read' && value === null)
    scan.reading.features.add('input from a file that is known only then');
  scan.reading.files.push({ word, access, directories: directoriesOf(scan.places) });
}

const DELIMITER = /(?:'(\w[\w.-]*)'|"(\w[\w.-]*)"|\\?(\w+))(?=[\s;&|)<>]|$)/y;

function queueHeredoc(scan: ScriptScan, tabs: boolean): void {
  const match = takeMatch(scan, DELIMITER);
  if (match === null) throw new UnreadScript('the marker of a heredoc');
  scan.reading.features.add('a here-document');
  const delimiter = match[1] ?? match[2] ?? match[3] ?? '';
  const { places, ground } = scan;
  const quoted = match[0] !== delimiter;
  scan.heredocs.push({ delimiter, quoted, tabs, places, trusted: ground.trusted });
}

/** After the end of a line: the bodies of the here-documents that were begun in it. */
export function scanBodies(scan: ScriptScan): void {
  const waiting = scan.heredocs;
  scan.heredocs = [];
  for (const heredoc of waiting) {
    // The body stands behind the line, and runs before the rest of it.
    const rest = { moves: scan.ground.trusted > heredoc.trusted, touches: false };
    noteTogether(scan.ground, [rest, readPart(scan.ground, () => readBody(scan, heredoc))]);
  }
}

function readBody(scan: ScriptScan, { delimiter, quoted, tabs, places }: Heredoc): void {
  const from = scan.at;
  for (;;) {
    const end = scan.text.indexOf('\n', scan.at);
    const line = scan.text.slice(scan.at, end === -1 ? scan.text.length : end);
    const bare = tabs ? line.replace(/^\t+/, '') : line;
    const body = scan.text.slice(from, scan.at);
    scan.at = end === -1 ? scan.text.length : end + 1;
    if (bare === delimiter) {
      if (!quoted) expandBody({ ...scan, places }, body);
      return;
    }
    // Some versions of bash take such a line for the end, others do not.
    if (bare.trimStart().startsWith(delimiter) || end === -1) throw new UnreadScript('where a heredoc ends');
  }
}

function expandBody(scan: ScriptScan, body: string): void {
  if (/\\\n/.test(body)) throw new UnreadScript('a line continued inside a heredoc');
  const inside = scanInside(scan, body);
  const draft = newDraft();
  while (inside.at < body.length) scanQuotedPart(inside, draft);
}
