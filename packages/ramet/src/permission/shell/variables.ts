/**
 * Which variables a command may set without a question. Many programs run what a variable names (a pager, an
 * editor, a library to load first), so the list says what is harmless, never what is not.
 */
import type { ShellAssignment } from './shell-reading.ts';

const HARMLESS =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|CI|DEBUG|NO_COLOR|FORCE_COLOR|CLICOLOR|NODE_ENV|RUST_BACKTRACE|RUST_LOG|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|VITEST|HUSKY|PORT)$/;

/** Names that programs are known not to look at: a script's own, in small letters. */
const OWN = /^[a-z][a-z0-9_]*$/;
const NOT_OWN = /_proxy$|^npm_|^(?:path|cdpath|fpath|manpath|prompt|module_path)$/;

export function isHarmlessVariable({ name, value }: ShellAssignment): boolean {
  if (/^(?:GIT_)?PAGER$/.test(name)) return value === 'cat' || value === '';
  return HARMLESS.test(name) || isOwnVariable(name);
}

export function isOwnVariable(name: string): boolean {
  return /^(?:_|[A-Z])$/.test(name) || (OWN.test(name) && !NOT_OWN.test(name)) || OWN_CAPITALS.test(name);
}

const OWN_CAPITALS =
  /^(?:FILES?|DIRS?|ROOT|NAME|VERSION|COUNT|RESULT|OUTPUT|OUT|LINE|BRANCH|COMMIT|SHA|STATUS|TOTAL)$/;
