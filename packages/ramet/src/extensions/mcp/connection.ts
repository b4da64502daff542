/**
 * One server, for all who use it: started when it is first needed, started again after it ended, and closed by its pool.
 *
 * Invariants
 * 1. A call that may have reached a server is never made again by itself, and its caller is told.
 * 2. A server that fails is not started again before a pause, which doubles with each failure; who asks meanwhile hears why.
 * 3. Every wait has a limit, and ends when its caller is aborted. While a person is asked, the time stands still.
 * 4. At most one process of it runs: a start that failed has ended before the next begins.
 */
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import { Cancelled } from '../../schema/errors.ts';
import { withDeadline } from './deadline.ts';
import { noteOffer } from './known-tools.ts';
import { orAborted, progressLine, ServerFailure, seconds, wordsOf } from './server-failure.ts';
import { readOffer, type ServerOffer } from './server-offer.ts';
import { type RunningServer, reasonOf, type StartTerms, startServer, stopServer } from './server-start.ts';
import { StdioTransport } from './stdio-transport.ts';

const DEFAULT_START_MS = 30_000;
export const DEFAULT_CALL_MS = 300_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Of one server at a time; a person answers them one by one. */
const MOST_QUESTIONS = 10;

export interface ConnectionParts extends Omit<StartTerms, 'startMs' | 'signal' | 'onToolsChanged'> {
  readonly startMs?: number | undefined;
  readonly callMs?: number | undefined;
  /** It starts after this: the end of a server with the same configuration. */
  readonly after?: Promise<unknown> | undefined;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  onProgress?(line: string): void;
}

type Work<Answer> = (
  running: RunningServer,
  options: { signal: AbortSignal; timeout: number },
  touch: () => void,
) => Promise<Answer>;

interface Limits {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** What it is to do, for messages. */
  readonly what: string;
  /** It may change something. */
  readonly isCall?: boolean;
}

export class ServerConnection {
  readonly #parts: ConnectionParts;
  #running: Promise<RunningServer> | null = null;
  #offer: Promise<ServerOffer> | null = null;
  #listed: ServerOffer | null = null;
  /** The list that is read now, or was read last: the next waits for its end. */
  #reading: Promise<unknown> = Promise.resolve();
  /** It was started, and has not ended. */
  #isUp = false;
  #failures = 0;
  #notBefore = 0;
  #lastFailure = '';
  readonly #closing = new AbortController();
  /** Questions to a person that are open. */
  #asking = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  /** As it was last seen: `pending` before its first start, `failed` until it starts again. */
  get standing(): 'pending' | 'connected' | 'failed' {
    if (this.#isUp) return 'connected';
    return this.#lastFailure === '' ? 'pending' : 'failed';
  }

  /** What it last offered; null before it was asked, and once that has changed. */
  get listed(): ServerOffer | null {
    return this.#listed;
  }

  /** Its tools, resources and prompts, as it last listed them. */
  async offer(signal: AbortSignal): Promise<ServerOffer> {
    const running = await this.#started(signal);
    // Everyone waits for one list: who gives up does not end it for the others.
    this.#offer ??= this.#list(running);
    return orAborted(this.#offer, signal);
  }

  #list(running: RunningServer): Promise<ServerOffer> {
    const limits = { signal: this.#closing.signal, limitMs: this.#startMs, what: 'list its tools' };
    const { home, config, cwd } = this.#parts;
    // Looked at when the answer is there: by then it may have been said that something changed.
    const isNewest = (): boolean => this.#offer === listing;
    const before = this.#reading;
    const listing = (async () => {
      await before;
      try {
        const offer = await this.#limited(running, limits, (server, { signal }) => readOffer(server, signal));
        if (isNewest()) {
          this.#listed = offer;
          noteOffer(home, config, cwd, offer);
        }
        return offer;
      } catch (error) {
        if (isNewest()) this.#offer = null;
        throw error;
      }
    })();
    this.#reading = listing.catch(() => {});
    return listing;
  }

  async call(tool: string, input: Record<string, unknown>, options: AskOptions): Promise<CallToolResult> {
    return this.#ask({ what: `run ${tool}`, isCall: true }, options, ({ client }, own, touch) =>
      client.callTool(
        { name: tool, arguments: input },
        {
          ...own,
          onprogress: ({ progress, total, message }) => {
            touch();
            options.onProgress?.(progressLine(progress, total, message));
          },
        },
      ),
    );
  }

  async readResource(uri: string, options: AskOptions): Promise<ReadResourceResult> {
    return this.#ask({ what: `read ${uri}` }, options, ({ client }, own) =>
      client.readResource({ uri }, { ...own, cacheMode: 'bypass' }),
    );
  }

  async prompt(name: string, input: Record<string, string>, options: AskOptions): Promise<GetPromptResult> {
    return this.#ask({ what: `give the prompt ${name}` }, options, ({ client }, own) =>
      client.getPrompt({ name, arguments: input }, own),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const running = await this.#running?.catch(() => null);
    if (running != null) await stopServer(running);
  }

  get #startMs(): number {
    return this.#parts.config.startTimeout ?? this.#parts.startMs ?? DEFAULT_START_MS;
  }

  async #ask<Answer>(
    about: Pick<Limits, 'what' | 'isCall'>,
    { signal }: AskOptions,
    work: Work<Answer>,
  ): Promise<Answer> {
    const limitMs = this.#parts.config.timeout ?? this.#parts.callMs ?? DEFAULT_CALL_MS;
    const limits = { ...about, signal, limitMs };
    const answer = await this.#limited(await this.#started(signal), limits, work);
    this.#failures = 0;
    return answer;
  }

  async #limited<Answer>(running: RunningServer, limits: Limits, work: Work<Answer>): Promise<Answer> {
    const { signal, limitMs, what, isCall } = limits;
    const terms = { clock: this.#parts.clock, limitMs, signal, isPaused: () => this.#asking > 0 };
    const outcome = await withDeadline(terms, (own, touch) =>
      work(running, { signal: own, timeout: 2 ** 31 - 1 }, touch),
    );
    if (outcome.kind === 'done') return outcome.value;
    const effect = isCall ? '; the call may have taken effect' : '';
    if (outcome.kind === 'late')
      throw this.#failure(`did not ${what} within ${seconds(limitMs)}${effect}${running.whatHangs()}`);
    if (signal.aborted) throw new Cancelled();
    const { error } = outcome;
    const { failureKind } = await import('./sdk-client.ts');
    const kind = failureKind(error, running.transport);
    if (running.isOver && kind !== 'forgotten')
      throw this.#failure(`ended while it was to ${what}: ${this.#end(running)}${effect}`, error);
    const reason = await reasonOf(this.#parts, error);
    // What is left of it cannot be used: the next who asks connects again.
    if (kind !== 'refused') await this.#drop(running, reason);
    // It does not know the session any more, and has done nothing.
    if (kind === 'forgotten') return this.#limited(await this.#started(signal), limits, work);
    throw this.#failure(`could not ${what}: ${reason}${kind === 'lost' ? effect : ''}`, error);
  }

  /** Starts it, or waits for the start that is under way. */
  async #started(signal: AbortSignal): Promise<RunningServer> {
    if (signal.aborted) throw new Cancelled();
    if (this.#closing.signal.aborted) throw this.#failure('is no longer in use');
    const wait = this.#notBefore - this.#parts.clock.now();
    if (this.#running === null && wait > 0)
      throw this.#failure(`${this.#lastFailure}; it is started again in ${seconds(wait)} at the earliest`);
    this.#running ??= this.#start();
    return orAborted(this.#running, signal);
  }

  async #start(): Promise<RunningServer> {
    await this.#parts.after;
    try {
      const running = await startServer({
        ...this.#parts,
        startMs: this.#startMs,
        signal: this.#closing.signal,
        elicit: (question, signal) => this.#elicit(question, signal),
        onToolsChanged: () => this.#forgetOffer(),
      });
      running.onEnd = () => {
        if (!this.#closing.signal.aborted) this.#countFailure(`ended: ${this.#end(running)}`);
      };
      this.#isUp = true;
      if (running.isOver) running.onEnd();
      return running;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#countFailure(why);
      throw this.#failure(why);
    }
  }

  /** The first failure costs no pause: a server that has crashed once is there again for the next call. */
  #countFailure(why: string): void {
    this.#forgetOffer();
    this.#isUp = false;
    this.#running = null;
    this.#lastFailure = why;
    this.#failures += 1;
    const pause = this.#failures < 2 ? 0 : FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 2, 10);
    this.#notBefore = this.#parts.clock.now() + Math.min(pause, LONGEST_PAUSE_MS);
  }

  /** Ends a connection that no longer works; those who wait on it hear it. */
  async #drop(running: RunningServer, why: string): Promise<void> {
    if (running.isOver) return;
    running.isOver = true;
    running.onEnd = () => {};
    this.#countFailure(`ended: ${why}`);
    await stopServer(running);
  }

  #forgetOffer(): void {
    this.#offer = null;
    this.#listed = null;
  }

  #end({ transport, givenUp }: RunningServer): string {
    const how =
      transport instanceof StdioTransport
        ? (transport.ended ?? 'it was lost')
        : (givenUp ?? 'the connection was lost');
    return `${how}${wordsOf(transport)}`;
  }

  async #elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer> {
    if (this.#asking >= MOST_QUESTIONS) return { action: 'cancel' };
    this.#asking += 1;
    try {
      return await this.#parts.elicit(question, signal);
    } finally {
      this.#asking -= 1;
    }
  }

  #failure(what: string, cause?: unknown): ServerFailure {
    return new ServerFailure(`the MCP server ${this.name} ${what}`, { cause });
  }
}
