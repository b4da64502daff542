/**
 * Git in folders that the user has not trusted (SEC-1): the environment in which it runs nothing that the folder's own
 * configuration names: no monitor, hook, pager, external diff, text conversion, signature program, credential helper,
 * merge driver or content filter. What the user has configured for himself keeps working. After `ramet trust` the
 * folder's configuration counts.
 *
 * Invariants
 * 1. Trust is of a working tree, its configuration of the repository: one trusted working tree of it is enough, and
 *    only one that names this repository as its own.
 * 2. A bare repository inside a checkout is not entered: a commit of files can contain one.
 */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { gitSettings, NO_BARE } from '../system/child-environment.ts';
import { rametHome } from '../system/home.ts';
import { isInside } from '../system/landing-path.ts';
import { isTrusted } from '../system/trust.ts';
import { type ConfigOverrides, folderConfig, overridesFor } from './folder-config.ts';
import type { CheckoutDirectories } from './git-environment.ts';
import {
  findRepository,
  isBareDirectory,
  linkedDirectory,
  type Repository,
  readOrNull,
  readPointer,
} from './repository.ts';
import { type RefusedPrograms, refusedPrograms } from './trusted-programs.ts';

export { checkProgramsBy, type ProgramQuestion } from './trusted-programs.ts';

/** Addresses with a name and a password in front of the host: `http://name:password@proxy:8080`. */
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/|)[^/\s]*@/i;

export interface FolderGuard {
  /** To be laid over the environment; empty where the folder is trusted. */
  environment: Readonly<Record<string, string>>;
  /** Filters that files may need and that do not run. */
  filters: readonly string[];
  /** In a trusted folder, why a filter does not run. */
  reasons?: RefusedPrograms['reasons'] | undefined;
  /** Where trust would have to be given. */
  root: string;
}

export interface GuardOptions {
  env: Readonly<Record<string, string>>;
  /** Files that need a filter of the folder are taken as they are; otherwise git fails for them. */
  lenient?: boolean | undefined;
  /** The user asked for something from a remote; otherwise git fetches nothing, not even an object that is missing. */
  reachesRemote?: boolean | undefined;
  /** Its git directories, where the folder itself is not asked. */
  checkout?: CheckoutDirectories | undefined;
  /** What git is about to write into files (`writtenBy`). */
  writes?: readonly string[] | null | undefined;
}

/** No git fetches anything, not even an object that is missing here: a remote can name the program that serves it. */
export const NO_TRANSPORT: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
};

const ALWAYS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  // A submodule has a configuration of its own.
  ['diff.ignoreSubmodules', 'dirty'],
];
const LINES = /^\s*worktree\s*=\s*"?(.*?)"?\s*$/m;

export async function folderGuard(directory: string, options: GuardOptions): Promise<FolderGuard> {
  const { env, lenient = false, reachesRemote = false, checkout } = options;
  const repository =
    checkout === undefined
      ? (findRepository(directory) ?? bareAround(directory))
      : { root: directory, commonDirectory: checkout.commonDirectory };
  const root = repository?.root ?? directory;
  const trusted = repository === null ? null : trustedRoot(repository, env);
  if (repository !== null && trusted !== null)
    return trustedGuard(directory, { ...options, repository, trusted });
  const always = repository !== null && isOwnDirectory(directory, repository) ? ALWAYS : [...ALWAYS, NO_BARE];
  const found =
    repository === null
      ? NOTHING
      : await overrides(directory, repository, always, { env, lenient, checkout });
  const settings = [...always, ...found.settings, ...ignoredSubmodules(root)];
  return {
    environment: {
      ...(reachesRemote && !found.namesTransport ? {} : NO_TRANSPORT),
      ...gitSettings(env, settings),
      ...found.environment,
      ...plainDiff(found),
    },
    filters: found.filters,
    root,
  };
}

/** Set for the shim, which can give `git diff` the option that no setting stands for. */
const PLAIN_DIFF = 'RAMET_GIT_PLAIN_DIFF';

function plainDiff({ settings }: ConfigOverrides): Record<string, string> {
  const isReplaced = settings.some(([key]) => /^diff\.(?:external|.+\.command)$/s.test(key));
  return isReplaced ? { [PLAIN_DIFF]: '1' } : {};
}

const NOTHING: ConfigOverrides = { settings: [], environment: {}, filters: [], namesTransport: false };

async function overrides(
  cwd: string,
  { root, commonDirectory }: Repository,
  always: readonly (readonly [string, string])[],
  { env, lenient, checkout }: GuardOptions,
): Promise<ConfigOverrides> {
  const gitDirectory = checkout?.gitDirectory ?? linkedDirectory(root) ?? commonDirectory;
  const guarded = { ...env, ...gitSettings(env, always) };
  const entries = await folderConfig({ cwd, gitDirectory, commonDirectory, env: guarded });
  return entries.length === 0 ? NOTHING : overridesFor(entries, lenient !== true);
}

/**
 * What the user trusts runs, as far as its files are what was trusted. `config.worktree` of an agent's checkout is the agent's to
 * write: what it names does not run.
 */
async function trustedGuard(
  cwd: string,
  { env, lenient, checkout, writes = null, ...found }: GuardOptions & TrustedGround,
): Promise<FolderGuard> {
  const { root, commonDirectory } = found.repository;
  const gitDirectory = checkout?.gitDirectory ?? linkedDirectory(root) ?? commonDirectory;
  const isAgents = checkout !== undefined && gitDirectory !== commonDirectory;
  const entries = await folderConfig({ cwd, gitDirectory, commonDirectory, env });
  const ground = { home: rametHome(env), root: found.trusted, top: root, env, writes, isAgents };
  const refused = entries.length === 0 ? null : await refusedPrograms(entries, ground);
  if (refused === null) return { environment: {}, filters: [], root };
  const instead = overridesFor(refused.entries, lenient !== true);
  const off = ALWAYS.filter(([key]) => refused.keys.has(key.toLowerCase()));
  return {
    environment: {
      ...(instead.namesTransport ? NO_TRANSPORT : {}),
      ...gitSettings(env, [...off, ...instead.settings]),
      ...instead.environment,
      ...plainDiff(instead),
    },
    filters: instead.filters,
    ...{ reasons: refused.reasons, root: found.trusted },
  };
}

interface TrustedGround {
  repository: Repository;
  /** The working tree that the user trusts. */
  trusted: string;
}

/** `.gitmodules` can ask for each submodule to be entered anyway. */
function ignoredSubmodules(root: string): (readonly [string, string])[] {
  const text = readOrNull(join(root, '.gitmodules')) ?? '';
  const names = text.matchAll(/\[\s*submodule\s+"((?:[^"\\\n]|\\.)+)"\s*\]/gi);
  return Array.from(names, ([, name = '']) => [`submodule.${name.replace(/\\(.)/g, '$1')}.ignore`, 'dirty']);
}

/**
 * Answers by repository, as long as trust was neither given nor taken: one `stat` instead of a look at each worktree.
 */
const answers = new Map<string, { changed: bigint; trusted: string | null }>();

/** The working tree that the user trusts; null for none. */
function trustedRoot(repository: Repository, env: Readonly<Record<string, string>>): string | null {
  const home = rametHome(env);
  const changed = statSync(join(home, 'trusted'), { throwIfNoEntry: false, bigint: true })?.mtimeNs;
  if (changed === undefined) return null;
  const key = [home, repository.commonDirectory, repository.root].join('\0');
  const known = answers.get(key);
  if (known?.changed === changed) return known.trusted;
  const trusted = [...workingTrees(repository)].find((root) => isTrusted({ home, root })) ?? null;
  answers.set(key, { changed, trusted });
  return trusted;
}

/** A repository can claim any directory as its working tree; only those count that say so themselves. */
function* workingTrees({ root, commonDirectory }: Repository): Generator<string> {
  yield root;
  if (basename(commonDirectory) !== '.git') yield commonDirectory;
  const named = LINES.exec(readOrNull(join(commonDirectory, 'config')) ?? '')?.[1];
  const claimed = [
    dirname(commonDirectory),
    ...(named === undefined ? [] : [resolve(commonDirectory, named)]),
    ...linkedWorktrees(commonDirectory),
  ];
  for (const directory of claimed) {
    const found = findRepository(directory);
    if (found?.commonDirectory === commonDirectory) yield found.root;
  }
}

function linkedWorktrees(commonDirectory: string): string[] {
  const directory = join(commonDirectory, 'worktrees');
  return namesIn(directory).flatMap((name) => {
    const file = readPointer(join(directory, name, 'gitdir'))?.trimEnd();
    return file === undefined ? [] : [dirname(resolve(directory, name, file))];
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The git directory itself, which need not be called `.git`: our own calls work there. */
function isOwnDirectory(directory: string, { commonDirectory }: Repository): boolean {
  return isInside(realpathSync.native(directory), commonDirectory);
}

function bareAround(directory: string): Repository | null {
  if (!existsSync(directory)) return null;
  for (let root = realpathSync.native(directory); ; root = dirname(root)) {
    if (isBareDirectory(root)) return { root, commonDirectory: root };
    if (dirname(root) === root) return null;
  }
}

/**
 * What a command that nobody was asked about gets besides, or instead of, the environment of an agent's programs: it
 * only reads, so it runs nothing that the folder's git configuration names (SEC-1), fetches nothing in
 * secret, and needs no password of a proxy.
 *
 * `env` is that of the agent's programs.
 */
export async function readingEnvironment(
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { environment } = await folderGuard(cwd, { env, lenient: true });
  return { ...NO_TRANSPORT, ...withoutPasswords(env), ...environment };
}

function withoutPasswords(env: Readonly<Record<string, string>>): Record<string, string> {
  const proxies = Object.entries(env).filter(
    ([name, value]) => /_proxy$/i.test(name) && CREDENTIALS.test(value),
  );
  return Object.fromEntries(proxies.map(([name, value]) => [name, value.replace(CREDENTIALS, '$1')]));
}
