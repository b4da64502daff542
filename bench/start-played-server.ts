/** Starts a server of this directory that plays a model, tells it what to play, and asks it what it saw. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface PlayedServer<Play, Seen> extends Disposable {
  url: string;
  /** Starts over: another play, an empty cache, no records. */
  play(what: Play): Promise<void>;
  records(): Promise<Seen[]>;
}

export async function startPlayedServer<Play, Seen>(script: string): Promise<PlayedServer<Play, Seen>> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/${script}`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the server has no output');
  const [port] = await once(child.stdout, 'data');
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    url,
    async play(what) {
      await fetch(`${url}/play`, { method: 'POST', body: JSON.stringify(what) });
    },
    async records() {
      const answer = await fetch(`${url}/records`);
      // The server is ours, and this is what it notes.
      return (await answer.json()) as Seen[];
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
