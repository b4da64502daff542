/** `[[ ... ]]`: words and operators. Bash evaluates the sides of a numeric comparison as arithmetic. */
import { scanWord } from './scan-word.ts';
import {
  lookAt,
  onlyBash,
  type ScriptScan,
  skipBlanks,
  take,
  takeMatch,
  UnreadScript,
} from './script-scan.ts';
import type { ShellWord } from './shell-word.ts';

const SIGN = /&&|\|\||[()]|[<>](?=[ \t])|!(?=[ \t])|(?:==|=|!=)(?=[ \t])/y;
const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/;
/** A pattern without quotes, bare blanks or expansions; a dollar sign only where it ends something. */
const PATTERN = /(?:[\w.^*+?[\]{}|()/:,=@%~#-]|\\[^\r\n]|\$(?=[ |)]))+(?=[ \t])/y;

/** After `[[`. */
export function scanTest(scan: ScriptScan): void {
  onlyBash(scan, '[[');
  scan.reading.features.add('a test');
  let before: ShellWord | null = null;
  let compares = false;
  for (;;) {
    skipBlanks(scan);
    if (lookAt(scan, /\]\](?=[\s;&|)<>]|$)/y) !== null) break;
    if (takeMatch(scan, /=~[ \t]+/y)) readPattern(scan);
    else if (takeMatch(scan, SIGN)) before = null;
    else {
      const word = scanWord(scan);
      if (compares) evaluate(scan, word);
      compares = NUMERIC.test(word.source);
      if (compares && before !== null) evaluate(scan, before);
      if (/^-[vR]$/.test(word.value ?? '-v') && word.value !== null)
        throw new UnreadScript(`the test ${word.value}`);
      before = word;
    }
  }
  take(scan, ']]');
}

function readPattern(scan: ScriptScan): void {
  if (takeMatch(scan, PATTERN) !== null) return;
  if (lookAt(scan, /"?\$\w+"?(?=[ \t])/y) === null) throw new UnreadScript('the pattern of a test');
  scanWord(scan);
}

function evaluate(scan: ScriptScan, { value, source }: ShellWord): void {
  if (/^-?\d+$/.test(value ?? '') || /^"?\$(?:[#?]|\{#\w+\})"?$/.test(source)) return;
  const name = /^"?\$\{?([A-Za-z_]\w*)\}?"?$/.exec(source)?.[1];
  if (name === undefined) throw new UnreadScript('what a test calculates');
  scan.reading.evaluated.push(name);
}
