/**
 * What a command runs besides itself, for rules that take rights away and for hooks: the words behind a launcher, and the
 * scripts that traps, shells and options carry. What is found may be more than runs, and nothing is left out where it is
 * spelled out.
 */
import { basename } from 'node:path';
import { actingCommand } from './acting-command.ts';
import { fedScripts, readsFedScript } from './fed-scripts.ts';
import { gitCall } from './fence/fence-git.ts';
import { gitOptions } from './fence/git-options.ts';
import { lateScripts, quoted, withParameters } from './late-scripts.ts';
import { launchedWords, optionValues, startsOf } from './launcher-words.ts';
import { type Launcher, launcherNamed } from './programs/launchers.ts';
import {
  GIT_SETTING,
  gitScriptOptions,
  isScriptVariable,
  scriptOfVariable,
  scriptOptionsOf,
} from './programs/script-carriers.ts';
import type { ShellAssignment, ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import {
  type CommandLayers,
  layersOf,
  type UnderstoodScript,
  understandScript,
} from './reading/understand-script.ts';
import { innerScript } from './reading/unwrap-command.ts';

interface Launched {
  readonly commands: readonly ShellCommand[];
  /** Null for one that is known only when it runs. */
  readonly scripts: readonly (string | null)[];
}

/** Everything that commands launch, and what that launches, read like a script. */
export interface LaunchedScript
  extends Pick<UnderstoodScript, 'commands' | 'files' | 'variables' | 'unread' | 'unseen'> {
  /** A script in it is known only when it runs. */
  isOpen: boolean;
  /** There is more than is read. */
  isTooMuch: boolean;
}

const MOST = 300;
/** A loop over files makes a script of each, and this many commands of that. */
const MOST_OF_ONE = 8;

/** `text` is the script that was understood. */
export async function launchedScript(
  text: string,
  outer: Pick<UnderstoodScript, 'commands' | 'variables'>,
): Promise<LaunchedScript> {
  const all: LaunchedScript = {
    ...{ commands: [], files: [], variables: [], unread: [], unseen: [], isOpen: false, isTooMuch: false },
  };
  const seen = new Set<string>();
  const waiting: ShellCommand[] = [];
  const scripts: { text: string; directories: ShellCommand['directories'] }[] = [];
  const isNew = (key: string): boolean => !seen.has(key) && seen.add(key).size > 0;
  const take = async (
    script: string,
    { commands: found, variables }: Pick<UnderstoodScript, 'commands' | 'variables'>,
  ): Promise<void> => {
    const own = found.filter(({ transparent }) => !transparent);
    waiting.push(...own.flatMap(launching));
    const directories = found[0]?.layers[0].directories ?? null;
    const carriers = found.filter(({ transparent }) => transparent).map(innermost);
    const carried = [
      ...scriptsOfVariables([...variables, ...found.flatMap(assignedTo)], script),
      ...carriers.flatMap(({ words }) => ofShell(words.slice(1)).slice(1)),
      ...lateScripts(script, found),
    ];
    all.isOpen ||= carried.includes(null);
    for (const one of carried) if (one !== null) scripts.push({ text: one, directories });
    const shell = own.map(({ layers: [outer] }) => actingCommand(outer)).find(readsFedScript);
    if (shell === undefined) return;
    for (const fed of await spelledOut([script, ...carriedIn(found)]))
      scripts.push({ text: fed, directories: shell.directories });
  };
  await take(text, outer);
  const most = MOST + MOST_OF_ONE * scripts.length;
  for (;;) {
    all.isTooMuch ||= seen.size > most;
    const command = all.isTooMuch ? undefined : waiting.pop();
    const script = all.isTooMuch || command !== undefined ? undefined : scripts.pop();
    if (command !== undefined) {
      const { directories } = command;
      const launched = launchedBy(command);
      all.isTooMuch ||= launched.commands.length > MOST;
      if (all.isTooMuch) continue;
      const fresh = launched.commands.filter((one) => isNew(keyOf(one.source, one.directories)));
      const layered = fresh.map((one): CommandLayers => ({ layers: layersOf(one), transparent: false }));
      all.commands.push(...layered);
      waiting.push(...layered.flatMap(launching));
      all.isOpen ||= launched.scripts.includes(null);
      for (const one of launched.scripts) if (one !== null) scripts.push({ text: one, directories });
    } else if (script === undefined) return all;
    else if (isNew(keyOf(`\n${script.text}`, script.directories))) {
      const inner = await understandScript(script.text, { directories: script.directories });
      all.commands.push(...inner.commands);
      all.files.push(...inner.files);
      all.variables.push(...inner.variables);
      all.unread.push(...inner.unread);
      all.unseen.push(...inner.unseen);
      await take(script.text, inner);
    }
  }
}

function keyOf(text: string, directories: ShellCommand['directories']): string {
  return [text, ...(directories ?? [])].join('\0');
}

/** What xargs puts into a script is known to it alone: it has the text before that. */
function launching({ layers }: CommandLayers): ShellCommand[] {
  const inner = innermost({ layers });
  return layers.filter((one) => one === inner || launcherNamed(nameOf(one))?.adds === true);
}

function nameOf({ words }: ShellCommand): string {
  return basename(words[0]?.value ?? '');
}

/** Of all its layers; `env` may have more among its words. */
function assignedTo({ layers }: CommandLayers): ShellAssignment[] {
  return layers.flatMap(({ assignments }) => [...assignments]);
}

const DECLARES = /^(?:export|declare|typeset|local|readonly)$/;

function assignedIn(words: readonly ShellWord[]): ShellAssignment[] {
  return words.flatMap(({ value, start, source }) => {
    const [, name] = /^([A-Za-z_]\w*)=/.exec(value ?? start) ?? [];
    if (name === undefined) return [];
    const behind = name.length + 1;
    return [{ name, value: value?.slice(behind) ?? null, source: source.slice(behind) }];
  });
}

/** Of variables that programs run, and those that `script` lets git take for a setting. */
function scriptsOfVariables(assignments: readonly ShellAssignment[], script: string): (string | null)[] {
  const settings = new Set(Array.from(script.matchAll(/--config-env[= ]\S*?=(\w+)/g), ([, name]) => name));
  return assignments
    .filter(({ name }) => isScriptVariable(name) || settings.has(name))
    .map(({ name, value, source = '' }) => scriptOfVariable(name, value, source));
}

/** Scripts that shells are given to read, as far as a command has their text. */
async function spelledOut(scripts: readonly string[]): Promise<string[]> {
  const fed = (await Promise.all(scripts.map(fedScripts))).flat();
  return fed.flatMap(({ parts }) => {
    const text = (parts ?? []).map((part) => ('text' in part ? part.text : '')).join('');
    return text === '' ? [] : [text];
  });
}

/** Scripts that were read with the one around them. */
export function carriedIn(commands: readonly CommandLayers[]): string[] {
  return commands.flatMap(({ layers, transparent }) =>
    transparent ? (innerScript(innermost({ layers }), 'bash')?.script ?? []) : [],
  );
}

function innermost({ layers }: Pick<CommandLayers, 'layers'>): ShellCommand {
  return layers.at(-1) ?? layers[0];
}

/** `capsh` gives what is behind `--` to one. */
const SHELL = /^(?:(?:r?ba|da|z|k|mk|lk|pdk|a|ya|fi|c|tc|cap|)sh)$/;
/** They take the text of a subscript for arithmetic, and run what is in it. */
const SUBSCRIPTS = /^(?:let|unset|test|\[|read|printf|declare|typeset|local|export|readonly|wait)$/;
const IN_SUBSCRIPT = /^[A-Za-z_]\w*\[.*(?:\$\(|`)/s;

function launchedBy(command: ShellCommand): Launched {
  const words = command.words.slice(1);
  const name = nameOf(command);
  if (name === 'git') return { commands: [], scripts: runByGit(words) };
  const launcher = launcherNamed(name);
  const given = launcher === null && !DECLARES.test(name) ? [] : scriptsOfVariables(assignedIn(words), '');
  const scripts = [...scriptsIn(name, words), ...given];
  if (launcher === null) return { commands: [], scripts };
  if (name === 'command' && /^-p?[vV]/.test(words[0]?.value ?? '')) return { commands: [], scripts };
  return {
    commands: launchedWords(command, launcher),
    scripts: [...scripts, ...scriptsOf(launcher, words)],
  };
}

/** Of a launcher: what its options carry, and its words where it gives them to a shell. */
function scriptsOf(launcher: Launcher, words: readonly ShellWord[]): (string | null)[] {
  const carried = optionValues(words, launcher.scripts ?? '').map(
    ({ value }) => value?.replace(/^exec=/, '') ?? null,
  );
  const { runs, until } = launcher;
  if (runs === 'each')
    return [...carried, ...words.filter(({ start }) => !start.startsWith('-')).map(({ value }) => value)];
  if (runs !== 'script' && runs !== 'both') return carried;
  const end = words.findIndex(({ value }) => until?.test(value ?? ''));
  const own = end === -1 ? words : words.slice(0, end);
  return [...carried, ...startsOf(launcher, own).map((start) => joined(own.slice(start)))];
}

function joined(words: readonly ShellWord[]): string | null {
  const values = words.map(({ value }) => value);
  return values.includes(null) ? null : values.join(' ');
}

/** Of shells and builtins. */
function scriptsIn(name: string, words: readonly ShellWord[]): (string | null)[] {
  if (SHELL.test(name)) return ofShell(words);
  const options = scriptOptionsOf(name);
  if (options !== null) return inOptions(words, options.names, options.within);
  if (name === 'eval') return [joined(words)];
  if (name === 'trap')
    return words
      .filter(({ start }) => !/^-./.test(start))
      .slice(0, 1)
      .map(({ value }) => value);
  if (name === 'alias')
    return words.flatMap(({ value }) => (value?.includes('=') ? [value.slice(value.indexOf('=') + 1)] : []));
  if (name === 'hash') return optionValues(words, 'p').map(({ value }) => value);
  // They expand a list of words.
  if (name === 'compgen' || name === 'complete')
    return optionValues(words, 'W').map(({ value }) => (value === null ? null : `: ${value}`));
  if (!SUBSCRIPTS.test(name)) return [];
  return words.flatMap(({ value }) => (value !== null && IN_SUBSCRIPT.test(value) ? [`: ${value}`] : []));
}

/** `bash -lc SCRIPT`, `bash -c -e SCRIPT`, `bash -o pipefail -c SCRIPT`. */
function ofShell(words: readonly ShellWord[]): (string | null)[] {
  const flag = words.findIndex(({ value }) =>
    /^-[a-zA-Z]*c[a-zA-Z]*$|^--(?:init-)?command$/.test(value ?? ''),
  );
  const attached = words.flatMap(({ value }) => /^--(?:init-)?command=(.*)$/s.exec(value ?? '')?.[1] ?? []);
  if (flag === -1) return attached;
  const at = words.findIndex((word, index) => index > flag && !/^[-+]./.test(word.value ?? word.start));
  const script = words[at];
  if (script === undefined) return attached;
  const given = withParameters(script.value ?? '', words.slice(at + 1));
  return [script.value, ...attached, ...given];
}

function inOptions(words: readonly ShellWord[], names: string, within?: RegExp): (string | null)[] {
  return optionValues(words, names).flatMap(({ value }) => {
    if (value === null || within === undefined) return [value];
    return within.exec(value)?.[1] ?? [];
  });
}

/** `rebase --exec`, `bisect run`, `submodule foreach`, and settings such as `-c alias.x=!sh`. */
function runByGit(words: readonly ShellWord[]): (string | null)[] {
  const { command, rest, settings } = gitCall({ program: 'git', words, fed: false, place: null });
  const operands = rest.filter(({ start }) => !start.startsWith('-'));
  const runs = settings.flatMap(({ value }) =>
    value?.includes('=') ? [value.replace(/^[^=]*=!?/, '')] : [],
  );
  runs.push(...words.flatMap(({ value }) => /^ext::(.*)$/s.exec(value ?? '')?.[1] ?? []));
  runs.push(...inOptions(rest, gitScriptOptions(command)).flatMap((script) => script ?? []));
  if (command === 'config')
    runs.push(
      ...operands.flatMap(({ value }, at) =>
        GIT_SETTING.test(value ?? '') ? (operands[at + 1]?.value?.replace(/^!/, '') ?? []) : [],
      ),
    );
  if (command === 'bisect' && operands[0]?.value === 'run') runs.push(quoted(rest.slice(1)));
  if (command === 'submodule' && operands[0]?.value === 'foreach')
    runs.push(operands.length > 2 ? quoted(operands.slice(1)) : (operands[1]?.value ?? ''));
  if (command === 'rebase')
    runs.push(
      ...gitOptions(
        command,
        rest.map(({ value, source }) => value ?? source),
      ).programs,
    );
  return runs;
}
