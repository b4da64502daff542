/**
 * Looks at the files that a command of a repository names, each time it is about to run (SEC-1). Agents write files, also
 * those that a command names, and a command runs in other directories than the one it was trusted in: in a subfolder, in a
 * worktree. It runs with files of trusted content only, wherever they are.
 */
import { accessSync, type BigIntStats, constants, lstatSync, readlinkSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { isInside, realPath } from '../../system/landing-path.ts';
import { type TrustPlace, trustStamp } from '../../system/trust.ts';
import { commandReach } from './command-reach.ts';
import { commandsOf, type PartCommand } from './commands-in.ts';
import { describePart, type FolderPart, folderOf, ownDigest } from './folder-part.ts';
import { type FolderTrust, folderTrust } from './folder-trust.ts';
import { type FileState, isSameState, KnownLists } from './known-lists.ts';
import { linksToProcess } from './process-links.ts';
import { checkoutOf, everyFile, isTemporary, type ListedFile, MOST_LISTED } from './repository-look.ts';
import { specialProblem } from './special-files.ts';
import { fileDigest, listedDigest } from './trusted-content.ts';
import type { CommandReach, NamedPath } from './word-names.ts';

/**
 * Why a command must not run in that directory, in one line; null if it may. `texts` are the command and its arguments.
 * `answers`: what it prints decides about calls.
 */
export type RunCheck = (texts: readonly string[], cwd: string, answers?: boolean) => string | null;

/**
 * For a part that is trusted, or whose files alone have changed. Where no digests were kept, its files count as they are now; what no
 * digest can say counts as it is now if nothing has changed.
 */
export function runCheck(part: FolderPart, place: TrustPlace, trust: FolderTrust): RunCheck {
  const { root } = place;
  const verdict = trust.verdictOn(part);
  const trusted = trust.filesFor(part) ?? describePart(part, root).files;
  const files = new TrustedFiles(root, trusted, verdict === 'followed');
  if (verdict === 'trusted') files.learn(commandsOf(part), folderOf(part.source));
  const folder = (): Readonly<Record<string, string>> =>
    part.folder === undefined ? {} : describePart(part, root).files;
  let before = folder();
  let stamp = trustStamp(place);
  /** What the user has trusted again meanwhile counts at once. */
  const isRenewed = (): boolean => {
    const current = trustStamp(place);
    if (place.isGiven === true || current === stamp) return false;
    stamp = current;
    const given = folderTrust(place);
    const trusted = given.filesFor(part);
    if (trusted === null || given.verdictOnOwn(part, ownDigest(part)) !== 'trusted') return false;
    files.take(trusted);
    before = folder();
    return true;
  };
  /** Scripts of a plugin load each other. */
  const changed = (): string | null => {
    const current = folder();
    const path = Object.keys({ ...before, ...current }).find((one) => before[one] !== current[one]);
    return path === undefined ? null : `${path} is not what you trusted (${SHOWS})`;
  };
  return (texts, cwd, answers = false) => {
    const look = (): string | null => changed() ?? files.problem({ texts, answers }, cwd);
    const problem = look();
    return problem !== null && isRenewed() ? look() : problem;
  };
}

/** Whether each command of the part may run there, also where its files are not the ones that were trusted. */
export function allRun(part: FolderPart, check: RunCheck, cwd: string): boolean {
  return commandsOf(part).every(({ texts, answers }) => check(texts, cwd, answers) === null);
}

/** Smaller files are read each time: a program that holds one open can change it without a trace in its times. */
const SMALL = 64n << 10n;
/** A file that was changed a moment ago can be changed again within one tick of its clock. */
const SETTLED_NS = 100_000_000n;

export type RunCommand = Pick<PartCommand, 'texts'> & { readonly answers?: boolean };

/** Whether commands of one part run with files of trusted content. */
export class TrustedFiles {
  readonly #root: string;
  readonly #realRoot: string;
  #digests: ReadonlySet<string> = new Set();
  /** By their paths from the root. */
  #names: ReadonlySet<string> = new Set();
  /** Where links and paths out of the repository led at the start. */
  readonly #outside = new Set<string>();
  /** This version of Ramet follows more files than are in `#names`. */
  #hasOthers = false;
  #ownNames: readonly string[] = [];
  #ownPaths: readonly string[] = [];
  /** Files that were read, with the state in which they were: large ones, and those of folders that count whole. */
  readonly #seen = new Map<string, FileState>();
  readonly #lists = new KnownLists();

  constructor(root: string, trusted: Readonly<Record<string, string>>, hasOthers = false) {
    this.#root = root;
    this.#realRoot = realPath(root);
    this.take(trusted);
    this.#hasOthers = hasOthers;
  }

  get digests(): ReadonlySet<string> {
    return this.#digests;
  }

  take(trusted: Readonly<Record<string, string>>): void {
    this.#hasOthers = false;
    this.#digests = new Set(Object.values(trusted));
    this.#names = new Set(Object.keys(trusted));
    this.#seen.clear();
    this.#ownNames = Object.keys(trusted).filter((name) => !isAbsolute(name));
    this.#ownPaths = this.#ownNames.map((name) => join(this.#root, name));
  }

  /** What no digest can say: files outside count as they are at the start. */
  learn(commands: readonly RunCommand[], folder: string): void {
    for (const { path } of commands.flatMap((one) => this.#reach(one, folder).paths)) {
      const stats = statsOf(path);
      if (stats === null || !stats.isFile()) continue;
      const real = realOf(path);
      if (real !== null && !isInside(real, this.#realRoot) && !isTemporary(real)) this.#outside.add(real);
    }
  }

  problem(command: RunCommand, cwd: string): string | null {
    const reach = this.#reach(command, cwd);
    const { paths, folders, unclear, imports } = reach;
    for (const named of paths) if (!this.#isTrusted(named)) return this.#explain(named.path, cwd);
    const there = new Set<string>();
    const whole = folders.map((folder) => [folder, 'any'] as const);
    const modules = imports?.folders.map((folder) => [folder, 'python'] as const) ?? [];
    for (const [folder, language] of [...whole, ...modules]) {
      const listed = everyFile(folder, MOST_LISTED, language, (...of) => this.#lists.list(...of));
      const why =
        language === 'python'
          ? `, and because of what ${imports?.script} imports every Python file counts`
          : unclear === null
            ? ''
            : `, and because of ${unclear} every file counts: name its script`;
      if (listed === null) return `${this.#shown(folder)} has more than ${MOST_LISTED} files${why}`;
      if (command.answers === true) for (const { path } of listed) there.add(path);
      const changed = listed.find((file) => !this.#isListed(file));
      if (changed !== undefined) return `${this.#explain(changed.path, cwd)}${why}`;
    }
    // Without a file that it needs a hook fails, or finds nothing to refuse: neither stops anything.
    const gone = command.answers === true ? this.#goneFor(reach, cwd, there) : null;
    return gone === null ? null : `${this.#shown(gone)} is gone (${SHOWS})`;
  }

  /**
   * A file that was trusted and is no file any more. Which commands of the part ran it is known only while it is there, so each of them
   * counts it; in another checkout, what this one names there.
   */
  #goneFor(
    { paths, folders, imports, executed }: CommandReach,
    cwd: string,
    there: ReadonlySet<string>,
  ): string | null {
    const isGone = (path: string): boolean => !there.has(path) && !this.#isThere(path);
    const own = this.#ownPaths.find(isGone);
    if (own !== undefined) return own;
    // One of the places that a name stands for is enough, and a file that the command writes itself need not be there before.
    const runs = new Map(executed.flatMap((one) => one.paths.map((path) => [path, one.paths] as const)));
    const top = checkoutOf(cwd);
    const named = paths.filter(({ path, written }) => {
      if (written !== undefined) return false;
      const isTrusted = this.#names.has(path) || this.#names.has(relative(top, path));
      return isTrusted && (runs.get(path) ?? [path]).every(isGone);
    });
    if (named[0] !== undefined) return named[0].path;
    if (top === this.#root) return null;
    const below = [...folders, ...(imports?.folders ?? [])].filter((folder) => isInside(folder, top));
    const isBelow = (path: string): boolean =>
      below.some((folder) => path.startsWith(`${folder}/`) || isInside(path, folder));
    if (below.length === 0) return null;
    return (
      this.#ownNames.map((name) => join(top, name)).find((path) => isBelow(path) && isGone(path)) ?? null
    );
  }

  #isThere(path: string): boolean {
    if (statsOf(path)?.isFile() === true) return true;
    try {
      return this.#digests.has(listedDigest({ path, target: readlinkSync(path) }));
    } catch {
      return false;
    }
  }

  #reach({ texts, answers }: RunCommand, directory: string): CommandReach {
    return commandReach(texts, this.#root, [directory, this.#root], answers);
  }

  /** Of a folder that counts whole: a file that has not changed is not read again. */
  #isListed(file: ListedFile): boolean {
    const stats = statsOf(file.path);
    if (file.target === null && this.#wasSeen(file.path, stats)) return true;
    if (!this.#digests.has(listedDigest(file))) return false;
    this.#keepSeen(file.path, stats);
    return true;
  }

  #isTrusted({ path, isAbsolute: isAway, written, digest: read }: NamedPath): boolean {
    if (written === 'replaced' && canReplace(path)) return true;
    // Of the machine's own, such as `/dev/stdin`, agents can write none.
    if ((!isAway || isTemporary(path)) && linksToProcess(path)) return false;
    const stats = statsOf(path);
    if (stats === null || stats.isDirectory()) return true;
    const real = realOf(path);
    if (real === null) return false;
    const isElsewhere = isAway && !isInside(path, this.#root) && !isInside(real, this.#realRoot);
    if (isElsewhere && !isTemporary(real)) return true;
    if (this.#outside.has(real)) return true;
    if (!stats.isFile()) return false;
    const isLarge = stats.size > SMALL;
    if (isLarge && this.#wasSeen(path, stats)) return true;
    // What was read before this state was seen says nothing about it.
    const digest = (isLarge ? undefined : read) ?? fileDigest(path);
    if (digest === null || !this.#digests.has(digest)) return false;
    if (isLarge) this.#keepSeen(path, stats);
    return true;
  }

  #wasSeen(path: string, stats: BigIntStats | null): boolean {
    const seen = this.#seen.get(path);
    return seen !== undefined && stats !== null && isSameState(seen, stats);
  }

  #keepSeen(path: string, stats: BigIntStats | null): void {
    if (stats === null || !isSettled(stats)) return;
    const after = statsOf(path);
    if (after === null || !isSameState(stats, after)) return;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    this.#seen.set(path, { dev, ino, size, mtimeNs, ctimeNs });
  }

  #shown(path: string): string {
    return isInside(path, this.#root) ? relative(this.#root, path) || '.' : path;
  }

  #explain(path: string, cwd: string): string {
    const special = specialProblem(path, this.#root);
    if (special !== null) return special;
    const names = [path, relative(this.#root, path), relative(checkoutOf(cwd), path)];
    if (this.#hasOthers && !names.some((name) => this.#names.has(name)))
      return `${this.#shown(path)} was not followed when you trusted this folder (ramet trust --show shows it)`;
    const isBelow = cwd !== this.#root && isInside(path, cwd);
    const isOther = isBelow && statsOf(resolve(this.#root, relative(cwd, path))) !== null;
    const advice = isOther ? OTHER_DIRECTORY : SHOWS;
    return `${this.#shown(path)} is not what you trusted (${advice})`;
  }
}

/** A write to it does not fail, so that nothing of it stays. */
function canReplace(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return lstatSync(path).isFile();
  } catch {
    return false;
  }
}

function isSettled({ ctimeNs }: BigIntStats): boolean {
  return BigInt(Date.now()) * 1_000_000n - ctimeNs > SETTLED_NS;
}

const SHOWS = 'ramet trust --show shows the difference';
const OTHER_DIRECTORY = 'begin its path with "$CLAUDE_PROJECT_DIR" to run the one of the root';

function statsOf(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function realOf(path: string): string | null {
  try {
    return realPath(path);
  } catch {
    return null;
  }
}
