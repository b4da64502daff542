/** What is found in scripts of a shell that load each other (`shell-loads.ts`). */
import type { ScriptCommand, ScriptWord } from '../../../permission/shell/script-words.ts';
import type { StartedProgram } from '../started-programs.ts';
import type { GitLine } from './git-line.ts';
import type { LoadGround } from './loading-programs.ts';

export interface ShellText {
  /** The file that holds it. */
  readonly path: string;
  /** What `$0` is in it: another file where that one sources it. */
  readonly zero: string;
  readonly text: string;
  readonly digest: string;
}

export interface LoadedName {
  readonly name: string;
  /** What runs it; `source` where it becomes part of the script. */
  readonly by: string;
  readonly from: ShellText;
}

/** Code in a script that an interpreter gets. */
export interface LoadedCode {
  readonly program: StartedProgram;
  readonly text: string;
  readonly from: ShellText;
}

/** A call of git, with what variables give it. */
export interface CalledGit extends GitLine {
  readonly words: readonly ScriptWord[];
  readonly assignments: ScriptCommand['assignments'];
  readonly from: ShellText;
}

export interface ShellLoads {
  readonly names: readonly LoadedName[];
  /** Names of files of which all count that match. */
  readonly patterns: readonly LoadedName[];
  /** Folders that it changes into. */
  readonly places: readonly string[];
  readonly codes: readonly LoadedCode[];
  readonly git: readonly CalledGit[];
  /** Calls of jq, whose code may import modules. */
  readonly queries: readonly StartedProgram[];
  /** Names of files that it writes. */
  readonly written: ReadonlySet<string>;
  /** Of these, only the running script knows all that it loads. */
  readonly open: ReadonlySet<string>;
}

export interface ShellScene {
  readonly root: string;
  /** Of each checkout that it may be in. */
  readonly tops: readonly string[];
  readonly finds: LoadGround;
}

/** Where a program is started. */
export interface StartGround {
  readonly word: ScriptWord | undefined;
  readonly from: ShellText;
  readonly inner: ScriptWord | null;
  readonly body: string | null;
  readonly given: string | null;
  readonly input: string | null;
  /** Behind its name, with what is not known of them. */
  readonly words: readonly ScriptWord[];
}
