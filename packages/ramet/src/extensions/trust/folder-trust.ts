/**
 * Whether something of a repository may run: the folder is trusted, and the thing is what it was when it was trusted.
 * Everything that runs for a repository asks here.
 */

import { resolve } from 'node:path';
import { isInside } from '../../system/landing-path.ts';
import { type CoveredPart, type TrustedPart, type TrustPlace, trustedEntry } from '../../system/trust.ts';
import {
  describePart,
  digestOfPart,
  type FolderPart,
  ownDigest,
  type PartKind,
  partKey,
} from './folder-part.ts';
import { fileDigest } from './trusted-content.ts';

export interface FolderTrust {
  readonly isTrusted: boolean;
  /**
   * `changed`: it is not what was trusted. `followed`: it is as it was, and this version follows more files of it.
   * `later`: the folder was trusted before such things could run.
   */
  verdictOn(part: FolderPart): TrustVerdict;
  /** The same about what is written down alone, by its digest: for what is only listed. */
  verdictOnOwn(part: Pick<FolderPart, 'kind' | 'source'>, own: string): TrustVerdict;
  /** The files that it names, with their digests, as they were trusted; null where none are kept. */
  filesFor(part: FolderPart): Readonly<Record<string, string>> | null;
}

export type TrustVerdict = 'trusted' | 'untrusted' | 'changed' | 'followed' | 'later';

/** What folders could bring when trust had no digests. */
const BEFORE: readonly PartKind[] = ['agent', 'setup', 'rights'];

export function folderTrust(place: TrustPlace): FolderTrust {
  const always = (verdict: TrustVerdict): FolderTrust => ({
    isTrusted: verdict === 'trusted',
    verdictOn: () => verdict,
    verdictOnOwn: () => verdict,
    filesFor: () => null,
  });
  if (place.isGiven === true) return always('trusted');
  const entry = trustedEntry(place);
  if (entry === null) return always('untrusted');
  const { parts } = entry;
  const old = ({ kind }: Pick<FolderPart, 'kind'>): TrustVerdict =>
    BEFORE.includes(kind) ? 'trusted' : 'later';
  return {
    isTrusted: true,
    verdictOn(part) {
      if (parts === undefined) return old(part);
      const known = parts[partKey(part, place.root)];
      const own = ownDigest(part);
      if (known?.own !== own) return 'changed';
      if (known.digest === digestOfPart(part, place.root, own)) return 'trusted';
      return followsMore(part, known, place.root) ? 'followed' : 'changed';
    },
    verdictOnOwn(part, own) {
      if (parts === undefined) return old(part);
      return parts[partKey(part, place.root)]?.own === own ? 'trusted' : 'changed';
    },
    filesFor: (part) => parts?.[partKey(part, place.root)]?.files ?? null,
  };
}

/**
 * Whether a part differs from what was trusted only because another version of Ramet follows more files of it. It decides what a person
 * is told, and nothing else: such a part is not trusted.
 */
export function followsMore(
  part: FolderPart,
  known: TrustedPart,
  root: string,
  now: CoveredPart = describePart(part, root),
): boolean {
  if (known.by === now.by || known.own !== now.own) return false;
  const isSame = ([path, digest]: [string, string]): boolean =>
    (now.files[path] ?? fileDigest(resolve(root, path))) === digest;
  if (!Object.entries(known.files).every(isSame)) return false;
  const isListed = (path: string): boolean => now.before.files[path] === undefined;
  // Each version took all files of these.
  const wasWhole = Object.keys(now.files).some((path) => isListed(path) && known.files[path] !== undefined);
  const isNewThere = (path: string): boolean =>
    (wasWhole && isListed(path)) || (part.folder !== undefined && isInside(resolve(root, path), part.folder));
  const added = Object.keys(now.files).filter((path) => known.files[path] === undefined);
  return added.length > 0 && !added.some(isNewThere);
}

/** One line for a part that does not run; null for one that does. */
export function partNotice({ kind }: FolderPart, shown: string, verdict: TrustVerdict): string | null {
  if (verdict === 'trusted') return null;
  const what = `${shown}: its ${NAMES[kind]}`;
  if (verdict === 'untrusted') return `${what} does not run before you trust this folder (ramet trust)`;
  if (verdict === 'later')
    return `${what} does not run: you trusted this folder before Ramet could run it (ramet trust)`;
  if (verdict === 'followed')
    return `${what} runs ${NOT_FOLLOWED}, and does not run (ramet trust --show shows them)`;
  return `${what} is not what you trusted and does not run (ramet trust --show shows the difference)`;
}

/** Of a part that another version of Ramet looked at. */
export const NOT_FOLLOWED = 'files that were not followed when you trusted it';

/** For hooks that are what was trusted, where a file that one of them runs is not. `runs`: each has the content that was trusted. */
export function filesNotice(shown: string, verdict: 'changed' | 'followed', runs: boolean): string {
  if (verdict === 'followed')
    return `${shown}: its hooks run ${NOT_FOLLOWED}: these hooks do not run (ramet trust --show shows them)`;
  const what = runs
    ? 'a file that its hooks run is another one than you trusted, with the same content: these hooks run'
    : 'a file that its hooks run is not what you trusted: these hooks do not run';
  return `${shown}: ${what} (ramet trust --show shows the difference)`;
}

/** Why a skill, a command or an agent file is not used. */
export const NOT_AS_TRUSTED = 'it is not what you trusted: ramet trust --show shows the difference';
export const FILES_NOT_AS_TRUSTED =
  'it, or a file that its hooks or servers run, is not what you trusted: ramet trust --show shows the difference';
export const NOT_FOLLOWED_THEN: string = `it runs ${NOT_FOLLOWED}: ramet trust --show shows them`;

const NAMES: Readonly<Record<PartKind, string>> = {
  hooks: 'set of hooks',
  mcp: 'list of MCP servers',
  setup: 'setup command',
  'status line': 'status line command',
  agent: 'agent definition',
  skill: 'skill',
  command: 'command',
  plugin: 'plugin',
  git: 'git configuration',
  rights: 'set of rights',
  limits: 'set of limits',
};
