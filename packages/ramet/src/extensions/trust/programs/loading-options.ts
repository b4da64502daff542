/** Options, code and variables by which programs of scripts run or load more than their words name. */
import { basename } from 'node:path';
import type { ScriptWord } from '../../../permission/shell/script-words.ts';
import type { StartedProgram } from '../started-programs.ts';
import { isInline, isPlain, REPLACES } from './known-programs.ts';

/** Of programs that run nothing else. */
const OPTIONS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:rg|ag|bat)$/, /^--(?:pre|pager|hostname-bin)(?:=|$)/],
  [/^(?:gnu|bsd|g)?tar$/, /^(?:-[a-zA-Z]*[IF]|--(?:to-c|use-c|checkpoint-a|info-s|new-v|rsh-c|rmt-c))/],
  [/^sort$/, /^--comp/],
  [/^split$/, /^--filter/],
  [/^zip$/, /^(?:-TT|--unzip-command)/],
  [/^wget$/, /^--use-askpass/],
  [/^(?:less|more)$/, /^(?:\+|-k|--lesskey)/],
  [/^(?:perl)$/, /^(?:-[a-zA-Z0]*I|-[Mm]lib\b|-[Mm][./]|-d:?.|-x)/],
  [/^ruby$/, /^(?:-[a-z]*I|-r[./]|-[CX]|-r$)/],
  [/^lua[\d.]*$|^luajit$/, /^-l/],
  [/^php$/, /^(?:-[cFz]|-d(?:\s*(?:auto_|ext|zend_ext|include_path|.*preload)|$))/],
  [/^node(?:js)?$/, /^--(?:run|env-file|loader|experimental-loader)(?:[=-]|$)/],
  [/^[gm]?awk$/, /^(?:-[il]|--(?:include|load))/],
  [/^enable$/, /^-\w*f/],
  [/^complete$/, /^-\w*C/],
  [/^(?:mapfile|readarray)$/, /^-\w*C/],
  [/^fc$/, /^-\w*[es]/],
  [/^bind$/, /^-\w*[xf]/],
];

export function loadsByOption({ name, rest }: StartedProgram): boolean {
  const [, option = null] = OPTIONS.find(([program]) => program.test(name)) ?? [];
  return option !== null && rest.some(({ start }) => option.test(start));
}

/** What `xargs -I%` puts into words of a program that is no plain one. */
export function isFilled(programs: readonly StartedProgram[]): boolean {
  const feeds = programs.find(({ name }) => /^(?:xargs|parallel)$/.test(name));
  const isReplaced = feeds?.rest.some(({ start }) => REPLACES.test(start)) === true;
  return isReplaced && programs.some(({ name }) => name !== feeds?.name && !isPlain(name));
}

/** Names of what `cp`, `tee` and the like write. */
export function copiedNames(program: string, words: readonly ScriptWord[]): string[] {
  if (!/^(?:cp|mv|ln|install|tee)$/.test(program)) return [];
  const operands = words.filter(({ start }) => !start.startsWith('-')).map(({ texts: [text = ''] }) => text);
  const last = operands.at(-1) ?? '';
  const made = program === 'tee' ? operands : [last, ...operands.map((one) => `${last}/${basename(one)}`)];
  return made.filter((one) => one !== '');
}

const AWK_TEXT = /"(?:[^"\\\n]|\\.)*"|(?<=[(~,!]\s*|^\s*|&&\s*|\|\|\s*|[;{}\n]\s*)\/(?:[^/\\\n]|\\.)+\//g;
const AWK_RUNS = /\bsystem\s*\(|\bgetline\b|\bprintf?\b[^;{}\n]*\||@(?:include|load)\b/;

/** Files in the language of awk, and whether its words run more than that. */
export function awkRuns({ name, rest }: StartedProgram): { files: readonly string[]; isOpen: boolean } {
  const texts = rest.flatMap((one) => one.texts);
  const files = texts.flatMap((text, at) => {
    if (/^(?:-[fE]|--(?:file|exec))$/.test(texts[at - 1] ?? '')) return [text];
    return /^(?:-[fE]|--(?:file|exec)=)(.+)$/.exec(text)?.[1] ?? [];
  });
  const isCode = texts.some((text) => AWK_RUNS.test(text.replace(AWK_TEXT, ' _ ').replaceAll('||', ' ')));
  return { files, isOpen: isCode || loadsByOption({ name, rest }) };
}

const HARMLESS: Readonly<Record<string, RegExp>> = {
  perl: /\b(?:use|no)\s+(?:v?5[\d.]*|strict|warnings|utf8|feature|integer|constant|[A-Z]\w*(?:::\w+)*)\b[^;]*|\bdo\s*\{|\bopen\s*\(?\s*my\s+\$\w+\s*,\s*["'](?:<|>>?)[^"'|]*["']/g,
  ruby: /\brequire\s*\(?\s*["'][a-z]\w*(?:\/\w+)*["']|\bdo\b|\bFile\.open\b/g,
  php: /\bdo\s*\{|\buse\s+[\w\\]+/g,
};
const LOADS =
  /\b(?:require\w*|include\w*|load\w*|use|do|import|autoload|source|dofile|loadfile|system|exec\w*|spawn\w*|popen|proc_open|passthru|shell_exec|eval|instance_eval|qx|open|fork)\b|`|%x/;

/** Whether code in Perl, Ruby, PHP or Lua may load or start anything. */
export function codeLoads(program: string, code: string): boolean {
  const known = HARMLESS[program.replace(/[\d.]+$/, '')];
  return LOADS.test(known === undefined ? code : code.replace(known, ' '));
}

/** The code among the words of an interpreter: `-e CODE`, `--eval=CODE`, `php -r CODE`. */
export function codeIn(program: string, texts: readonly string[]): string | undefined {
  const own = texts.find((_, at) => isCodeOption(program, texts[at - 1] ?? ''));
  return own ?? texts.flatMap((text) => /^--(?:eval|print)=(.*)$/s.exec(text)?.[1] ?? [])[0];
}

function isCodeOption(program: string, option: string): boolean {
  return isInline(program, option) || (program === 'php' && /^-[rBRE]$/.test(option));
}

/** Of a variable that programs load files by. */
const LEADS: RegExp =
  /^(?:BASH_ENV|ENV|NODE_(?:OPTIONS|PATH)|LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_\w+|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|PYTHON(?:PATH|STARTUP|HOME|WARNINGS|BREAKPOINT|USERBASE)|GIT_(?:CONFIG\w*|DIR|COMMON_DIR|TEMPLATE_DIR|EXEC_PATH)|LUA_\w+|CLASSPATH|ZDOTDIR|HOME|XDG_CONFIG_HOME|RIPGREP_CONFIG_PATH|MAKEFILES|MAKEFLAGS|AWK(?:LIB)?PATH|PHPRC|PHP_INI_SCAN_DIR|INPUTRC|GCONV_PATH|_?JAVA(?:_TOOL)?_OPTIONS)$/;

/** Their value is a command. */
const HOLDS_COMMAND: RegExp =
  /^(?:GIT_(?:EDITOR|SEQUENCE_EDITOR|PAGER|SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND)|SSH_ASKPASS|SUDO_ASKPASS|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|SHELL|LESS(?:OPEN|CLOSE)|PROMPT_COMMAND)$/;

/** Its value runs when the shell shows it. */
function isRunPrompt(name: string, source: string): boolean {
  return /^PS[0-4]$/.test(name) && /\$\(|`/.test(source);
}

/** `EDITOR="${EDITOR:-vi}"`: what it was before, which is no matter of the script. */
function keepsItself(name: string, source: string): boolean {
  return new RegExp(`^["']?\\$(?:${name}|\\{${name}(?::?-[\\w/-]*)?\\})["']?$`).test(source);
}

/** What a variable of a script does for programs that it starts. */
export function leads(name: string, source: string): 'files' | 'command' | 'prompt' | null {
  if (isRunPrompt(name, source)) return 'prompt';
  if (keepsItself(name, source)) return null;
  return LEADS.test(name) ? 'files' : HOLDS_COMMAND.test(name) ? 'command' : null;
}
