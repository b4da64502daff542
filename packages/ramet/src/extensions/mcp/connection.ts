/**
 * One server, for all who use it: started when it is first needed, started again after it ended, and closed by its pool.
 *
 * Invariants
 * 1. A call that may have reached a server is never made again by itself.
 * 2. A server that fails is not started again before a pause, which doubles with each failure; who asks meanwhile hears why.
 * 3. Every wait has a limit, and ends when its caller is aborted. While a person is asked, the time stands still.
 */
import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import type { Clock } from '../../schema/clock.ts';
import { Cancelled, describeError } from '../../schema/errors.ts';
import { withDeadline } from './deadline.ts';
import { noteOffer } from './known-tools.ts';
import type { Client, Transport } from './sdk-client.ts';
import type { McpServerConfig } from './server-config.ts';
import { oneLine, orAborted, progressLine, ServerFailure, seconds, wordsOf } from './server-failure.ts';
import { readOffer, type ServerOffer } from './server-offer.ts';
import { STOPPED, type StdioPlace, StdioTransport } from './stdio-transport.ts';
import { openTokens } from './token-store.ts';

const DEFAULT_START_MS = 30_000;
export const DEFAULT_CALL_MS = 300_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface ConnectionParts extends StdioPlace {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly clock: Clock;
  /** `$RAMET_HOME`, for tokens. */
  readonly home: string;
  readonly version: string;
  readonly startMs?: number | undefined;
  readonly callMs?: number | undefined;
  elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer>;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  onProgress?(line: string): void;
}

interface Running {
  readonly client: Client;
  readonly transport: Transport;
  isOver: boolean;
}

export class ServerConnection {
  readonly #parts: ConnectionParts;
  #running: Promise<Running> | null = null;
  #offer: Promise<ServerOffer> | null = null;
  #listed: ServerOffer | null = null;
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

  /** What it last offered; null before it was asked, and once that has changed. */
  get listed(): ServerOffer | null {
    return this.#listed;
  }

  /** Its tools, resources and prompts, as it last listed them. */
  async offer(signal: AbortSignal): Promise<ServerOffer> {
    const running = await this.#started(signal);
    // Everyone waits for one list: who gives up does not end it for the others.
    this.#offer ??= this.#limited(
      this.#closing.signal,
      this.#startMs,
      (own) => readOffer(running.client, own),
      'list its tools',
    );
    const listing = this.#offer;
    try {
      const offer = await orAborted(listing, signal);
      if (this.#offer === listing && this.#listed !== offer) {
        this.#listed = offer;
        noteOffer(this.#parts.home, this.#parts.config, this.#parts.cwd, offer);
      }
      return offer;
    } catch (error) {
      // A list that failed, or that its caller gave up, is asked for again.
      if (this.#offer === listing) this.#offer = null;
      throw error;
    }
  }

  async call(tool: string, input: Record<string, unknown>, options: AskOptions): Promise<CallToolResult> {
    return this.#ask(`run ${tool}`, options, ({ client }, own, touch) =>
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
    return this.#ask(`read ${uri}`, options, ({ client }, own) =>
      client.readResource({ uri }, { ...own, cacheMode: 'bypass' }),
    );
  }

  async prompt(name: string, input: Record<string, string>, options: AskOptions): Promise<GetPromptResult> {
    return this.#ask(`give the prompt ${name}`, options, ({ client }, own) =>
      client.getPrompt({ name, arguments: input }, own),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const running = await this.#running?.catch(() => null);
    await running?.client.close().catch(() => {});
    await running?.transport.close().catch(() => {});
  }

  get #startMs(): number {
    return this.#parts.config.startTimeout ?? this.#parts.startMs ?? DEFAULT_START_MS;
  }

  async #ask<Answer>(
    what: string,
    { signal }: AskOptions,
    work: (
      running: Running,
      options: { signal: AbortSignal; timeout: number },
      touch: () => void,
    ) => Promise<Answer>,
  ): Promise<Answer> {
    const running = await this.#started(signal);
    const limit = this.#parts.config.timeout ?? this.#parts.callMs ?? DEFAULT_CALL_MS;
    const answer = await this.#limited(
      signal,
      limit,
      (own, touch) => work(running, { signal: own, timeout: 2 ** 31 - 1 }, touch),
      what,
      running,
    );
    this.#failures = 0;
    return answer;
  }

  async #limited<Answer>(
    signal: AbortSignal,
    limitMs: number,
    work: (signal: AbortSignal, touch: () => void) => Promise<Answer>,
    what: string,
    running?: Running,
  ): Promise<Answer> {
    const { clock } = this.#parts;
    const isPaused = (): boolean => this.#asking > 0;
    const outcome = await withDeadline({ clock, limitMs, signal, isPaused }, work);
    if (outcome.kind === 'done') return outcome.value;
    if (outcome.kind === 'late') throw this.#failure(`did not ${what} within ${seconds(limitMs)}`);
    if (signal.aborted) throw new Cancelled();
    const ended = running?.isOver === true ? `ended while it was to ${what}${this.#why(running)}` : null;
    throw this.#failure(ended ?? `could not ${what}: ${await this.#reason(outcome.error)}`, outcome.error);
  }

  /** Starts it, or waits for the start that is under way. */
  async #started(signal: AbortSignal): Promise<Running> {
    if (signal.aborted) throw new Cancelled();
    if (this.#closing.signal.aborted) throw this.#failure('is no longer in use');
    const { clock } = this.#parts;
    const wait = this.#notBefore - clock.now();
    if (this.#running === null && wait > 0)
      throw this.#failure(`${this.#lastFailure}; it is started again in ${seconds(wait)} at the earliest`);
    this.#running ??= this.#start();
    return orAborted(this.#running, signal);
  }

  async #start(): Promise<Running> {
    const sdk = await import('./sdk-client.ts');
    const { name, cwd, version, clock } = this.#parts;
    const client = sdk.createClient({
      ...{ server: name, version, cwd },
      elicit: (question, signal) => this.#elicit(question, signal),
      onToolsChanged: () => this.#forgetOffer(),
    });
    const transport = await this.#transport();
    const running: Running = { client, transport, isOver: false };
    client.onclose = () => {
      running.isOver = true;
      this.#ended(running);
    };
    const startMs = this.#startMs;
    const outcome = await withDeadline(
      { clock, limitMs: startMs, signal: this.#closing.signal, isPaused: () => false },
      (signal) => client.connect(transport, { signal, timeout: 2 ** 31 - 1 }),
    );
    if (outcome.kind === 'done' && !running.isOver) return running;
    const why =
      outcome.kind === 'late'
        ? `did not answer within ${seconds(startMs)} of its start${wordsOf(transport)}`
        : await this.#whyNotStarted(transport, outcome.kind === 'failed' ? outcome.error : null);
    this.#countFailure(why);
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    throw this.#failure(why);
  }

  async #transport(): Promise<Transport> {
    const { config, home } = this.#parts;
    if (config.type === 'stdio') return new StdioTransport(config, this.#parts);
    const [{ httpTransport }, { oauthProvider }] = await Promise.all([
      import('./sdk-client.ts'),
      import('./login.ts'),
    ]);
    const hasToken = Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization');
    return httpTransport(config, hasToken ? undefined : oauthProvider(openTokens(home, config.url)));
  }

  #forgetOffer(): void {
    this.#offer = null;
    this.#listed = null;
  }

  /** Its process or its connection is gone: the next who asks starts it again, after the pause. */
  #ended(running: Running): void {
    this.#forgetOffer();
    this.#running = null;
    if (!this.#closing.signal.aborted) this.#countFailure(`ended${this.#why(running)}`);
  }

  /** The first failure costs no pause: a server that has crashed once is there again for the next call. */
  #countFailure(why: string): void {
    const { clock } = this.#parts;
    this.#running = null;
    this.#lastFailure = why;
    this.#failures += 1;
    const pause = this.#failures < 2 ? 0 : FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 2, 10);
    this.#notBefore = clock.now() + Math.min(pause, LONGEST_PAUSE_MS);
  }

  async #whyNotStarted(transport: Transport, error: unknown): Promise<string> {
    // A program that ends breaks the line first: how it ended says more.
    if (transport instanceof StdioTransport) await transport.soonEnded();
    if (transport instanceof StdioTransport && transport.ended !== null && transport.ended !== STOPPED)
      return `did not start: ${transport.ended}${wordsOf(transport)}`;
    return `did not start: ${await this.#reason(error)}${wordsOf(transport)}`;
  }

  async #reason(error: unknown): Promise<string> {
    const { isLoginRefused } = await import('./sdk-client.ts');
    const { LoginNeeded } = await import('./login.ts');
    const refused = [error, error instanceof Error ? error.cause : null].some(
      (one) => isLoginRefused(one) || one instanceof LoginNeeded,
    );
    if (refused) return `it needs a login: run ramet mcp login ${this.name}, or give a header Authorization`;
    return oneLine(describeError(error));
  }

  #why({ transport }: Running): string {
    const how =
      transport instanceof StdioTransport ? (transport.ended ?? 'it was lost') : 'the connection was lost';
    return `: ${how}${wordsOf(transport)}`;
  }

  async #elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer> {
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
