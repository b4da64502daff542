/**
 * The configuration that a folder's git directory brings. Nearly always it holds what `git clone` wrote, and that is
 * seen by reading the file: about 50 µs. Anything else is left to git's own parser, includes and all: one process,
 * about 4 ms, and again only when a file has changed.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ConfigEntry } from './config-overrides.ts';
import { readOrNull } from './repository.ts';

export interface ConfigPlace {
  /** Where git is to be asked. */
  cwd: string;
  /** The working tree's own git directory, and the one that worktrees share. */
  gitDirectory: string;
  commonDirectory: string;
  env: Readonly<Record<string, string>>;
}

const execute = promisify(execFile);
const LARGEST_LIST = 16 << 20;

/** Sections of which no key names a program, and keys of others that name none. */
const PLAIN_SECTIONS =
  /^(?:branch|extensions|user|author|committer|push|pull|fetch|color|advice|init|rerere|index|feature)$/;
const PLAIN_KEYS: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|longpaths|quotepath|sparsecheckout|sparsecheckoutcone|untrackedcache|sharedrepository|worktree)$/,
  remote: /^(?:url|pushurl|fetch|push|tagopt|prune|mirror|promisor|partialclonefilter|gh-resolved)$/,
  submodule: /^(?:url|active)$/,
  commit: /^gpgsign$/,
  lfs: /^(?:repositoryformatversion|access|locksverify|url)$/,
};
const HEADER = /^\[([a-z0-9-]+)(?: "(?:[^"\\]|\\["\\])*")?\]$/i;
const ENTRY = /^([a-z][a-z0-9-]*)(?:\s*=.*[^\\]|\s*=|)$/i;

/** Whether every line is of a kind that is known to name no program. What is unusual is not plain. */
function isPlainConfig(text: string): boolean {
  let section = '';
  return text.split('\n').every((raw) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) return true;
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) {
      section = header.toLowerCase();
      return true;
    }
    const key = ENTRY.exec(line)?.[1]?.toLowerCase();
    return key !== undefined && (PLAIN_SECTIONS.test(section) || PLAIN_KEYS[section]?.test(key) === true);
  });
}

const known = new Map<string, { signature: string; entries: readonly ConfigEntry[] }>();

/** Every entry in force when the folder's are not plain; none when they are. */
export async function folderConfig(place: ConfigPlace): Promise<readonly ConfigEntry[]> {
  const { gitDirectory, commonDirectory } = place;
  const files = [join(commonDirectory, 'config'), ...worktreeFiles(gitDirectory, commonDirectory)];
  // A git directory that says it is part of another has that one's configuration.
  const leadsElsewhere = gitDirectory === commonDirectory && existsSync(join(gitDirectory, 'commondir'));
  const texts = files.map((file) => readOrNull(file) ?? '');
  if (!leadsElsewhere && texts.every(isPlainConfig)) return [];
  const hasIncludes = leadsElsewhere || texts.some((text) => /\[\s*include/i.test(text));
  const signature = files.map(signatureOf).join('|');
  const found = known.get(gitDirectory);
  if (found?.signature === signature && !hasIncludes) return found.entries;
  const entries = await askGit(place);
  known.set(gitDirectory, { signature, entries });
  return entries;
}

function worktreeFiles(gitDirectory: string, commonDirectory: string): string[] {
  return [...new Set([gitDirectory, commonDirectory])].map((directory) => join(directory, 'config.worktree'));
}

function signatureOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? '-' : `${stats.ino}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}`;
}

/** None where git cannot say or is not there: then it does not work there at all. */
async function askGit({ cwd, env }: ConfigPlace): Promise<ConfigEntry[]> {
  const list = await execute('git', ['config', '--list', '--show-scope', '-z'], {
    cwd,
    env,
    maxBuffer: LARGEST_LIST,
  }).catch((error: unknown) => {
    const { code } = error as { code?: unknown }; // Node's error: the exit code, or the system's
    if (typeof code === 'number' || code === 'ENOENT') return { stdout: '' };
    throw error;
  });
  const fields = list.stdout.split('\0');
  const entries: ConfigEntry[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [scope = '', text = ''] = [fields[index], fields[index + 1]];
    const end = text.indexOf('\n');
    const key = end === -1 ? text : text.slice(0, end);
    // A key without a value is true.
    entries.push({ scope, key, value: end === -1 ? 'true' : text.slice(end + 1) });
  }
  return entries;
}
