/**
 * Whether something of a repository may run: the folder is trusted, and the thing is what it was when it was trusted.
 * Everything that runs for a repository asks here.
 */
import { type TrustPlace, trustedEntry } from '../../system/trust.ts';
import { digestOfPart, type FolderPart, ownDigest, type PartKind, partKey } from './folder-part.ts';

export interface FolderTrust {
  readonly isTrusted: boolean;
  /** `changed`: it is not what was trusted. `later`: the folder was trusted before such things could run. */
  verdictOn(part: FolderPart): TrustVerdict;
  /** The same about what is written down alone, by its digest: for what is only listed. */
  verdictOnOwn(part: Pick<FolderPart, 'kind' | 'source'>, own: string): TrustVerdict;
  /** The files that it names, with their digests, as they were trusted; null where none are kept. */
  filesFor(part: FolderPart): Readonly<Record<string, string>> | null;
}

export type TrustVerdict = 'trusted' | 'untrusted' | 'changed' | 'later';

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
      return known.digest === digestOfPart(part, place.root, own) ? 'trusted' : 'changed';
    },
    verdictOnOwn(part, own) {
      if (parts === undefined) return old(part);
      return parts[partKey(part, place.root)]?.own === own ? 'trusted' : 'changed';
    },
    filesFor: (part) => parts?.[partKey(part, place.root)]?.files ?? null,
  };
}

/** One line for a part that does not run; null for one that does. */
export function partNotice({ kind }: FolderPart, shown: string, verdict: TrustVerdict): string | null {
  if (verdict === 'trusted') return null;
  const what = `${shown}: its ${NAMES[kind]}`;
  if (verdict === 'untrusted') return `${what} does not run before you trust this folder (ramet trust)`;
  if (verdict === 'later')
    return `${what} does not run: you trusted this folder before Ramet could run it (ramet trust)`;
  return `${what} is not what you trusted and does not run (ramet trust --show shows the difference)`;
}

/** For hooks that are what was trusted, where a file that one of them runs is not. */
export function filesNotice(shown: string): string {
  return `${shown}: a file that its hooks run is not what you trusted: these hooks do not run (ramet trust --show shows the difference)`;
}

/** Why a skill, a command or an agent file is not used. */
export const NOT_AS_TRUSTED = 'it is not what you trusted: ramet trust --show shows the difference';
export const FILES_NOT_AS_TRUSTED =
  'it, or a file that its hooks or servers run, is not what you trusted: ramet trust --show shows the difference';

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
