/** The server of team memory and its tokens, callable. Loaded with `ramet memory` only. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openMemoryDatabase } from '../../memory/server/key-store.ts';
import { type MemoryServer, startMemoryServer } from '../../memory/server/memory-server.ts';
import { type TeamToken, TeamTokens, teamNameProblem } from '../../memory/server/team-tokens.ts';
import { UserMistake } from '../../schema/errors.ts';
import { rametHome } from '../../system/home.ts';
import { type Caller, type CallOptions, callerOf } from '../calls/caller.ts';

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
  if (data === '')
    throw new UserMistake(
      'no_data',
      '--data is empty: name a directory, or leave it out for the one of Ramet',
    );
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
