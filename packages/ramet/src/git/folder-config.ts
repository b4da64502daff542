/**
 * The configuration that a folder's git directory brings. Nearly always it holds what `git clone` wrote, and that is
 * seen by reading the file: about 50 µs. Anything else is left to git's own parser, includes and all: one process,
 * about 4 ms, and again only when a file has changed.
 */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readOrNull } from './repository.ts';

const NEUTRAL: readonly (readonly [RegExp, string])[] = [
  [/^core\.pager$/, 'cat'],
  [/^core\.askpass$/, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^core\.alternaterefscommand$/, 'true'],
  [/^(?:core|sequence)\.editor$/, 'true'],
  [/^pager\./, 'false'],
  [/^interactive\.difffilter$/, 'cat'],
  [/^diff\.external$/, 'false'],
  [/^diff\.submodule$/, 'short'],
  [/^diff\..+\.textconv$/s, 'cat'],
  // A conflict, for a person to resolve: an empty driver would take one side silently.
  [/^merge\..+\.driver$/s, 'false'],
  [/^gpg\.(?:.+\.)?(?:program|defaultkeycommand)$/s, 'false'],
  [/^log\.showsignature$/, 'false'],
  [/^remote\..+\.vcs$/s, 'none'],
  [/^protocol\.allow$/, 'user'],
  [/^protocol\.ext\.allow$/, 'never'],
  [/^submodule\.recurse$/, 'false'],
  [/^submodule\..+\.update$/s, 'checkout'],
  [/^submodule\..+\.ignore$/s, 'dirty'],
  [/^status\.submodulesummary$/, 'false'],
  [/^trailer\..+\.(?:command|cmd)$/s, 'true'],
  [/^gc\.recentobjectshook$/, 'true'],
  [/^lfs\.standalonetransferagent$/, ''],
  [/^lfs\.extension\..+\.(?:clean|smudge)$/s, 'false'],
  [/^sendemail\..*(?:cmd|smtpserver)$/s, 'false'],
  [/^imap\.tunnel$/, 'false'],
  // Tools, formats and viewers: `difftool.x.cmd`, `tar.x.command`, `man.x.path`, `lfs.customtransfer.x.path`.
  [/^(?!include)[^.]+\..+\.(?:cmd|command|path|program)$/s, 'false'],
];

/** Of these git takes the first value and not the last: nothing can be set in their place. */
const TRANSPORT = /^remote\..+\.(?:uploadpack|receivepack)$/s;

const FILTER = /^filter\.(.+)\.[^.]+$/s;

const HELPER = /^credential\.(?:.+\.)?helper$/s;

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

interface KnownConfig {
  signature: string;
  /** What it includes; null where that depends on more than files. */
  included: readonly string[] | null;
  entries: readonly ConfigEntry[];
}

const known = new Map<string, KnownConfig>();

/** Every entry in force when the folder's are not plain; none when they are. */
export async function folderConfig(place: ConfigPlace): Promise<readonly ConfigEntry[]> {
  const { gitDirectory, commonDirectory } = place;
  const files = [join(commonDirectory, 'config'), ...worktreeFiles(gitDirectory, commonDirectory)];
  // A git directory that says it is part of another has that one's configuration.
  const leadsElsewhere = gitDirectory === commonDirectory && existsSync(join(gitDirectory, 'commondir'));
  const texts = files.map((file) => readOrNull(file) ?? '');
  if (!leadsElsewhere && texts.every(isPlainConfig)) return [];
  const found = known.get(gitDirectory);
  if (found?.included != null && found.signature === signaturesOf([...files, ...found.included]))
    return found.entries;
  const first = signaturesOf(files);
  const entries = await askGit(place);
  const included = leadsElsewhere ? null : includedBy(entries, place);
  // Not of files that were written while git read them.
  const isSame = first === signaturesOf(files);
  known.set(gitDirectory, {
    signature: isSame ? signaturesOf([...files, ...(included ?? [])]) : '',
    ...{ included, entries },
  });
  return entries;
}

function signaturesOf(files: readonly string[]): string {
  return files.map(signatureOf).join('|');
}

/** Also those that are not there yet. A condition can be the branch or an address: then git is asked each time. */
function includedBy(entries: readonly ConfigEntry[], { env }: ConfigPlace): string[] | null {
  const own = entries.filter(isOwn);
  if (own.some(({ key }) => key.startsWith('includeif.'))) return null;
  return own
    .filter(({ key }) => key === 'include.path')
    .map(({ value, origin }) => resolve(dirname(origin), value.replace(/^~(?=\/)/, env.HOME ?? '~')));
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
  const list = await execute('git', ['config', '--list', '--show-scope', '--show-origin', '-z'], {
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
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [scope = '', from = '', text = ''] = fields.slice(index, index + 3);
    const origin = resolve(cwd, from.replace(/^file:/, ''));
    const end = text.indexOf('\n');
    const key = end === -1 ? text : text.slice(0, end);
    // A key without a value is true.
    entries.push({ scope, origin, key, value: end === -1 ? 'true' : text.slice(end + 1) });
  }
  return entries;
}

/**
 * What of git's configuration names a program, and what to set in its place so that the program does not run. A value
 * cannot be taken back in git, only set again: so each key gets one that runs nothing of the folder's. Where there is
 * no such value git fails, and nothing runs.
 */
export interface ConfigEntry {
  /** `local` and `worktree` are the folder's; `system` and `global` the user's. */
  scope: string;
  /** The file that it is in. */
  origin: string;
  /** Section and name in small letters, the part between as written. */
  key: string;
  value: string;
}

export interface ConfigOverrides {
  settings: readonly (readonly [key: string, value: string])[];
  environment: Readonly<Record<string, string>>;
  /** Content filters that only the folder defines. */
  filters: readonly string[];
  /** It names a program that serves a remote. */
  namesTransport: boolean;
}

function isOwn({ scope }: ConfigEntry): boolean {
  return scope === 'local' || scope === 'worktree';
}

const SWITCH = /^(?:true|false|yes|no|on|off|\d*)$/i;
/** They are in the list above, and their values are no programs. */
const NO_PROGRAM =
  /^(?:diff\.submodule|log\.showsignature|protocol\.|submodule\.|status\.|remote\..+\.vcs$)/s;
const MORE_PROGRAMS = /^core\.(?:gitproxy|fsmonitor|hookspath)$|^filter\..+\.(?:clean|smudge|process)$/s;

/** Entries of the folder that name a program, or a folder of them. */
export function programEntries(entries: readonly ConfigEntry[]): ConfigEntry[] {
  const patterns = [MORE_PROGRAMS, HELPER, TRANSPORT, ...NEUTRAL.map(([pattern]) => pattern)];
  return entries.filter(
    (entry) =>
      isOwn(entry) &&
      !SWITCH.test(entry.value) &&
      !NO_PROGRAM.test(entry.key) &&
      patterns.some((pattern) => pattern.test(entry.key)),
  );
}

/** What it names of a filter belongs together. */
export function filterOf({ key }: Pick<ConfigEntry, 'key'>): string | null {
  return FILTER.exec(key)?.[1] ?? null;
}

/** `required`: files that need one of the folder's filters make git fail; otherwise they are taken as they are. */
export function overridesFor(entries: readonly ConfigEntry[], required: boolean): ConfigOverrides {
  const own = entries.filter(isOwn);
  const users = entries.filter(({ scope }) => scope === 'system' || scope === 'global');
  const usersValue = (key: string): string | undefined => users.findLast((entry) => entry.key === key)?.value;
  const settings = new Map<string, string>();
  const filters = new Set<string>();
  for (const { key } of own) {
    const filter = FILTER.exec(key)?.[1];
    const [, neutral] =
      filter === undefined ? (NEUTRAL.find(([pattern]) => pattern.test(key)) ?? []) : [key, ''];
    if (neutral !== undefined) settings.set(key, usersValue(key) ?? neutral);
    if (filter !== undefined && !users.some((entry) => FILTER.exec(entry.key)?.[1] === filter))
      filters.add(filter);
  }
  for (const filter of filters) {
    // An empty `process` also keeps the other two from running.
    settings.set(`filter.${filter}.process`, '');
    settings.set(`filter.${filter}.required`, String(required));
  }
  const gitProxy = own.some(({ key }) => key === 'core.gitproxy');
  return {
    settings: [...settings, ...credentialHelpers(own, users)],
    environment: gitProxy ? { GIT_PROXY_COMMAND: '' } : {},
    filters: [...filters],
    namesTransport: own.some(({ key }) => TRANSPORT.test(key)),
  };
}

/** Helpers are a list: an empty one clears what came before, and the user's own follow again. */
function credentialHelpers(
  own: readonly ConfigEntry[],
  users: readonly ConfigEntry[],
): (readonly [string, string])[] {
  const folders = own.filter(({ key }) => HELPER.test(key));
  if (folders.length === 0) return [];
  const kept = users.filter(({ key }) => HELPER.test(key));
  return [
    ...folders.map(({ key }) => [key, ''] as const),
    ...kept.map(({ key, value }) => [key, value] as const),
  ];
}
