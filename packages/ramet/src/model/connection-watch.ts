/**
 * Watches the requests that are under way to one provider and ends those that nothing comes of (MODEL-2). Two limits
 * that are apart: no byte at all means a dead connection, bytes without content (pings) mean a stall. The total time
 * is bounded by neither.
 *
 * Invariants
 * 1. Only time in which this process could have read counts: what a stopped process missed may be in its sockets.
 * 2. After a sleep of the machine a connection has a short while to show that it is alive; after a stop of the process
 *    only one over which nothing has come yet, such as a look whether the provider is back.
 * 3. One timer for all requests, and no timer without requests.
 */
import { ModelError } from '../schema/errors.ts';

export interface WatchLimits {
  /** No byte for this long, before the answer or within it, ends the attempt. */
  silentMs: number;
  /** Bytes but no content for this long end it too. Long thinking sends only pings. */
  stalledMs: number;
}

export const DEFAULT_WATCH: WatchLimits = { silentMs: 90_000, stalledMs: 600_000 };

export interface WatchedRequest {
  /** How many bytes have come over its connection so far; only changes matter. */
  bytesRead(): number;
  /** Ends the attempt. */
  fail(error: ModelError): void;
  /** Told when there has been no content for a while, and when there is again. */
  onQuiet?: ((isQuiet: boolean) => void) | undefined;
}

export interface Watching {
  /** Content has come. Cheap: the watch looks at it later. */
  heard(): void;
  end(): void;
}

/** Both in milliseconds. Their difference changes when the machine sleeps or its clock is set. */
export interface WatchTime {
  steady(): number;
  wall(): number;
}

const SYSTEM_TIME: WatchTime = { steady: () => performance.now(), wall: () => Date.now() };
const LONGEST_INTERVAL_MS = 2_500;
const LEAST_INTERVAL_MS = 5;
/** No content for this long is shown to people. */
const QUIET_MS = 10_000;
const SLEPT_MS = 10_000;
const AFTER_SLEEP_MS = 10_000;

interface Entry {
  readonly request: WatchedRequest;
  bytes: number;
  byteAt: number;
  contentAt: number;
  heard: boolean;
  /** Something of the answer has come. */
  hasBegun: boolean;
  isQuiet: boolean;
}

export class ConnectionWatch {
  readonly #limits: WatchLimits;
  readonly #time: WatchTime;
  readonly #intervalMs: number;
  readonly #entries = new Set<Entry>();
  #timer: NodeJS.Timeout | null = null;
  #lookedAt = 0;
  #wallAt = 0;

  constructor(limits: WatchLimits, time: WatchTime = SYSTEM_TIME) {
    this.#limits = limits;
    this.#time = time;
    const shortest = Math.min(limits.silentMs, limits.stalledMs) / 4;
    this.#intervalMs = Math.max(LEAST_INTERVAL_MS, Math.min(LONGEST_INTERVAL_MS, shortest));
  }

  begin(request: WatchedRequest): Watching {
    const now = this.#time.steady();
    const entry: Entry = {
      ...{ request, bytes: -1, byteAt: now, contentAt: now },
      ...{ heard: false, hasBegun: false, isQuiet: false },
    };
    this.#entries.add(entry);
    this.#start(now);
    return {
      heard() {
        entry.heard = true;
      },
      end: () => {
        this.#entries.delete(entry);
        if (this.#entries.size === 0) this.#stop();
      },
    };
  }

  /** Called by the timer. */
  look(): void {
    const now = this.#time.steady();
    const wall = this.#time.wall();
    const passed = now - this.#lookedAt;
    const sleptMs = wall - this.#wallAt - passed;
    const missedMs = passed > 3 * this.#intervalMs ? passed - this.#intervalMs : 0;
    this.#lookedAt = now;
    this.#wallAt = wall;
    for (const entry of this.#entries) {
      entry.byteAt += missedMs;
      entry.contentAt += missedMs;
      this.#update(entry, now);
      if (sleptMs > SLEPT_MS || (missedMs > SLEPT_MS && !entry.hasBegun)) this.#doubt(entry, now);
      this.#judge(entry, now);
    }
  }

  #start(now: number): void {
    if (this.#timer !== null) return;
    this.#lookedAt = now;
    this.#wallAt = this.#time.wall();
    this.#timer = setInterval(() => this.look(), this.#intervalMs);
    this.#timer.unref();
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #update(entry: Entry, now: number): void {
    const bytes = entry.request.bytesRead();
    if (bytes !== entry.bytes) {
      if (entry.bytes !== -1) entry.hasBegun = true;
      entry.bytes = bytes;
      entry.byteAt = now;
    }
    if (entry.heard) {
      entry.contentAt = now;
      entry.hasBegun = true;
    }
    entry.heard = false;
  }

  #doubt(entry: Entry, now: number): void {
    entry.byteAt = Math.min(entry.byteAt, now - this.#limits.silentMs + AFTER_SLEEP_MS);
  }

  #judge(entry: Entry, now: number): void {
    const { silentMs, stalledMs } = this.#limits;
    const isQuiet = now - entry.contentAt >= QUIET_MS;
    if (isQuiet !== entry.isQuiet) {
      entry.isQuiet = isQuiet;
      entry.request.onQuiet?.(isQuiet);
    }
    if (now - entry.byteAt >= silentMs) this.#fail(entry, silence(silentMs));
    else if (now - entry.contentAt >= stalledMs) this.#fail(entry, stall(stalledMs));
  }

  #fail(entry: Entry, error: ModelError): void {
    this.#entries.delete(entry);
    entry.request.fail(error);
  }
}

function silence(ms: number): ModelError {
  const message = `the provider sent nothing for ${ms / 1000} s (limits.silenceSeconds)`;
  return new ModelError('timeout', 'retryable', message);
}

function stall(ms: number): ModelError {
  const message = `the provider sent no content for ${ms / 1000} s, only signs of life (limits.stallSeconds)`;
  return new ModelError('stalled', 'retryable', message);
}
