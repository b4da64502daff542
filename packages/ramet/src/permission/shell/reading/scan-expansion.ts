/** What the shell puts into a word: variables, substitutions, arithmetic. */
import { noteBreakOff } from './script-ground.ts';
import {
  deeper,
  lookAt,
  onlyBash,
  type ScriptScan,
  scanInside,
  takeMatch,
  UnreadScript,
} from './script-scan.ts';

export interface Expansion {
  /** A dollar sign that stands for itself. */
  literal?: boolean;
  /** Outside quotes it is cut at blanks; in quotes only `$@` is. */
  splits: boolean;
}

const ONE_WORD: Expansion = { splits: false };
const CUT: Expansion = { splits: true };

const NAME = /\$([A-Za-z_]\w*|\d|[@*#?!-])/y;
const NO_WORD_BRACES = String.raw`[^\u0060$(){}"'\\<>\n]*`;
const BRACES = new RegExp(
  String.raw`\$\{(?:#?([A-Za-z_]\w*|\d+)|([A-Za-z_]\w*|\d+)(?::?[-+]|%%?|##?)${NO_WORD_BRACES}|[@*#?])\}`,
  'y',
);
const BASH_BRACES = new RegExp(
  String.raw`\$\{([A-Za-z_]\w*|\d+)(?:\/\/?${NO_WORD_BRACES}|:\d+(?::\d+)?|\^\^?|,,?)\}`,
  'y',
);
/** A dollar sign before these expands nothing, for every shell. */
const LITERAL = /\$(?=[\s|)/.,;:\]%+=^}&]|\\[^\n]|$)/y;
const LITERAL_IN_QUOTES = /\$(?=["|)])/y;

/** These differ inside a sandbox, or lead to what other processes hold. */
const PROCESS = /^(?:PPID|BASHPID|TMPDIR)$/;

/** At a dollar sign; `quoted` inside double quotes or the body of a here-document. */
export function readDollar(scan: ScriptScan, quoted: boolean): Expansion {
  const next = scan.text[scan.at + 1] ?? '';
  if (next === '(') return readParentheses(scan, quoted);
  if (next === '{') return readBraces(scan, quoted);
  if (quoted && takeMatch(scan, LITERAL_IN_QUOTES)) return { literal: true, splits: false };
  if (takeMatch(scan, LITERAL)) {
    scan.reading.features.add('a dollar sign that expands nothing');
    return { literal: true, splits: false };
  }
  const name = takeMatch(scan, NAME)?.[1];
  if (name === undefined) throw new UnreadScript(`$${next}`);
  return variable(scan, name, quoted);
}

function readBraces(scan: ScriptScan, quoted: boolean): Expansion {
  const plain = takeMatch(scan, BRACES);
  if (plain !== null) return variable(scan, plain[1] ?? plain[2] ?? plain[0].slice(2, -1), quoted);
  const found = takeMatch(scan, BASH_BRACES);
  if (found === null) throw new UnreadScript(`the expansion ${scan.text.slice(scan.at, scan.at + 20)}`);
  onlyBash(scan, `the expansion ${found[0]}`);
  return variable(scan, found[1] ?? '', quoted);
}

function variable(scan: ScriptScan, name: string, quoted: boolean): Expansion {
  scan.reading.features.add('a variable');
  if (PROCESS.test(name)) throw new UnreadScript(`$${name}`);
  return quoted && name !== '@' ? ONE_WORD : CUT;
}

function readParentheses(scan: ScriptScan, quoted: boolean): Expansion {
  if (scan.text.startsWith('$((', scan.at)) {
    readArithmetic(scan);
    return ONE_WORD;
  }
  scan.at += 2;
  readSubstitution(scan);
  return quoted ? ONE_WORD : CUT;
}

/** After `$(` or `<(`, up to and with the `)`. */
export function readSubstitution(scan: ScriptScan): void {
  scan.reading.features.add('a substitution');
  const { places, outcome, heredocs } = scan;
  scan.heredocs = [];
  const end = deeper(scan, () => scan.list(scan));
  if (end !== ')' || scan.heredocs.length > 0) throw new UnreadScript('its syntax');
  scan.at++;
  scan.heredocs = heredocs;
  scan.places = places;
  scan.outcome = outcome;
}

/** A backslash between backticks means other things to other shells. */
const BACKTICKS = /`([^`\\]*)`/y;

export function readBackticks(scan: ScriptScan, quoted: boolean): Expansion {
  const inner = takeMatch(scan, BACKTICKS)?.[1];
  if (inner === undefined || (quoted && inner.includes('"')))
    throw new UnreadScript('what its backticks hold');
  scan.reading.features.add('a substitution');
  const inside = scanInside(scan, inner);
  const end = deeper(scan, () => {
    inside.depth = scan.depth;
    return inside.list(inside);
  });
  if (end !== '' || inside.heredocs.length > 0) throw new UnreadScript('its syntax');
  return quoted ? ONE_WORD : CUT;
}

/** Numbers, names, signs that compare and count; nothing that assigns, no subscript, no substitution. */
const SUM = /(?:[\w \t+\-*/%<>!&|?:(]|\$(?=[A-Za-z_])|[=!<>]=|\)(?!\)))*/y;

/** Bash evaluates what a variable holds, and runs the commands in a subscript there. */
function readArithmetic(scan: ScriptScan): void {
  scan.reading.features.add('arithmetic');
  noteBreakOff(scan);
  scan.at += 3;
  const from = scan.at;
  takeMatch(scan, SUM);
  // `$((1 + (2)))`: the sum may itself end with a parenthesis.
  if (lookAt(scan, /\)\)\)/y) !== null) scan.at++;
  const sum = scan.text.slice(from, scan.at);
  const balanced = sum.split('(').length === sum.split(')').length;
  if (!balanced || takeMatch(scan, /\)\)/y) === null) throw new UnreadScript('what it calculates');
  scan.reading.evaluated.push(...(sum.match(/(?<!\w)[A-Za-z_]\w*/g) ?? []));
}
