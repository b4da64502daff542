/** The sync of a folder with the memory of a team, callable: by `ramet memory sync`, and by sessions for themselves. */
import { readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { storeOf } from '../../memory/files/memory-places.ts';
import { MemoryStore } from '../../memory/files/memory-store.ts';
import { type SyncedText, type SyncReport, syncFolder } from '../../memory/sync/sync-folder.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { pathInside } from '../../system/landing-path.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';
import { memoryPlace } from './session-memory.ts';
import { sharedFolder } from './shared-folder.ts';

export interface SyncMemoryOptions {
  /** The team memory of this repository when absent. */
  folder?: string | undefined;
  /** Also one that has more than notes, such as the root of a repository. */
  anyFolder?: boolean | undefined;
  /** `RAMET_MEMORY_SERVER` when absent. */
  server?: string | undefined;
  /** `RAMET_MEMORY_TOKEN` has the token itself. */
  tokenFile?: string | undefined;
}

export interface SyncedMemory extends SyncReport {
  folder: string;
}

export async function syncMemory(
  options: SyncMemoryOptions = {},
  call: CallOptions = {},
): Promise<SyncedMemory> {
  const caller = callerOf(call);
  const { cwd, env, signal } = caller;
  const folder =
    options.folder === undefined
      ? join(findPlace({ cwd, env }).project, 'memory', 'team')
      : sharedFolder(options.folder, { cwd, env, anyFolder: options.anyFolder });
  const url = options.server ?? env.RAMET_MEMORY_SERVER;
  if (url === undefined || url === '')
    throw new UserMistake(
      'no_memory_server',
      'no memory server is named: give --server URL, or set RAMET_MEMORY_SERVER',
    );
  const token = tokenFrom(options, caller);
  const written: SyncedText[] = [];
  let team: string | null = null;
  try {
    const report = await syncFolder({ folder, url, token, signal, wrote: (note) => written.push(note) });
    team = report.team;
    return { folder, ...report };
  } finally {
    const server = url.replace(/\/+$/, '');
    if (written.length > 0)
      recordSync({ folder, written, origin: team === null ? server : `team ${team} at ${server}` }, caller);
  }
}

/** So that `ramet memory why` knows where lines came from. A folder elsewhere is nobody's memory. */
function recordSync(
  { folder, written, origin }: { folder: string; written: readonly SyncedText[]; origin: string },
  { cwd, env }: Caller,
): void {
  try {
    const root = storeOf(memoryPlace(findPlace({ cwd, env }), env), 'project');
    const below = pathInside(folder, root);
    if (below === null) return;
    using store = new MemoryStore(root);
    store.record(
      { kind: 'sync', session: null, agent: null, turn: null, origin },
      written.map(({ path, ...texts }) => ({ ...texts, path: join(below, path).split(sep).join('/') })),
    );
  } catch {
    // The notes are there; without a record they count as edited by hand.
  }
}

function tokenFrom({ tokenFile }: SyncMemoryOptions, { cwd, env }: Caller): string {
  if (tokenFile === '')
    throw new UserMistake(
      'no_memory_token',
      '--token-file is empty: name the file, or set RAMET_MEMORY_TOKEN',
    );
  const token = tokenFile === undefined ? env.RAMET_MEMORY_TOKEN : readToken(resolve(cwd, tokenFile));
  if (token === undefined || token.trim() === '')
    throw new UserMistake(
      'no_memory_token',
      'there is no token: set RAMET_MEMORY_TOKEN, or give --token-file FILE',
    );
  if (!/^[\x21-\x7e]{1,200}$/.test(token.trim()))
    throw new UserMistake(
      'bad_memory_token',
      'this is no token of a memory server: ramet memory token new TEAM makes one',
    );
  return token.trim();
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserMistake(
      'no_memory_token',
      `cannot read the token in ${file}: ${systemCode(error) ?? 'it failed'}`,
    );
  }
}
