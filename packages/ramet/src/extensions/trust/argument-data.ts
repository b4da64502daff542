/**
 * Files that a command gives to the program that it runs as data, by what it calls them: `node server.js --db-path data/app.db`,
 * `MEMORY_FILE=./memory.json`. The program itself writes such files, so they do not count. What may tell it what to run does.
 */
import type { ScriptCommand, ScriptWord } from '../../permission/shell/script-words.ts';
import { evaluates } from './programs/computed-code.ts';
import { isInline, RUNS_SCRIPTS } from './programs/known-programs.ts';
import { scriptOf, startedPrograms } from './started-programs.ts';

/** Nobody runs such a file by its name alone. */
const DATA = /\.(?:log|txt|md|csv|tsv|jsonl|ndjson|db|sqlite3?|pid|png|jpe?g|gif|svg|pdf)$/i;
/** Data where a name says so, and a configuration elsewhere. */
const MAYBE_DATA = /\.(?:json|ya?ml|xml|html?|out|lock|dat|bin)$/i;
const SAYS_DATA =
  /(?:^|[_-])(?:audit|backup|cost|counter|data(?:base|file|path)?|db(?:file|path)?|dump|history|journal|log(?:s|file|path)?|memor(?:y|ies)|metrics|notes?|out(?:put)?|pid|records?|reports?|results?|sessions?|sqlite|stats?|state|storage|store|todos?|trace|transcripts?|usage)(?:[_-]|$)/i;
const SAYS_CODE =
  /conf|rc$|script|plugin|module|load|init|hook|rule|command|cmd|exec|schema|template|policy|prompt|program|run/i;
/** Folders, too. */
const SAYS_OUTPUT = /^(?:\w+_)?(?:LOGS?|REPORTS?|OUTPUT)_?(?:DIR|PATH|ROOT)$/;

function saysData(name: string): boolean {
  return SAYS_DATA.test(name) && !SAYS_CODE.test(name);
}

function isFile(text: string): boolean {
  return DATA.test(text) || MAYBE_DATA.test(text);
}

/** Values of variables, options and operands. */
export function argumentData({ words, assignments }: ScriptCommand): ScriptWord[] {
  const values = assignments.filter(
    ({ name, texts, open }) =>
      open === null && ((saysData(name) && texts.every(isFile)) || SAYS_OUTPUT.test(name)),
  );
  return [...values, ...startedPrograms(words).programs.flatMap(givenWords)];
}

function givenWords({ name, rest }: { name: string; rest: readonly ScriptWord[] }): ScriptWord[] {
  const isScript =
    RUNS_SCRIPTS.test(name) &&
    !/awk$/.test(name) &&
    scriptOf(name, rest).end === 'known' &&
    !hasCode(name, rest);
  const operands = rest.filter(({ start }) => !start.startsWith('-'));
  return rest.filter((word, at) => {
    const [text = ''] = word.texts;
    if (word.open !== null || word.texts.length !== 1) return false;
    const [, option, value = ''] = /^--([\w-]+)=(.+)$/s.exec(text) ?? [];
    if (option !== undefined) return saysData(option) && isFile(value);
    const [before = ''] = rest[at - 1]?.texts ?? [];
    if (before.startsWith('--')) return saysData(before.slice(2)) && isFile(text);
    // The script is the first of them.
    return isScript && !before.startsWith('-') && DATA.test(text) && operands.indexOf(word) > 0;
  });
}

function hasCode(name: string, rest: readonly ScriptWord[]): boolean {
  return rest.some(({ texts: [text = ''] }) => isInline(name, text));
}

/** Code that runs nothing that it reads: files of data that it names are no more than that. */
export function quietCode({ words }: ScriptCommand): ScriptWord[] {
  return startedPrograms(words).programs.flatMap(({ name, rest }) =>
    rest.filter(({ texts }, at) => {
      const isCode = RUNS_SCRIPTS.test(name) && isInline(name, rest[at - 1]?.texts[0] ?? '');
      return (
        isCode &&
        !texts.some((text) => evaluates(name, OPENS.test(name) ? text.replace(/\bopen\b/g, '') : text))
      );
    }),
  );
}

/** Their `open` starts no program. */
const OPENS = /^(?:python|pypy|node|bun|deno)/;

export function dataIn(code: ScriptWord): string[] {
  return code.texts.flatMap((text) =>
    Array.from(text.matchAll(/(["'])([\w./-]+)\1/g), ([, , name = '']) => name).filter(isFile),
  );
}
