/** Starts one server, or says in one line why it does not start. A start that fails leaves nothing behind. */
import type { ElicitedAnswer, ElicitedQuestion } from '../../permission/broker.ts';
import type { Clock } from '../../schema/clock.ts';
import { withDeadline } from './deadline.ts';
import { ListSieve } from './list-sieve.ts';
import type { Client, Transport } from './sdk-client.ts';
import type { McpServerConfig } from './server-config.ts';
import {
  describeCause,
  RenewalFailed,
  renewalAdvice,
  ServerFailure,
  seconds,
  wordsOf,
} from './server-failure.ts';
import type { SessionAuth } from './session-auth.ts';
import { FLOOD, FloodWatch } from './stdio-line.ts';
import { STOPPED, type StdioPlace, StdioTransport } from './stdio-transport.ts';
import { openTokens } from './token-store.ts';

export interface StartTerms extends StdioPlace {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly clock: Clock;
  /** `$RAMET_HOME`, for tokens. */
  readonly home: string;
  readonly version: string;
  readonly startMs: number;
  readonly signal: AbortSignal;
  elicit(question: ElicitedQuestion, signal: AbortSignal): Promise<ElicitedAnswer>;
  onToolsChanged(): void;
}

export interface RunningServer {
  readonly client: Client;
  readonly transport: Transport;
  readonly sieve: ListSieve;
  isOver: boolean;
  /** Why it was given up; null where it ended by itself. */
  givenUp: string | null;
  /** What follows a line that its time is over: what the renewal of its login waits for, if one is under way. */
  whatHangs(): string;
  /** Its process or its connection is gone. */
  onEnd(): void;
}

export async function startServer(terms: StartTerms): Promise<RunningServer> {
  const sdk = await import('./sdk-client.ts');
  const { name, cwd, version, clock, startMs } = terms;
  const { elicit, onToolsChanged } = terms;
  const isHttp = terms.config.type !== 'stdio';
  const client = sdk.createClient({ server: name, version, cwd, isHttp, elicit, onToolsChanged });
  const { transport, auth } = await transportOf(terms);
  const sieve = new ListSieve({ problem: sdk.listProblem, isContent: sdk.isContent });
  const whatHangs = (): string => {
    const awaited = auth?.awaited() ?? null;
    return awaited === null ? '' : `: ${awaited}${renewalAdvice(name)}`;
  };
  const running: RunningServer = {
    client,
    transport,
    sieve,
    isOver: false,
    givenUp: null,
    whatHangs,
    onEnd() {},
  };
  client.onclose = () => {
    // It comes once more where the transport is closed again.
    if (running.isOver) return;
    running.isOver = true;
    running.onEnd();
  };
  const outcome = await withDeadline(
    { clock, limitMs: startMs, signal: terms.signal, isPaused: () => false },
    (signal) => client.connect(transport, { signal, timeout: 2 ** 31 - 1 }),
  );
  if (outcome.kind === 'done' && !running.isOver) {
    sieve.attach(transport);
    if (isHttp) giveUpFloods(running);
    return running;
  }
  const why =
    outcome.kind === 'late'
      ? `did not answer within ${seconds(startMs)} of its start${wordsOf(transport)}${whatHangs()}`
      : await whyNotStarted(terms, transport, outcome.kind === 'failed' ? outcome.error : null);
  await stopServer(running);
  throw new ServerFailure(why);
}

/** What a program writes is read in `stdio-line.ts`, which does the same. */
function giveUpFloods(running: RunningServer): void {
  const { transport } = running;
  const flood = new FloodWatch();
  const hear = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (running.givenUp !== null) return;
    flood.sees(message);
    if (!flood.isFlood) return hear?.(message, extra);
    running.givenUp = FLOOD;
    void stopServer(running);
  };
}

/** Resolves when nothing of it is left. */
export async function stopServer({ client, transport }: RunningServer): Promise<void> {
  const { endSession } = await import('./sdk-client.ts');
  await endSession(transport);
  await client.close().catch(() => {});
  await transport.close().catch(() => {});
}

async function transportOf(terms: StartTerms): Promise<{ transport: Transport; auth?: SessionAuth }> {
  const { config, home, clock } = terms;
  if (config.type === 'stdio') return { transport: new StdioTransport(config, terms) };
  const [{ httpTransport }, { sessionAuth }] = await Promise.all([
    import('./sdk-client.ts'),
    import('./session-auth.ts'),
  ]);
  if (hasToken(config.headers)) return { transport: httpTransport(config, undefined) };
  const auth = sessionAuth(openTokens(home, config.url, clock), { clock });
  return { transport: httpTransport(config, auth), auth };
}

async function whyNotStarted(terms: StartTerms, transport: Transport, error: unknown): Promise<string> {
  const { isAnswer } = await import('./sdk-client.ts');
  // The client hangs up then, and the program ends as it should.
  if (isAnswer(error)) return `did not start: ${await reasonOf(terms, error)}${wordsOf(transport)}`;
  // A program that ends breaks the line first: how it ended says more.
  if (transport instanceof StdioTransport) await transport.soonEnded();
  if (transport instanceof StdioTransport && transport.ended !== null && transport.ended !== STOPPED)
    return `did not start: ${transport.ended}${wordsOf(transport)}`;
  return `did not start: ${await reasonOf(terms, error)}${wordsOf(transport)}`;
}

/** An error of the SDK in words for a person. */
export async function reasonOf(
  { name, config }: Pick<StartTerms, 'name' | 'config'>,
  error: unknown,
): Promise<string> {
  const { isLoginRefused, redirectWords } = await import('./sdk-client.ts');
  if (error instanceof RenewalFailed) return `${describeCause(error)}${renewalAdvice(name)}`;
  const redirect = config.type === 'stdio' ? null : redirectWords(error, config.url);
  if (redirect !== null) return redirect;
  if (!isLoginRefused(error)) return describeCause(error);
  return config.type !== 'stdio' && hasToken(config.headers)
    ? 'it refuses the header Authorization: check the token'
    : `it needs a login: run ramet mcp login ${name}, or give a header Authorization`;
}

function hasToken(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
}
