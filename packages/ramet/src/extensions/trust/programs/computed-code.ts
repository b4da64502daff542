/** Code that is given to an interpreter as a word: whether it loads or starts what only the running program knows. */
import { isPlain } from './known-programs.ts';

const TEXT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$]*`/gs;
/** They load a file or start a program, by what follows. */
const LOADS =
  /(?<![\w.$'"-])(?:require|import|__import__|import_module|importlib\.import_module|runpy\.run_\w+|load|require_relative|dofile|loadfile)\s*\(/g;
const STARTS =
  /(?<![\w$'"-])(?:execSync|execFile(?:Sync)?|spawn(?:Sync)?|fork|os\.system|os\.popen|os\.(?:exec|spawn)\w+|popen|Popen|check_(?:call|output)|subprocess\.\w+|system)\s*\(/g;
const PERL_RUNS = /(?<![\w$@%>'"-])(?:do|require|exec|system)\b\s*\(?\s*(?=["'$@])/g;
/** Python runs the text of a file whose name it works out. */
const PYTHON_RUNS = /\b(?:exec|eval)\s*\(.*?\bopen\s*\(\s*(?![rbu]*["'])/s;
/** A folder by a name that is none: the file that it begins with. */
const FOLDER = /^["'`]\.{1,2}\/?["'`]$/;

export function computesNames(program: string, code: string): boolean {
  const isPerl = program === 'perl';
  if (PYTHON_RUNS.test(code)) return true;
  const calls = [...code.matchAll(LOADS)].map((call) => argumentOf(code, call));
  const starts = [...code.matchAll(STARTS), ...(isPerl ? code.matchAll(PERL_RUNS) : [])];
  return (
    calls.some((text) => !isText(text) || FOLDER.test(text)) ||
    starts.some((one) => isOpen(argumentOf(code, one), isPerl))
  );
}

/** As far as the call, or the statement, goes. */
function argumentOf(code: string, call: RegExpExecArray): string {
  const rest = code.slice(call.index + call[0].length);
  const blank = rest.replace(TEXT, (text) => '_'.repeat(text.length));
  let depth = 0;
  for (const [at, sign] of [...blank].entries()) {
    if (depth === 0 && /[);\n]/.test(sign)) return rest.slice(0, at).trim();
    if (/[([{]/.test(sign)) depth += 1;
    if (/[)\]}]/.test(sign)) depth -= 1;
  }
  return rest.trim();
}

function isText(text: string): boolean {
  return text.replace(TEXT, '') === '' && text !== '';
}

/** A text is looked through for names. Of a list, each is a name by itself, and what they are together only the program knows. */
function isOpen(text: string, isPerl: boolean): boolean {
  const [first = ''] = text.match(TEXT) ?? [];
  if (!text.replace(/^\[\s*/, '').startsWith(first) || first === '') return true;
  if (isPerl && /^"[^"]*[$@]\w/.test(first)) return true;
  // A shell puts something in its place.
  if (/\$[\w{(]/.test(first)) return true;
  const others = text.slice(text.indexOf(first) + first.length);
  const isList = text.startsWith('[') || /^\s*,\s*["'[]/.test(others);
  const isJoined = /^\s*[+.%]/.test(others);
  return isJoined || (isList && !isPlain(first.slice(1, -1)));
}

/** Ways to run a text that the code has read. */
const EVALUATES =
  /\b(?:eval\w*|exec\w*|compile|system|spawn\w*|p?open[23]?|Popen|subprocess|child_process|Function|vm|instance_eval|do|qx|getline|fork)\b|`/i;
/** A flag of `s` in Perl, and a pipe of awk. */
const PERL_EVALUATES = /(?:^|[^\w])s(\W).*?\1.*?\1\w*e/s;
const AWK_PIPES = /\|\s*(?:&\s*)?["\w]|["\w)]\s*\|/;

/** Whether code may run what it reads from a pipe. */
export function evaluates(program: string, code: string): boolean {
  if (/awk$/.test(program)) return EVALUATES.test(code) || AWK_PIPES.test(code.replaceAll('||', ''));
  return EVALUATES.test(code) || (/^perl/.test(program) && PERL_EVALUATES.test(code));
}
