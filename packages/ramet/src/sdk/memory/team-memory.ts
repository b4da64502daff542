/** Team memory, callable: the server, its tokens, and the sync of a folder. Loaded with `ramet memory` only. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openMemoryDatabase } from '../../memory/server/key-store.ts';
import { type MemoryServer, startMemoryServer } from '../../memory/server/memory-server.ts';
import { type TeamToken, TeamTokens, teamNameProblem } from '../../memory/server/team-tokens.ts';
import { type SyncReport, syncFolder } from '../../memory/sync/sync-folder.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { rametHome } from '../../system/home.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';

export interface ServedFrom {
  /** Where the server keeps its file; `memory-server` in Ramet's home when absent. */
  data?: string | undefined;
}

export interface ServeOptions extends ServedFrom {
  host?: string | undefined;
  port?: number | undefined;
  maxValueKb?: number | undefined;
  maxTeamMb?: number | undefined;
  maxKeys?: number | undefined;
  rate?: number | undefined;
}

function directoryOf({ data }: ServedFrom, { cwd, env }: Caller): string {
  return data === undefined ? join(rametHome(env), 'memory-server') : resolve(cwd, data);
}

/** Serves until it is closed. */
export async function serveMemory(options: ServeOptions = {}, call: CallOptions = {}): Promise<MemoryServer> {
  const caller = callerOf(call);
  const { host, port, maxValueKb, maxTeamMb, maxKeys, rate } = options;
  const limits = {
    ...(maxValueKb !== undefined && { value: maxValueKb * 1024 }),
    ...(maxTeamMb !== undefined && { team: maxTeamMb * 1024 * 1024 }),
    ...(maxKeys !== undefined && { keys: maxKeys }),
    ...(rate !== undefined && { rate, burst: 20 * rate }),
  };
  return startMemoryServer({
    directory: directoryOf(options, caller),
    host,
    port,
    limits,
    note: caller.note,
  });
}

export interface NewTokenOptions extends ServedFrom {
  team: string;
  note?: string | undefined;
}

/** The token is returned once; the server has its digest. */
export function newMemoryToken(
  options: NewTokenOptions,
  call: CallOptions = {},
): { id: string; team: string; token: string } {
  const { team, note = '' } = options;
  const problem = teamNameProblem(team);
  if (problem !== null)
    throw new UserMistake('bad_team', `"${team}" cannot be the name of a team: ${problem}`);
  return withTokens(options, call, (tokens) => ({
    team,
    ...tokens.create({ team, note: note.slice(0, 200), now: Date.now() }),
  }));
}

export function listMemoryTokens(options: ServedFrom = {}, call: CallOptions = {}): TeamToken[] {
  // Looking makes nothing.
  if (!existsSync(directoryOf(options, callerOf(call)))) return [];
  return withTokens(options, call, (tokens) => tokens.list());
}

/** It counts no longer from the next request on. */
export function revokeMemoryToken(options: ServedFrom & { id: string }, call: CallOptions = {}): void {
  const isThere = withTokens(options, call, (tokens) => tokens.revoke(options.id, Date.now()));
  if (!isThere)
    throw new UserMistake('no_token', `there is no token "${options.id}": ramet memory token ls lists them`);
}

function withTokens<Result>(
  options: ServedFrom,
  call: CallOptions,
  work: (tokens: TeamTokens) => Result,
): Result {
  using db = openMemoryDatabase(directoryOf(options, callerOf(call)));
  return work(new TeamTokens(db));
}

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
