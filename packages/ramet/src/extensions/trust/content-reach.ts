/**
 * Patterns, folders and words that are not known, in commands that read files: which files these stand for changes with
 * each new file. They count where the script can run what was read; of programs that may load what they are given, always.
 */
import type { ScriptWord } from '../../permission/shell/script-words.ts';
import { COPIES, readOperands } from './copied-content.ts';
import type { DataWords } from './data-words.ts';
import { linkedPaths } from './linked-paths.ts';
import { FEEDS, isPlain } from './programs/known-programs.ts';
import { sedRuns } from './programs/sed-script.ts';
import type { StartedProgram } from './started-programs.ts';
import { contentOf } from './trusted-content.ts';

/** They tell or change names, and pass no content on. */
const NAMES_ONLY =
  /^(?:\[{1,2}|:|basename|cd|chmod|chown|dirname|echo|exit|export|du|false|find|fd|for|git|ls|mkdir|printf|pushd|pwd|read|readlink|realpath|rm|rmdir|set|stat|test|touch|tree|true|unlink)$/;
const AWK = /awk$/;
/** The word behind it is a program in the language of sed or awk, or a list that decides. */
const LOADS = /^(?:-\w*f|--file|--files-from)$/;

export interface ContentReach {
  readonly patterns: readonly string[];
  /** Names that count whole where they lead to a folder. */
  readonly folders: readonly string[];
  /** What decides about the content that runs, and is not known. */
  readonly unclear: string | null;
  /** Its script is known only to the running command. */
  readonly isOpen: boolean;
}

interface ContentGround {
  readonly answers: boolean;
  readonly isFed: boolean;
  /** In which it may start. */
  readonly directories: Iterable<string>;
}

export function contentReach(
  program: StartedProgram,
  data: DataWords,
  { answers, isFed, directories }: ContentGround,
): ContentReach {
  const { name } = program;
  const isReader = isPlain(name) || AWK.test(name) || COPIES.test(name) || data.isReader(program);
  if (NAMES_ONLY.test(name)) return { patterns: [], folders: [], unclear: null, isOpen: false };
  const rest = program.rest.filter((word) => !data.words.has(word));
  const isCounted = !isReader || data.carries || answers;
  const matched = rest.filter((word, at) => word.open === 'pattern' && (isCounted || isLoaded(rest, at)));
  const read = isReader && (data.carries || answers) ? readOperands({ name, rest }) : [];
  const isOpen = read.some(({ texts: [text], open }) => open === 'unknown' || text === '{}');
  const sed = SED.test(name) ? sedRuns(program.rest, (file) => textsOf(file, directories)) : null;
  const isRead = data.runsCopies && (isOpen || isFed);
  return {
    patterns: matched.flatMap(({ texts }) => texts),
    folders: read.flatMap(({ texts, open }) => (open === 'pattern' ? [] : texts)),
    unclear: sed?.runs === true ? `what ${name} runs` : isRead ? `what ${name} reads` : null,
    isOpen: sed?.isOpen === true,
  };
}

const SED = /^(?:g|s)?sed$/;

/** Of a script file. */
function textsOf(name: string, directories: Iterable<string>): string[] {
  return [...directories].flatMap((directory) =>
    linkedPaths(directory, name).flatMap((path) => contentOf(path)?.bytes.toString('utf8') ?? []),
  );
}

function isLoaded(words: readonly ScriptWord[], at: number): boolean {
  return words[at - 1]?.texts.some((text) => LOADS.test(text)) === true;
}

/** `xargs cat`: what it reads comes from elsewhere. */
export function isFedNames(programs: readonly StartedProgram[]): boolean {
  return programs.some(({ name }) => FEEDS.test(name));
}
