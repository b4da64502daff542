/** What requests of a session read from the cache, why no more, and what that cost (FORK-8). */
import { UserMistake } from '../../schema/errors.ts';
import { type CacheExplanation, cacheExplainer } from '../../views/cache/cache-explainer.ts';
import { type ExplainedRequest, explainedRequest, lossOf } from '../../views/cache/explanation-text.ts';
import { type PastRequest, SentRequests } from '../../views/cache/sent-requests.ts';
import { type TargetView, viewTarget } from '../../views/session-target.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';
import { pricesInForce } from './settings-report.ts';

export interface AskedRequests extends Disposable {
  readonly view: TargetView;
  readonly asked: readonly PastRequest[];
  explain(request: PastRequest): CacheExplanation;
}

/** Of a session, of an agent, or the one request that is named. */
export async function askedRequests(
  wanted: string | undefined,
  options: CallOptions = {},
): Promise<AskedRequests> {
  const prices = await pricesInForce(options);
  let session: SentRequests | undefined;
  const view = viewTarget(wanted, findPlace(callerOf(options)).project, (recorded, reader) => {
    session ??= new SentRequests(reader);
    session.take(recorded);
  });
  session ??= new SentRequests(view.reader);
  return {
    view,
    asked: requestsOf(view, session.requests),
    explain: cacheExplainer(session, prices),
    [Symbol.dispose]: () => view[Symbol.dispose](),
  };
}

/** Of a session only what read less than it could have. */
export function isWorthTelling({ agent }: TargetView, { missed }: CacheExplanation): boolean {
  return agent !== null || missed > 0;
}

export interface CacheReport {
  session: string;
  requests: number;
  missedTokens: number;
  /** Null when a price is unknown. */
  extraUsd: number | null;
  /** Of a session those that read less than they could have; of an agent all. */
  explained: ExplainedRequest[];
}

export async function explainCache(
  wanted: string | undefined,
  options: CallOptions = {},
): Promise<CacheReport> {
  using found = await askedRequests(wanted, options);
  return cacheReport(found);
}

export function cacheReport({ view, asked, explain }: AskedRequests): CacheReport {
  const all = asked.map(explain);
  const { missed, extraUsd } = lossOf(all);
  return {
    session: view.entry.session,
    requests: all.length,
    missedTokens: missed,
    extraUsd,
    explained: all.filter((one) => isWorthTelling(view, one)).map(explainedRequest),
  };
}

function requestsOf({ agent, request }: TargetView, requests: readonly PastRequest[]): PastRequest[] {
  if (agent === null) return [...requests];
  const own = requests.filter((sent) => sent.agent === agent);
  if (request === null) return own;
  const found = own.find(({ id }) => id === `${agent}/${request}`);
  if (found !== undefined) return [found];
  const [first, last] = [own.at(0)?.id, own.at(-1)?.id];
  const has =
    first === undefined
      ? 'it has sent none yet'
      : first === last
        ? `it sent ${first}`
        : `it sent ${first} to ${last}`;
  throw new UserMistake(
    'request_unknown',
    `there is no request ${agent}/${request} of agent ${agent}: ${has}`,
  );
}
