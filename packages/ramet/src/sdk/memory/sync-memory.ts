/** The sync of a folder with the memory of a team, callable: by `ramet memory sync`, and by sessions for themselves. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type SyncReport, syncFolder } from '../../memory/sync/sync-folder.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';

export interface SyncMemoryOptions {
  /** The team memory of this repository when absent. */
  folder?: string | undefined;
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
  const url = options.server ?? env.RAMET_MEMORY_SERVER;
  if (url === undefined || url === '')
    throw new UserMistake(
      'no_memory_server',
      'no memory server is named: give --server URL, or set RAMET_MEMORY_SERVER',
    );
  const token = tokenFrom(options, caller);
  const folder =
    options.folder === undefined
      ? join(findPlace({ cwd, env }).project, 'memory', 'team')
      : resolve(cwd, options.folder);
  return { folder, ...(await syncFolder({ folder, url, token, signal })) };
}

function tokenFrom({ tokenFile }: SyncMemoryOptions, { cwd, env }: Caller): string {
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
