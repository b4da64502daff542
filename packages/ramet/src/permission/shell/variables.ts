/**
 * Which variables a command may set without a question. Many programs run what a variable names (a pager, an
 * editor, a library to load first), so the list says what is harmless, never what is not.
 */
import type { ShellAssignment } from './reading/shell-reading.ts';

const HARMLESS =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|CI|DEBUG|NO_COLOR|FORCE_COLOR|CLICOLOR|NODE_ENV|RUST_BACKTRACE|RUST_LOG|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|VITEST|HUSKY|PORT)$/;

/** Names that programs are known not to look at: a script's own, in small letters. */
const OWN = /^[a-z][a-z0-9_]*$/;
const NOT_OWN = /_proxy$|^npm_|^(?:path|cdpath|fpath|manpath|prompt|module_path)$/;

export function isHarmlessVariable({ name, value }: ShellAssignment): boolean {
  if (/^(?:GIT_)?PAGER$/.test(name)) return value === 'cat' || value === '';
  return HARMLESS.test(name) || isOwnVariable(name);
}

function isOwnVariable(name: string): boolean {
  return /^(?:_|[A-Z])$/.test(name) || (OWN.test(name) && !NOT_OWN.test(name)) || OWN_CAPITALS.test(name);
}

const OWN_CAPITALS =
  /^(?:SRC|DST|DEST|TARGET|PKG|PATTERN|TAG|REF|REV|HASH|LOG|LIMIT|BASE|FILES?|DIRS?|ROOT|NAME|VERSION|COUNT|RESULT|OUTPUT|OUT|LINE|BRANCH|COMMIT|SHA|STATUS|TOTAL)$/;

/** Bash itself, the loader or a program looks at these. */
const LOOKED_AT =
  /^(?:PATH|IFS|HOME|ENV|PWD|OLDPWD|CDPATH|SHELL\w*|POSIXLY_CORRECT|PS\d|PROMPT_COMMAND|GLOBIGNORE|EXECIGNORE|FUNCNEST|TMPDIR|TERMINFO|PAGER|EDITOR|VISUAL|BROWSER|NLSPATH|LOCPATH|HOSTALIASES|\w+_OPTIONS|\w*(?:PATH|OPTS|FLAGS|PRELOAD|COMMAND|PAGER|EDITOR|SHELL|PROXY)|(?:BASH|LD|DYLD|GIT|SSH|NODE|NPM|NVM|PYTHON|PERL|RUBY|JAVA|JDK|LUA|PHP|GO|CARGO|RUST|DOCKER|KUBE|AWS|MAN|LESS|TAR|GZIP|XZ|GREP|LS|AWK|RIPGREP|TREE|GLIBC|MALLOC|GCONV|XDG|SYSTEMD|DEBUGINFOD|COMP|HIST|READLINE|INPUTRC)\w*)$/;

/** Behind the wall, and seen by no program: a script may call its own variables what it likes. */
export function isHarmlessWalled(variable: ShellAssignment): boolean {
  if (isHarmlessVariable(variable)) return true;
  return /^[A-Z][A-Z0-9_]*$/.test(variable.name) && !LOOKED_AT.test(variable.name);
}
