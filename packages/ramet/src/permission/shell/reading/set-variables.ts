/**
 * What the variables of a script may hold, whatever part of it runs first. A value that nobody can tell is one of them, so that a
 * word with such a variable is never taken for known.
 */
import { homedir } from 'node:os';
import type { ExactReading } from './script-scan.ts';
import type { ShellAssignment } from './shell-reading.ts';

/** The shell gives them values by itself. */
const OF_SHELL =
  /^(?:_|BASH\w*|REPLY|MAPFILE|OPTARG|OPTIND|DIRSTACK|FUNCNAME|COPROC|COMP_?\w+|PIPESTATUS|GROUPS|[ES]?RANDOM|E?UID|PPID|SECONDS|EPOCH\w+|LINENO|HISTCMD|SHELLOPTS)$/;

const MOVES = /(?<![\w./-])(?:cd|pushd)(?![\w./-])/;
/** Where the shell was before: with what comes before it in its command. */
const BACK = /[^;&|\n]*(?:OLDPWD|~-)/;

export class SetVariables {
  readonly #all = new Map<string, ShellAssignment>();
  /** Of all that are set, any may hold anything. */
  #isOpen = false;
  #moves = false;

  constructor(given: readonly ShellAssignment[]) {
    this.give(given);
  }

  get variables(): readonly ShellAssignment[] {
    const all = [...this.#all.values()];
    // Before the first move it is what was there when the shell was started.
    const unknown = this.#moves ? [] : [{ name: 'OLDPWD', value: null }];
    return [...(this.#isOpen ? all.map(({ name }) => ({ name, value: null })) : all), ...unknown];
  }

  has(name: string): boolean {
    return this.variables.some((one) => one.name === name);
  }

  isAs(other: SetVariables): boolean {
    return this.#key() === other.#key();
  }

  addAll({ variables, steered }: ExactReading, script: string): void {
    this.give(variables);
    this.#isOpen ||= steered;
    this.#moves ||= MOVES.test(script.slice(0, BACK.exec(script)?.index));
  }

  give(variables: readonly ShellAssignment[]): void {
    for (const one of variables)
      for (const value of valuesOf(one)) this.#all.set(JSON.stringify(value), value);
  }

  #key(): string {
    return JSON.stringify([[...this.#all.keys()].sort(), this.#isOpen, this.#moves]);
  }
}

function valuesOf({ name, value, source }: ShellAssignment): ShellAssignment[] {
  if (OF_SHELL.test(name) || isNumber(value, source)) return [{ name, value: null }];
  if (value !== null) return withHome(value, source ?? '').map((text) => ({ name, value: text }));
  return [{ name, value, ...(source !== undefined && { source }) }];
}

/** A zero that nobody wrote stands for some number. */
function isNumber(value: string | null, source: string | undefined): boolean {
  return value === '0' && source?.replace(/["']/g, '') !== '0';
}

/** The shell puts the home directory in place of a `~` behind `=` and `:`, also where the rest of the word is known. */
export function withHome(value: string, source: string): string[] {
  if (!/(?:^|[=:])~/.test(source)) return [value];
  return [value, value.replace(/(^|[=:])~(?=[/:]|$)/g, (_, before: string) => `${before}${homedir()}`)];
}
