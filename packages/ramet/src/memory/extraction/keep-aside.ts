/**
 * Writes to memory without holding up the person: rules against secrets take a tenth of a second to load, and another process
 * may have the store for longer. So it is done in a thread, and a thread that is ended leaves whole changes.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../schema/clock.ts';
import type { MemoryChange } from '../files/memory-history.ts';
import type { ExtractionOrder } from './keep-lines.ts';

/** Longer than any lock is waited for. */
const MOST_MS = 60_000;

export async function keepAside(order: ExtractionOrder, clock: Clock): Promise<readonly MemoryChange[]> {
  const program = workerProgram();
  if (program === null) return (await import('./keep-lines.ts')).keepLines(order);
  const worker = new Worker(program, { workerData: order, env: {}, execArgv: [] });
  const over = new AbortController();
  void clock.sleep(MOST_MS, over.signal, { keepsAlive: false }).then(() => worker.terminate());
  try {
    return await new Promise<readonly MemoryChange[]>((settle, fail) => {
      worker.once('message', settle).once('error', fail);
      worker.once('exit', () => fail(new Error('memory could not be written')));
    });
  } finally {
    over.abort();
    void worker.terminate();
  }
}

/** Its path in the sources, or beside the bundles; null if another program has bundled us. */
function workerProgram(): string | null {
  const places = ['./keep-lines.ts', '../memory/keep-lines.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? null;
}
