/**
 * Moves the WAL into the database off the event loop: a checkpoint waits for the disk. The thread is started
 * the first time there is something worth moving, which most sessions never have.
 *
 * It first copies what there is while the writer goes on (PASSIVE), then takes the write lock for the little
 * that came meanwhile (TRUNCATE), so that the WAL starts again from nothing. It never waits while it holds that
 * lock: with a reader or the writer in the way it gives up and is asked again later.
 */
import type { Worker } from 'node:worker_threads';

/** Plain JavaScript in a string, so that it is found in a bundle and in the sources alike. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData.file, { timeout: 0 });
const pause = new Int32Array(new SharedArrayBuffer(4));
function truncate() {
  for (let attempt = 0; attempt < 5; attempt++) {
    if (db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get().busy === 0) return;
    Atomics.wait(pause, 0, 0, 5);
  }
}
parentPort.on('message', (message) => {
  if (message === 'stop') {
    db.close();
    parentPort.close();
    return;
  }
  let failure = null;
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    truncate();
  } catch (error) {
    failure = String(error.message);
  }
  parentPort.postMessage(failure);
});
`;

export class Checkpointer {
  readonly #file: string;
  readonly #onFailure: (reason: string) => void;
  #thread: Worker | null = null;
  #running = false;
  #gone: Promise<void> = Promise.resolve();

  constructor(file: string, onFailure: (reason: string) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Asks for a checkpoint; does nothing while one runs. */
  request(): void {
    if (this.#running) return;
    this.#running = true;
    this.#thread ??= this.#start();
    this.#thread.postMessage('checkpoint');
  }

  /** Lets a running checkpoint finish and ends the thread. */
  async stop(): Promise<void> {
    // Now it must keep the process alive, or the process would end in the middle of this.
    this.#thread?.ref();
    this.#thread?.postMessage('stop');
    await this.#gone;
  }

  #start(): Worker {
    // Loaded here because loading it costs 2 ms, which every start would pay.
    const threads = process.getBuiltinModule('node:worker_threads');
    const thread = new threads.Worker(THREAD, { eval: true, workerData: { file: this.#file } });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    // A session that is never closed must not keep the process alive for its checkpoints.
    thread.unref();
    thread.on('message', (failure: string | null) => {
      this.#running = false;
      if (failure !== null) this.#onFailure(failure);
    });
    thread.on('error', (error: Error) => this.#onFailure(error.message));
    thread.on('exit', () => {
      this.#thread = null;
      this.#running = false;
      resolve();
    });
    return thread;
  }
}
