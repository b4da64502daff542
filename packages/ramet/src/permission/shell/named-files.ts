/**
 * Files that a command names, held against rules that take rights away. Read rules hold for every command that names a
 * file; Edit and Write rules for commands that may write. A pattern, or a variable that the script does not set, may
 * still hide one.
 */
import { basename } from 'node:path';
import { openedPath } from '../landing-path.ts';
import { takingRule } from '../match-rules.ts';
import { aliasesOf, type PermissionPolicy } from '../policy.ts';
import type { PermissionRule } from '../rule.ts';
import type { ShellCommand } from './shell-reading.ts';
import type { ShellWord } from './shell-word.ts';

export interface NamingScene {
  cwd: string;
  /** It is known to only read, so rules about writing have nothing to say. */
  readsOnly: boolean;
}

/** The first rule that takes the right away to do this to a file the command names. */
export function namingRule(
  rules: readonly PermissionRule[],
  command: ShellCommand,
  policy: Pick<PermissionPolicy, 'counterpart'>,
  { cwd, readsOnly }: NamingScene,
): PermissionRule | null {
  for (const access of readsOnly ? (['read'] as const) : (['read', 'write'] as const)) {
    const about = rules.filter(({ scope }) => scope.kind === 'paths' && scope.access === access);
    if (about.length === 0) continue;
    const paths = pathsOf(command, cwd, about[0]?.home ?? null, access);
    const found = takingRule(about, {
      ...{ tool: access === 'read' ? 'Read' : 'Edit', access, paths, aliases: aliasesOf(policy, paths) },
      ...{ cwd, host: null, name: null },
    });
    if (found !== null) return found;
  }
  return null;
}

function pathsOf(
  { words, directories }: ShellCommand,
  cwd: string,
  home: string | null,
  access: 'read' | 'write',
): string[] {
  const [program, ...rest] = words;
  const operands = access === 'write' && program?.value === 'git' ? withoutMessages(rest) : rest;
  const known = operands.flatMap((word) => knownValue(word, home) ?? []);
  const names = known.flatMap(namesIn);
  const placed = access === 'write' ? placedBy(program?.value ?? '', known) : [];
  const opened = (directories ?? [cwd]).flatMap((place) =>
    [...names, ...placed].map((name) => openedPath(place, name)),
  );
  return opened.filter((path) => path !== null);
}

/** What the shell makes of a `~` at the beginning is known too. */
function knownValue({ value, source }: ShellWord, home: string | null): string | null {
  if (value !== null || home === null) return value;
  return /^~(?:\/[\w@%+=:,./-]*)?$/.test(source) ? `${home}${source.slice(1)}` : null;
}

/** `git commit -m "Change README.md"` says a name and touches no such file. */
function withoutMessages(words: readonly ShellWord[]): ShellWord[] {
  return words.filter((_, index) => !/^(?:-[a-z]*m|--message)$/.test(words[index - 1]?.value ?? ''));
}

const PLACES_FILES = /^(?:cp|mv|ln|install|rsync|scp)$/;
const MOST_PLACED = 100;

/** `cp elsewhere/README.md .` writes a file that it does not name whole. */
function placedBy(program: string, operands: readonly string[]): string[] {
  if (!PLACES_FILES.test(program.split('/').at(-1) ?? '')) return [];
  const named = operands.flatMap((word, index) => {
    const [, attached] = /^(?:-t|--target-directory=)(.+)$/.exec(word) ?? [];
    return attached ?? (/^-[a-zA-Z]*t$|^--target-directory$/.test(operands[index - 1] ?? '') ? word : []);
  });
  const targets = [...named, ...operands.slice(-1)];
  const sources = operands.filter((word) => !word.startsWith('-')).slice(0, MOST_PLACED);
  return targets.flatMap((target) => sources.map((source) => `${target}/${basename(source)}`));
}

const MOST_LETTERS = 6;

/** What a word may name: itself, what stands behind a `=` or `@`, or behind letters of options: `-rf.env`. */
function namesIn(word: string): string[] {
  const assigned = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [];
  const letters = /^-[A-Za-z]/.test(word) ? Math.min(MOST_LETTERS, word.length - 2) : 0;
  const attached = Array.from({ length: letters }, (_, index) => word.slice(index + 2));
  const own = word.startsWith('-') ? [] : [word];
  return [...own, ...assigned, ...attached].flatMap((name) =>
    name.startsWith('@') ? [name, name.slice(1)] : [name],
  );
}
