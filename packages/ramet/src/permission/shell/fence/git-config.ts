/** Git commands that write configuration. That of a worktree's repository is shared with the user's checkout. */
import { join } from 'node:path';
import { findRepository, readOrNull } from '../../../git/repository.ts';
import type { ShellWord } from '../reading/shell-word.ts';
import { tailOf } from './command-views.ts';
import type { FencedGitCall } from './fence-git.ts';
import { valuesOf } from './written-names.ts';

const VALUED = /^(?:-f|--(?:file|blob|type|default|value|url|comment))$/;
const READS = /^(?:-[lz]*l[lz]*|--list|--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?)$/;
const CHOOSES =
  /^(?:-z|-f.+|--(?:(?:file|blob|type|default|value|url)=.*|global|local|system|worktree|show-origin|show-scope|show-names|name-only|null|bool|int|bool-or-int|bool-or-str|path|expiry-date|(?:no-)?includes|all|regexp|fixed-value))$/s;
const ASKS = /^(?:get|list)$/;

/** What is not known to read counts as writing. */
function writesSettings(rest: readonly ShellWord[]): boolean {
  if (ASKS.test(rest[0]?.value ?? '')) return false;
  const names: ShellWord[] = [];
  let reads = false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at];
    const text = word?.value ?? word?.start ?? '';
    if (word === undefined || text === '--') return true;
    if (VALUED.test(text)) at++;
    else if (READS.test(text)) reads = true;
    else if (!text.startsWith('-')) names.push(word);
    else if (!CHOOSES.test(text)) return true;
  }
  if (reads || ASKS.test(names[0]?.value ?? '')) return false;
  return names.length > 1 || names.some(({ value, splits }) => value === 'edit' || splits === true);
}

/** Which configuration the call writes, and how to do without; null when it writes none. */
export interface ConfigWrite {
  /** `global` is the user's; a file is judged by its name. */
  of: 'repository' | 'worktree' | 'global' | readonly ShellWord[];
  advice: string;
}

const ONE_COMMAND = 'To set something for one command, write git -c name=value before the subcommand.';
const BY_ADDRESS = 'Give git fetch, pull or push the address itself.';
const NO_UPSTREAM =
  'Name the remote and the branch in the command: git push origin HEAD, git rebase origin/main.';

export function configWrite({ command, rest }: FencedGitCall): ConfigWrite | null {
  const has = (pattern: RegExp): boolean => rest.some(({ value, start }) => pattern.test(value ?? start));
  if (command === 'config') return writesSettings(rest) ? ofConfig(rest) : null;
  if (command === 'remote') {
    const verb = rest.find(({ value, start }) => !(value ?? start).startsWith('-'))?.value ?? '';
    const changes = /^(?:add|remove|rm|rename|set-url|set-branches)$/.test(verb);
    return changes ? { of: 'repository', advice: BY_ADDRESS } : null;
  }
  const tracks = command === 'branch' && has(/^(?:-[a-z]*u|--(?:set-up|unset-up|edit-desc))/);
  return tracks ? { of: 'repository', advice: NO_UPSTREAM } : null;
}

function ofConfig(rest: readonly ShellWord[]): ConfigWrite {
  const files = [
    ...valuesOf(rest, /^(?:-f|--file)$/),
    ...rest.flatMap((word) => (/^-f./.test(word.start) ? tailOf(word, 2) : [])),
  ];
  const has = (pattern: RegExp): boolean => rest.some(({ value }) => pattern.test(value ?? ''));
  if (files.length > 0) return { of: files, advice: ONE_COMMAND };
  if (has(/^--(?:global|system)$/)) return { of: 'global', advice: ONE_COMMAND };
  // It would send git to other files.
  const isOwn = has(/^--worktree$/) && !has(/^core\.worktree$/i);
  return { of: isOwn ? 'worktree' : 'repository', advice: ONE_COMMAND };
}

/** Without `extensions.worktreeConfig`, `git config --worktree` writes the shared file. */
export function hasOwnConfig(root: string): boolean {
  const common = findRepository(root)?.commonDirectory;
  const text = common === undefined ? null : readOrNull(join(common, 'config'));
  const values = [...(text ?? '').matchAll(/^\s*worktreeConfig\s*(?:=\s*(\S+))?\s*$/gim)];
  const last = values.at(-1);
  return last !== undefined && /^(?:true|yes|on|1)$/i.test(last[1] ?? 'true');
}
