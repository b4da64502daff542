/**
 * What a login at a server gave: tokens, and what the client is known by, one private file for each server under
 * `$RAMET_HOME/mcp/`. It never enters a journal, a conversation or the environment of a program.
 *
 * Sessions of several processes share it. Many servers take a token for renewal once: `alone` lets one renew, and the
 * others read what it got.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { type Clock, elapsedOf, systemClock } from '../../schema/clock.ts';
import { systemCode } from '../../schema/errors.ts';
import { digestOf } from '../../system/digest.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { loginFolder, readLogin } from '../../system/stored-logins.ts';
import { isObject } from './server-config.ts';

export interface StoredLogin {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  /** What the tokens are for, as the server names itself. */
  readonly resource?: string | undefined;
}

export interface TokenStore {
  read(): StoredLogin | null;
  save(login: StoredLogin): void;
  clear(): void;
  /** Runs the work while no other process does so for this server. Who waits longer than `limit` is refused. */
  alone<Value>(work: () => Promise<Value>, limit?: WaitLimit): Promise<Value>;
  /** Who runs such work now, in words. */
  holder(): string;
}

export interface WaitLimit {
  readonly ms: number;
  refusal(): Error;
}

const LOOK_AGAIN_MS = 50;
/** A renewal takes less; who holds it longer was killed. */
const STALE_MS = 30_000;

/** Of the server at this address. */
export function openTokens(home: string, url: string, clock: Clock = systemClock): TokenStore {
  const directory = loginFolder(home);
  const path = join(directory, `${digestOf(url).slice(0, 24)}.json`);
  const lock = `${path}.lock`;
  return {
    read() {
      const value = readLogin(path);
      // Another server's file would give its tokens away.
      if (value?.url !== url || !isObject(value.client) || !isObject(value.tokens)) return null;
      // Only what `save` wrote, which the SDK had checked.
      return value as unknown as StoredLogin;
    },
    save(login) {
      makePrivateDirectory(directory);
      replaceWhole(path, `${JSON.stringify({ url, ...login })}\n`, PRIVATE_FILE);
    },
    clear: () => rmSync(path, { force: true }),
    holder: () => holderOf(lock),
    async alone(work, limit) {
      makePrivateDirectory(directory);
      const begin = elapsedOf(clock);
      while (!taken(lock)) {
        if (limit !== undefined && elapsedOf(clock) - begin >= limit.ms) throw limit.refusal();
        await clock.sleep(LOOK_AGAIN_MS);
      }
      try {
        return await work();
      } finally {
        rmSync(lock, { force: true });
      }
    },
  };
}

function taken(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    // The file's time is the machine's, whatever clock the session has.
    const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs !== undefined && Date.now() - mtimeMs > STALE_MS) rmSync(lock, { force: true });
    return false;
  }
}

function holderOf(lock: string): string {
  let holder = '';
  try {
    holder = readFileSync(lock, 'utf8').trim();
  } catch (error) {
    // Its work has just ended.
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  if (holder === String(process.pid)) return 'another connection of this process';
  return /^\d+$/.test(holder) ? `process ${holder}` : 'another process';
}
