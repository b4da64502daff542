/**
 * What a login at a server gave: tokens and what the client is known by, one private file for each server under
 * `$RAMET_HOME/mcp/`. It never enters a journal or a conversation.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../../system/digest.ts';
import { makePrivateDirectory, PRIVATE_FILE } from '../../system/home.ts';
import { replaceWhole } from '../../system/replace-whole.ts';
import { isObject } from './server-config.ts';

export interface TokenStore {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  clear(): void;
}

/** Of the server at this address. */
export function openTokens(home: string, url: string): TokenStore {
  const path = join(home, 'mcp', `${digestOf(url).slice(0, 24)}.json`);
  const load = (): Record<string, unknown> => {
    try {
      const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
      // Another server's file would give its tokens away.
      return isObject(value) && value.url === url ? value : { url };
    } catch {
      return { url };
    }
  };
  return {
    get: (key) => load()[key],
    set(key, value) {
      makePrivateDirectory(join(home, 'mcp'));
      replaceWhole(path, `${JSON.stringify({ ...load(), [key]: value })}\n`, PRIVATE_FILE);
    },
    clear: () => rmSync(path, { force: true }),
  };
}
