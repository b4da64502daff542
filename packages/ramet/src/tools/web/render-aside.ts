/**
 * Renders pages without holding up anybody else: other agents, the screen and timers share this thread. A small page is
 * done at once; a large one in a thread, which ends with the call.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type PageBytes, type RenderedPage, renderPage } from './render-page.ts';

/** About 10 ms of the worst page; starting a thread takes 30. */
const SMALL = 30_000;

export async function renderAside(page: PageBytes, signal: AbortSignal): Promise<RenderedPage> {
  const program = page.bytes.length > SMALL ? workerProgram() : null;
  if (program === null) return renderPage(page);
  signal.throwIfAborted();
  const worker = new Worker(program, { workerData: page, env: {}, execArgv: [] });
  const end = (): void => void worker.terminate();
  signal.addEventListener('abort', end);
  try {
    return await new Promise<RenderedPage>((settle, fail) => {
      worker.once('message', settle).once('error', fail);
      worker.once('exit', () => fail(signal.reason ?? new Error('the page could not be rendered')));
    });
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Its path in the sources, or beside the bundles; null if another program has bundled us. */
function workerProgram(): string | null {
  const places = ['./render-worker.ts', '../tools/render-worker.js'];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? null;
}
