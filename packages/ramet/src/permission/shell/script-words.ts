/**
 * The commands of a script with all that their words can become, for who asks which files a script may run. Scripts that
 * `bash -c` and `eval` carry are read like any other. What is not read exactly is said: nothing is passed over.
 */
import { basename } from 'node:path';
import { expandWord } from './reading/expand-word.ts';
import { readExactly } from './reading/read-exactly.ts';
import { SetVariables, withHome } from './reading/set-variables.ts';
import type { ShellAssignment } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';

export interface ScriptWord {
  /** Each text that it can become; of an open word only those that are known. */
  readonly texts: readonly string[];
  /** `pattern`: names of files that match `texts`. `unknown`: only the running shell knows. */
  readonly open: 'pattern' | 'unknown' | null;
  /** What it begins with in any case. */
  readonly start: string;
}

export interface ScriptCommand {
  readonly words: readonly ScriptWord[];
  readonly assignments: readonly (ScriptWord & { readonly name: string })[];
}

export interface ScriptWords {
  readonly commands: readonly ScriptCommand[];
  /** Files that redirects read. */
  readonly inputs: readonly ScriptWord[];
  /** Files that redirects write. */
  readonly outputs: readonly ScriptWord[];
  /** Why something in it is not known, in words that follow "because of". */
  readonly unclear: readonly string[];
}

export interface ScriptScene {
  /** What `git rev-parse --show-toplevel` answers. */
  readonly root: string;
  /** Set before it starts. */
  readonly variables: Readonly<Record<string, string>>;
}

const DEEPEST = 4;
const SHELL = /^(?:ba|da|z|k|a)?sh$/;

export function scriptWords(script: string, scene: ScriptScene): ScriptWords {
  const given = Object.entries(scene.variables).map(([name, value]): ShellAssignment => ({ name, value }));
  let set = new SetVariables(given);
  // What a script inside another sets, or is given, is known once that was read.
  for (let round = 0; round <= DEEPEST + 1; round++) {
    const next = new SetVariables(given);
    const words = readScript(script, { root: scene.root, before: set, set: next }, 0);
    if (next.isAs(set)) return words;
    set = next;
  }
  return { commands: [], inputs: [], outputs: [], unclear: ['what a script inside it sets'] };
}

interface ReadingScene {
  readonly root: string;
  /** All that the script sets, as far as it was found before. */
  readonly before: SetVariables;
  readonly set: SetVariables;
}

function readScript(script: string, scene: ReadingScene, depth: number): ScriptWords {
  const reading = readExactly(script, null);
  if ('unread' in reading) return { commands: [], inputs: [], outputs: [], unclear: [reading.unread] };
  const { files, unclear } = reading;
  scene.set.addAll(reading, script);
  const read = (word: ShellWord): ScriptWord => readWord(word, scene);
  const alone = reading.variables.filter(({ name, exported }) => exported === true || LEADS.test(name));
  const found = reading.commands.map(
    ({ words, assignments }): ScriptCommand => ({
      words: words.map(read),
      assignments: [...assignments, ...alone, ...givenIn(words)].map((one) => readAssigned(one, read)),
    }),
  );
  const opened = (how: 'read' | 'write'): ScriptWord[] =>
    files.filter(({ access }) => access === how).map(({ word }) => read(word));
  const all = {
    commands: [...found],
    inputs: opened('read'),
    outputs: opened('write'),
    unclear: [...unclear],
  };
  for (const [index, command] of found.entries()) {
    const inner = carriedScript(command);
    if (inner === null) continue;
    const { words = [], assignments = [] } = reading.commands[index] ?? {};
    scene.set.give([...assignments, ...passedIn(words)]);
    if (inner.open !== null || depth >= DEEPEST) all.unclear.push('a script inside it');
    else
      for (const text of inner.texts) {
        const inside = readScript(text, scene, depth + 1);
        all.commands.push(...inside.commands);
        all.inputs.push(...inside.inputs);
        all.outputs.push(...inside.outputs);
        all.unclear.push(...inside.unclear);
      }
  }
  return all;
}

/** `env A=b sh -c`: what words before the script may give it. */
function passedIn(words: readonly ShellWord[]): ShellAssignment[] {
  const shell = words.findIndex(({ value }) => value !== null && SHELL.test(basename(value)));
  return words.slice(0, shell === -1 ? undefined : shell).flatMap(({ source, value }) => {
    const [, name, written = ''] = /^["']?([A-Za-z_]\w*)=(.*)$/s.exec(source) ?? [];
    if (name === undefined) return [];
    return [{ name, value: value === null ? null : value.slice(name.length + 1), source: written }];
  });
}

/** Programs see them without `export` where they were set before, and it is not known whether they were. */
const LEADS = new RegExp(
  `^(?:${[
    '(?:CLASS|NODE_|PYTHON|(?:LD|DYLD)_LIBRARY_)?PATH|(?:BASH_)?ENV|LD_PRELOAD|DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS|PERL5(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|LUA_(?:INIT|C?PATH)\\w*|PYTHON(?:STARTUP|HOME|WARNINGS|BREAKPOINT|USERBASE)',
    'GIT_(?:SSH\\w*|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|EXTERNAL_DIFF|EXEC_PATH|CONFIG_\\w+)|PAGER|EDITOR|VISUAL|SHELL|BROWSER',
  ].join('|')})$`,
);
const GIVES = /^(?:env|cross-env|sudo|doas|declare|typeset|readonly|local)$/;

/** `env PATH="bin:$PATH" x`: of the variables that lead to what runs. */
function givenIn(words: readonly ShellWord[]): ShellAssignment[] {
  if (!words.some(({ value }) => value !== null && GIVES.test(basename(value)))) return [];
  return passedIn(words).filter(({ name }) => LEADS.test(name));
}

/** A command that no shell reads. */
export function plainCommand(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): ScriptCommand {
  return {
    words: words.map(known),
    assignments: Object.entries(variables).map(([name, value]) => ({ name, ...known(value) })),
  };
}

function known(text: string): ScriptWord {
  return { texts: [text], open: null, start: text };
}

const PATTERN = /[*?[]/;
/** A value that is cut or replaced, and what a command prints into a file: `${x%.*}`, `<(x)`. */
const COMPUTED = /\$\{[#!]?\w+(?!:?[-=]|\})[^\w]|\$\{[#!]|[<>]\(/;

function readWord(word: ShellWord, { root, before }: ReadingScene): ScriptWord {
  const { start, source } = word;
  if (word.value !== null) return { ...known(word.value), texts: withHome(word.value, source) };
  if (COMPUTED.test(source)) return { texts: [], open: 'unknown', start };
  const found = expandWord(word, {
    // Each name is looked for in every directory that the script may be in, so it is known from there.
    ...{
      variables: before.variables,
      directories: ['.'],
      root,
      temporary: '/tmp',
      gitDirectories: () => null,
    },
  });
  const exact = found.filter((one) => one.exact).map(({ text }) => text);
  // Outside quotes a text is cut at blanks.
  const splits = word.splits === true;
  const cut = splits ? exact.flatMap((text) => text.split(/\s+/)) : [];
  const texts = [...new Set([...exact, ...cut])].filter((text) => text !== '');
  if (exact.length < found.length || (splits && before.has('IFS'))) return { texts, open: 'unknown', start };
  return { texts, open: texts.some((text) => PATTERN.test(text)) ? 'pattern' : null, start };
}

/** Each part of a list of folders by itself: in `bin:$PATH` the first is known. */
function readAssigned(
  { name, value, source }: ShellAssignment,
  read: (word: ShellWord) => ScriptWord,
): ScriptWord & { name: string } {
  if (value !== null) return { name, ...known(value), texts: withHome(value, source ?? value) };
  const parts = (source ?? '').replaceAll('"', '').split(':');
  const words = parts
    .filter((part) => part !== `$${name}` && part !== `\${${name}}`)
    .map((part) => read({ source: part, value: null, start: '' }));
  const isOpen = source === undefined || words.some(({ open }) => open !== null);
  return { name, texts: words.flatMap(({ texts }) => texts), open: isOpen ? 'unknown' : null, start: '' };
}

/** What `bash -c`, `npx -c`, `eval` or `trap` runs; null for a command without a script in it. */
export function carriedScript({ words }: ScriptCommand): ScriptWord | null {
  const names = words.map(({ texts: [text = ''], open }) => (open === null ? basename(text) : ''));
  const trapped = /^(?:(?:builtin|command) )?trap /.exec(`${names.slice(0, 2).join(' ')} `)?.[0];
  if (trapped !== undefined)
    return words.slice(trapped.includes(' trap') ? 2 : 1).find((word) => !isOption(word)) ?? null;
  const called = names.findIndex((name, index) => isCall(name) && isCaller(names.slice(0, index)));
  if (called !== -1) return words[called + 1] ?? null;
  const at = names.findIndex((name) => SHELL.test(name) || name === 'eval');
  if (at === -1) return null;
  const rest = words.slice(at + 1);
  if (names[at] === 'eval') return joined(rest);
  const flag = rest.findIndex(({ texts: [text = ''] }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text));
  return flag === -1 ? null : (rest.slice(flag + 1).find((word) => !isOption(word)) ?? null);
}

function isCall(name: string): boolean {
  return /^(?:-c|--call|--command|-S|--split-string)$/.test(name);
}

const CALLS = /^(?:su|runuser|script|flock|env)$/;

function isCaller(before: readonly string[]): boolean {
  return before.some((name) => CALLS.test(name)) || isOfPackager(before);
}

/** Options of `npx` and `npm exec` stand before the program that they start. */
function isOfPackager(before: readonly string[]): boolean {
  const at = before.findIndex((name) => /^(?:npx|pnpx|npm|pnpm)$/.test(name));
  const between = before.slice(at + 1);
  return (
    at !== -1 &&
    between.every(
      (name, index) => /^(?:-.*|exec|x)$/.test(name) || /^(?:-p|--package)$/.test(between[index - 1] ?? ''),
    )
  );
}

function isOption({ texts: [text = ''], open }: ScriptWord): boolean {
  return open === null && /^(?:[-+]\w|--$)/.test(text);
}

function joined(words: readonly ScriptWord[]): ScriptWord | null {
  if (words.length === 0) return null;
  const open = words.find((word) => word.open !== null || word.texts.length !== 1);
  const text = words.map(({ texts: [one = ''] }) => one).join(' ');
  return { texts: [text], open: open === undefined ? null : 'unknown', start: text };
}
