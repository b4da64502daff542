/** Starts the cache server. */
import type { PlayRecord } from './play-record.ts';
import type { Play } from './played-model.ts';
import { type PlayedServer, startPlayedServer } from './start-played-server.ts';

export type CacheServer = PlayedServer<Partial<Play>, PlayRecord>;

export function startCacheServer(): Promise<CacheServer> {
  return startPlayedServer('cache-server.ts');
}
