/**
 * Scripts in the text of a command that another program runs: shells behind wrappers and traps, what a shell is given to
 * read, and what git runs for `rebase --exec`, `bisect run` and as an editor. The plain ones are read already.
 */
import { optionValues } from '../launcher-words.ts';
import { launcherNamed } from '../programs/launchers.ts';
import { expandWord } from '../reading/expand-word.ts';
import type { ShellAssignment } from '../reading/shell-reading.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import type { CommandLayers } from '../reading/understand-script.ts';
import { type CommandView, viewsOf } from './command-views.ts';
import { gitCall } from './fence-git.ts';
import { expansionScene, type FenceScene } from './fence-scene.ts';
import { gitOptions } from './git-options.ts';

const SHELL = /^(?:ba|da|z|k)?sh$/;

export function carriedScripts(scene: FenceScene, script: string, command: CommandLayers): string[] {
  const { layers, transparent } = command;
  const assigned = layers.flatMap(({ assignments }) => assignments);
  return viewsOf(layers[0]).flatMap((view, index) => {
    if (transparent && index === 0) return [];
    if (view.program === 'git') return runByGit(scene, view, [...assigned, ...scene.variables]);
    if (SHELL.test(view.program) && view.words.every(({ value }) => /^-(?!\w*c)/.test(value ?? '')))
      return [...bodies(script), ...printed(scene)];
    return given(scene, view);
  });
}

function given(scene: FenceScene, { program, words }: CommandView): string[] {
  return carriersOf(program, words)
    .flatMap((word) => textsOf(scene, word))
    .filter(isScript);
}

function carriersOf(program: string, words: readonly ShellWord[]): readonly ShellWord[] {
  if (program === 'trap') return words.slice(0, 1);
  if (program === 'eval') return words.length === 1 ? words : [];
  if (SHELL.test(program)) {
    const flag = words.findIndex(({ value }) => /^-\w*c$/.test(value ?? ''));
    return flag === -1 ? [] : words.slice(flag + 1, flag + 2);
  }
  const { runs = 'words', scripts = '' } = launcherNamed(program) ?? {};
  const own = runs === 'words' || runs === 'nothing' ? [] : words;
  return [...optionValues(words, scripts), ...own];
}

function isScript(text: string): boolean {
  return /[\s>]/.test(text);
}

/** Where they are known before it runs. */
function textsOf(scene: FenceScene, word: ShellWord): string[] {
  return expandWord(word, expansionScene(scene)).flatMap(({ text, lead }) => (lead === null ? [text] : []));
}

const HEREDOC = /^(.*)<<-?[ \t]*(["'\\]?)(\w[\w.-]*)["']?(.*)\n((?:.*\n)*?)\t*\3[ \t]*$/gm;
const HERE_STRING = /<<<[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")/g;

/** Each marker may be looked for to the end. */
const LONGEST = 20_000;

/** Of here-documents and here-strings on lines that name a shell. */
function bodies(script: string): string[] {
  if (script.length > LONGEST) return [];
  const documents = [...script.matchAll(HEREDOC)].flatMap(([, before, , , after, body = '']) =>
    /\b(?:ba|da|z|k)?sh\b/.test(`${before} ${after}`) ? [body] : [],
  );
  const strings = [...script.matchAll(HERE_STRING)].map(([, raw, text = '']) => raw ?? unescaped(text));
  return [...documents, ...strings];
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\$`])/g, '$1');
}

/** What `echo` and `printf` of the same script may hand to its shell. */
function printed(scene: FenceScene): string[] {
  return scene.understood.commands.flatMap(({ layers }) => {
    const [name, ...words] = (layers.at(-1) ?? layers[0]).words;
    if (!/^(?:echo|printf)$/.test(name?.value ?? '')) return [];
    const texts = words.filter(({ value }) => !/^-[neE]+$/.test(value ?? ''));
    const line = texts.map((word) => textsOf(scene, word)[0] ?? word.source).join(' ');
    return [line.replaceAll('\\n', '\n')];
  });
}

const EDITOR = /^(?:GIT_EDITOR|GIT_SEQUENCE_EDITOR|EDITOR|VISUAL)$/;
const EDITOR_SETTING = /^(?:core|sequence)\.editor=/i;

function runByGit(scene: FenceScene, view: CommandView, assigned: readonly ShellAssignment[]): string[] {
  const { command, rest, settings } = gitCall(view);
  const words = rest.map(({ value, source }) => value ?? source);
  const run = command === 'bisect' && words[0] === 'run' ? [rest.slice(1).map(quoted).join(' ')] : [];
  const editors = [
    ...assigned.flatMap(({ name, value }) => (EDITOR.test(name) && value !== null ? [value] : [])),
    ...settings
      .flatMap((word) => textsOf(scene, word))
      .flatMap((text) => (EDITOR_SETTING.test(text) ? [text.replace(EDITOR_SETTING, '')] : [])),
  ];
  return [
    ...run,
    ...(command === 'rebase' ? gitOptions(command, words).programs : []),
    // Git adds the name of a file of its own.
    ...editors.map((editor) => `${editor} COMMIT_EDITMSG`),
  ].filter(isScript);
}

/** As one word of a script. */
function quoted({ value, source }: ShellWord): string {
  return value === null || /^[\w./=-]+$/.test(value)
    ? (value ?? source)
    : `'${value.replaceAll("'", "'\\''")}'`;
}
