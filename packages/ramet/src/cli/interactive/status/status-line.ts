/**
 * The status line that a command supplies. It is run when something it could show has changed, never twice at once and
 * at most every 300 ms; the usual figures stand there until it has answered, and when it fails.
 */
import { type Clock, elapsedOf, systemClock } from '../../../schema/clock.ts';
import { runStatusCommand, type StatusLineCommand } from '../../../sdk/calls/status-command.ts';

export interface StatusLineParts {
  readonly setting: StatusLineCommand;
  readonly env: NodeJS.ProcessEnv;
  cwd(): string;
  /** What the command is told, as JSON. */
  input(): object;
  size(): { readonly columns: number; readonly rows: number };
  /** Another line is to be shown. */
  changed(): void;
  /** Told once, however often it fails. */
  warn(line: string): void;
  readonly clock?: Clock;
}

const PAUSE_MS = 300;
const AFTER_FAILURE_MS = 10_000;

export class StatusLine implements Disposable {
  readonly #parts: StatusLineParts;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #lines: readonly string[] | null = null;
  #isStale = false;
  #isAtWork = false;
  #hasWarned = false;

  constructor(parts: StatusLineParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
  }

  /** As the command wrote them; null where the figures are to stand. */
  get lines(): readonly string[] | null {
    return this.#lines;
  }

  /** Something has happened that it may show. */
  touch(): void {
    this.#isStale = true;
    if (!this.#isAtWork) void this.#work();
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    this.#isAtWork = true;
    // Who touches it may be drawing.
    await this.#clock.sleep(0);
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      const start = elapsedOf(this.#clock);
      const hasFailed = await this.#run(signal);
      const pause = hasFailed ? AFTER_FAILURE_MS : PAUSE_MS - (elapsedOf(this.#clock) - start);
      await this.#clock.sleep(pause, signal, { keepsAlive: false });
    }
    this.#isAtWork = false;
  }

  async #run(signal: AbortSignal): Promise<boolean> {
    const { setting, env, size, input, cwd, changed, warn } = this.#parts;
    const outcome = await runStatusCommand({
      command: setting.command,
      whyNot: setting.whyNot,
      cwd: cwd(),
      env,
      size: size(),
      input: JSON.stringify(input()),
      signal,
      clock: this.#clock,
    });
    if (signal.aborted) return false;
    this.#lines = 'lines' in outcome ? outcome.lines : null;
    if ('problem' in outcome && !this.#hasWarned) {
      this.#hasWarned = true;
      warn(`the command of the status line failed: ${outcome.problem}; the usual line is shown`);
    }
    changed();
    return 'problem' in outcome;
  }
}
