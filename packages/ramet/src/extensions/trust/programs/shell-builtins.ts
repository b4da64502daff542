/** Commands of the shell itself, and variables, that give later words or programs another meaning. */
import type { ScriptCommand, ScriptWord } from '../../../permission/shell/script-words.ts';
import type { StartedProgram } from '../started-programs.ts';
import { NAMES_PROGRAM, PLACES } from './known-programs.ts';

/** With an option they run a word, or give a name to what it names. */
const RUNS_WORDS = /^(?:enable|hash|complete|bind|mapfile|readarray|fc)$/;
const CODE = /[$`]/;
/** Python imports what they name. */
const NAMES_MODULE = /^PYTHON(?:BREAKPOINT|WARNINGS)$/;
const PROMPT = /^PS[0-4]$/;

/** What cannot be followed in a builtin; null where all can. `moves`: all that the script changes into. */
export function unclearBuiltin({ name, rest }: StartedProgram, moves: readonly ScriptWord[]): string | null {
  const texts = rest.flatMap((word) => word.texts);
  const isOpen = rest.some(({ open }) => open !== null);
  if (name === 'cd' || name === 'pushd') {
    // Where the shell was before it was started, nobody knows.
    const isBack = texts.includes('-') && !moves.some(({ texts: [text] }) => text !== '-');
    return isOpen || isBack ? 'the folder it changes into' : null;
  }
  if (name === 'alias') return texts.some((text) => text.includes('=')) || isOpen ? 'an alias' : null;
  const runs = RUNS_WORDS.test(name) && texts.some((text) => /^-\w*[fpCFxe]/.test(text));
  return runs && (isOpen || texts.some((text) => CODE.test(text))) ? `what ${name} runs` : null;
}

/** They run a word as a script, which is looked through for names. What it works out itself is not. */
const RUNS_TEXTS =
  /^(?:tmux|screen|watch|watchexec|entr|concurrently|nodemon|hyperfine|parallel|rsync|tar|zip|split|sort|git|ssh|script|su|runuser|at|batch|sqlite3|vim?|ex|view|less|man|emacs|gdb|make|gmake|expect|[gm]?awk)$/;
const WORKS_OUT = /\s.*(?:\$[A-Za-z_{(@*]|`)|^[^\s]*=.*\$[A-Za-z_{(@*]/s;

export function unclearTexts(
  { name, rest }: StartedProgram,
  carried: ReadonlySet<ScriptWord | null>,
): string | null {
  if (!RUNS_TEXTS.test(name)) return null;
  const isCode = rest.some(
    ({ texts }, at) => isRun(name, rest, at) && texts.some((text) => WORKS_OUT.test(text)),
  );
  return isCode && !rest.some((word) => carried.has(word)) ? `what ${name} runs` : null;
}

/** Whether it may write a script that works out names itself: in a here-document, or as a text that it prints. */
export function writesCode(script: string, commands: readonly ScriptCommand[]): boolean {
  if (/<<-?\s*["'\\]?\w/.test(script) && CODE.test(script)) return true;
  return commands.some(({ words: [first, ...rest] }) => {
    const isPrinted = /^(?:echo|printf)$/.test(first?.texts[0] ?? '');
    return isPrinted && rest.some(({ texts }) => texts.some((text) => WORKS_OUT.test(text)));
  });
}

/** A message or a field of awk is no script. */
function isRun(name: string, rest: readonly ScriptWord[], at: number): boolean {
  const [before = ''] = rest[at - 1]?.texts ?? [];
  const [text = ''] = rest[at]?.texts ?? [];
  if (/awk$/.test(name)) return /system|\|/.test(text) && /"[^"]*\$[A-Za-z_{(]/.test(text);
  return (
    name !== 'git' || /^(?:-c|-x|--exec|foreach|run|--\w+-filter)$/.test(before) || text.startsWith('--exec=')
  );
}

/** The operands of all moves. */
export function movesIn(commands: readonly ScriptCommand[]): ScriptWord[] {
  return commands.flatMap(({ words }) => {
    const at = words.findIndex(({ texts: [text = ''] }) => /^(?:cd|pushd)$/.test(text));
    return at === -1 ? [] : words.slice(at + 1).filter(({ start }) => !/^-./.test(start));
  });
}

/** Whether nobody knows what a variable leads programs to. Some hold code, which is read when they are used. */
export function isUnclearValue({ name, texts, open }: ScriptCommand['assignments'][number]): boolean {
  if (PROMPT.test(name)) return texts.some((text) => /\$\(|`/.test(text));
  if (NAMES_MODULE.test(name)) return open !== null || texts.some((text) => text.includes('.'));
  if (!PLACES.test(name) && !NAMES_PROGRAM.test(name)) return false;
  return open !== null || texts.some((text) => CODE.test(text));
}
