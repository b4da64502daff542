/** Starts the cache server, tells it what to play, and asks it what it saw. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PlayRecord } from './play-record.ts';
import type { Play } from './played-model.ts';

export interface CacheServer extends Disposable {
  url: string;
  /** Starts over: another play, an empty cache, no records. */
  play(changes: Partial<Play>): Promise<void>;
  records(): Promise<PlayRecord[]>;
}

export async function startCacheServer(): Promise<CacheServer> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/cache-server.ts`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the server has no output');
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    url,
    async play(changes) {
      await fetch(`${url}/play`, { method: 'POST', body: JSON.stringify(changes) });
    },
    async records() {
      const answer = await fetch(`${url}/records`);
      // The server is ours, and this is what it notes.
      return (await answer.json()) as PlayRecord[];
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
