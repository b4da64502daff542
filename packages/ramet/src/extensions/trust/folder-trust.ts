/**
 * Whether something of a repository may run: the folder is trusted, and the thing is what it was when it was trusted.
 * Everything that runs for a repository asks here.
 */
import { type TrustPlace, trustedEntry } from '../../system/trust.ts';
import { describePart, type FolderPart, type PartKind, partKey } from './folder-part.ts';

export interface FolderTrust {
  readonly isTrusted: boolean;
  /** `changed`: it is not what was trusted. `later`: the folder was trusted before such things could run. */
  verdictOn(part: FolderPart): TrustVerdict;
}

export type TrustVerdict = 'trusted' | 'untrusted' | 'changed' | 'later';

/** What folders could bring when trust had no digests. */
const BEFORE: readonly PartKind[] = ['agent', 'setup', 'rights'];

export function folderTrust(place: TrustPlace): FolderTrust {
  if (place.isGiven === true) return { isTrusted: true, verdictOn: () => 'trusted' };
  const entry = trustedEntry(place);
  if (entry === null) return { isTrusted: false, verdictOn: () => 'untrusted' };
  const { parts } = entry;
  return {
    isTrusted: true,
    verdictOn(part) {
      if (parts === undefined) return BEFORE.includes(part.kind) ? 'trusted' : 'later';
      const known = parts[partKey(part, place.root)];
      return known?.digest === describePart(part, place.root).digest ? 'trusted' : 'changed';
    },
  };
}

/** One line for a part that does not run; null for one that does. */
export function partNotice({ kind }: FolderPart, shown: string, verdict: TrustVerdict): string | null {
  if (verdict === 'trusted') return null;
  const what = `${shown}: its ${NAMES[kind]}`;
  if (verdict === 'untrusted') return `${what} does not run before you trust this folder (ramet trust)`;
  if (verdict === 'later')
    return `${what} does not run: you trusted this folder before Ramet could run it (ramet trust)`;
  return `${what} is not what you trusted and does not run (ramet trust shows the difference)`;
}

const NAMES: Readonly<Record<PartKind, string>> = {
  hooks: 'set of hooks',
  mcp: 'list of MCP servers',
  setup: 'setup command',
  'status line': 'status line command',
  agent: 'agent definition',
  plugin: 'plugin',
  rights: 'set of rights',
};
