/**
 * Files that a command names, held against rules that take rights away. Read rules hold for every command that names a
 * file; Edit and Write rules for names that a command may write (`written-operands.ts`), and for folders with such files
 * that it changes as a whole. A pattern, or a variable that the script does not set, may still hide one.
 */
import { basename } from 'node:path';
import { openedPath } from '../../system/landing-path.ts';
import { takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import { actingCommand } from './acting-command.ts';
import { bracesExpanded, namesTooMany } from './brace-operands.ts';
import { pathOfSpec } from './git-operands.ts';
import { HERE } from './operand-words.ts';
import type { ShellCommand } from './reading/shell-reading.ts';
import type { ShellWord } from './reading/shell-word.ts';
import { writtenOperands } from './written-operands.ts';

export interface NamingScene {
  cwd: string;
  /** It is known to only read, so rules about writing have nothing to say. */
  readsOnly: boolean;
}

/** The first rule that takes the right away to do this to a file the command names. */
export function namingRule(
  rules: readonly PermissionRule[],
  written: ShellCommand,
  policy: Pick<PermissionPolicy, 'counterpart'>,
  { cwd, readsOnly }: NamingScene,
): PermissionRule | null {
  if (rules.length === 0) return null;
  const command = { ...written, words: bracesExpanded(written.words, cwd) };
  for (const access of readsOnly ? (['read'] as const) : (['read', 'write'] as const)) {
    const about = rules.filter(
      (rule) =>
        (rule.scope.kind === 'paths' && rule.scope.access === access) ||
        (access === 'write' && isAboutAllWrites(rule)),
    );
    if (about.length === 0) continue;
    if (namesTooMany(command.words)) return about[0] ?? null;
    const home = about.find((rule) => rule.home !== null)?.home ?? null;
    const named = access === 'read' ? readBy(command, cwd, home) : writtenBy(command, cwd, home);
    const { paths, folders, any } = named;
    const target = {
      ...{ tool: access === 'read' ? 'Read' : 'Edit', access, paths, aliases: aliasesOf(policy, paths) },
      ...{ folders: [...folders, ...aliasesOf(policy, folders)], cwd, host: null, name: null },
    };
    const found = about.find((rule) => (isAboutAllWrites(rule) ? any : takingRule([rule], target) !== null));
    if (found !== undefined) return found;
  }
  return null;
}

/** `Edit` or `Write` without a pattern: whatever is written, a file that a command names too. */
export function isAboutAllWrites({ tool, scope }: PermissionRule): boolean {
  return scope.kind === 'every call' && ['Edit', 'Write'].some((name) => tool.matches(name));
}

interface NamedPaths {
  paths: string[];
  /** Of these all that they hold counts. */
  folders: string[];
  /** It names a file at all, or a word that may become one. */
  any: boolean;
}

function readBy(command: ShellCommand, cwd: string, home: string | null): NamedPaths {
  const names = knownValues(command.words.slice(1), home).flatMap(namesIn);
  return { paths: openedIn(command, cwd, names), folders: [], any: names.length > 0 };
}

function writtenBy(command: ShellCommand, cwd: string, home: string | null): NamedPaths {
  const acting = actingCommand(command);
  const isCarried = acting.words[0] !== command.words[0];
  const found = [acting, ...(isCarried ? [command] : [])].map((each) =>
    writtenByOne(each, cwd, { home, isCarrier: each !== acting }),
  );
  return {
    paths: found.flatMap(({ paths }) => paths),
    folders: found.flatMap(({ folders }) => folders),
    any: found.some(({ any }) => any),
  };
}

/** What is written there changes no file. Other devices are files, and so is what lies in /dev/shm. */
const SINK = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+|pts\/\d+)$/;

function writtenByOne(
  command: ShellCommand,
  cwd: string,
  { home, isCarrier }: { home: string | null; isCarrier: boolean },
): NamedPaths {
  const [program, ...rest] = command.words;
  const name = program?.value ?? '';
  const { words, whole, inside = [], patterns = false } = writtenOperands(name, rest);
  const isGit = basename(name) === 'git';
  const names = knownValues(words, home).flatMap(namesIn);
  // The directory that a carrier is told is where the acting command runs.
  const within = knownValues(isCarrier ? [] : inside, home).map((folder) => `${folder}/${ANYTHING}`);
  const fromTop = isGit ? within.map((path) => `:/${path}`) : [];
  const placed = [...placedBy(name, knownValues(rest, home)), ...within, ...fromTop];
  const paths = openedIn(command, cwd, [...names, ...placed], isGit);
  const folders = openedIn(command, cwd, knownValues(whole, home), isGit);
  const open = words.some(({ value, start }) => value === null && !start.startsWith('-'));
  return {
    paths,
    folders: patterns ? folders.map(beforePattern) : folders,
    any: open || whole.includes(HERE) || paths.some((path) => !SINK.test(path)),
  };
}

/** The folder that a pattern such as `docs/*.md` or `./docs/...` looks in. */
function beforePattern(path: string): string {
  const at = path.search(/[*?[{]|\/\.\.\.$/);
  return at === -1 ? path : path.slice(0, path.lastIndexOf('/', at)) || '/';
}

function openedIn(
  { directories }: ShellCommand,
  cwd: string,
  names: readonly string[],
  isGit = false,
): string[] {
  const opened = (directories ?? [cwd]).flatMap((place) =>
    names.map((name) => openedPath(place, isGit ? pathOfSpec(name, place) : name)),
  );
  return opened.filter((path) => path !== null);
}

function knownValues(words: readonly ShellWord[], home: string | null): string[] {
  return words.flatMap((word) => knownValue(word, home) ?? []);
}

/** What the shell makes of a `~` at the beginning is known too. */
function knownValue({ value, source }: ShellWord, home: string | null): string | null {
  if (value !== null || home === null) return value;
  return /^~(?:\/[\w@%+=:,./-]*)?$/.test(source) ? `${home}${source.slice(1)}` : null;
}

const PLACES_FILES = /^(?:cp|mv|ln|install|rsync|scp)$/;
const MOST_PLACED = 100;
/** What a folder that is copied or written in holds: a name that only a rule about everything there is about. */
const ANYTHING = '\u0001';

/** `cp elsewhere/README.md .` writes a file that it does not name whole. */
function placedBy(program: string, operands: readonly string[]): string[] {
  if (!PLACES_FILES.test(program.split('/').at(-1) ?? '')) return [];
  const named = operands.flatMap((word, index) => {
    const [, attached] = /^(?:-t|--t(?:a[a-z-]*)?=)(.+)$/.exec(word) ?? [];
    return attached ?? (/^-[a-zA-Z]*t$|^--t(?:a[a-z-]*)?$/.test(operands[index - 1] ?? '') ? word : []);
  });
  const sources = operands.filter((word) => !word.startsWith('-')).slice(-MOST_PLACED);
  const targets = [...named, ...sources.slice(-1)];
  const isWhole = operands.some((word) => /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)$/.test(word));
  const names = [...sources.map((source) => basename(source)), ...(isWhole ? [ANYTHING] : [])];
  return targets.flatMap((target) => names.map((name) => `${target}/${name}`));
}

const MOST_LETTERS = 6;

/** What a word may name: itself, what stands behind a `=` or `@`, or behind letters of options: `-rf.env`. */
export function namesIn(word: string): string[] {
  const assigned = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [];
  const letters = /^-[A-Za-z]/.test(word) ? Math.min(MOST_LETTERS, word.length - 2) : 0;
  const attached = Array.from({ length: letters }, (_, index) => word.slice(index + 2));
  const own = word.startsWith('-') ? [] : [word];
  return [...own, ...assigned, ...attached].flatMap((name) =>
    name.startsWith('@') ? [name, name.slice(1)] : [name],
  );
}
