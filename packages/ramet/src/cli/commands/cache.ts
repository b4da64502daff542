/** `ramet cache explain`: what requests read from the cache, why no more, and what that cost (FORK-8). */

import { UserMistake } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { pricesInForce } from '../../sdk/calls/settings-report.ts';
import type { AgentOverview } from '../../sdk/index.ts';
import { findPlace } from '../../sdk/place.ts';
import { purposeOf } from '../../views/agent-label.ts';
import { type CacheExplanation, cacheExplainer } from '../../views/cache/cache-explainer.ts';
import {
  explanationObject,
  explanationText,
  lossOf,
  summaryText,
} from '../../views/cache/explanation-text.ts';
import { type PastRequest, SentRequests } from '../../views/cache/sent-requests.ts';
import { type TargetView, viewTarget } from '../../views/session-target.ts';
import { tellDamage } from '../../views/session-view.ts';
import { type CommandIo, callFrom } from '../io.ts';
import { paintFields, styleFor } from '../output/painted.ts';

/** This many explanations fill any screen. */
const SCREEN = 50;

/** Of a session those requests that read less than they could have; of an agent all; or the one that is named. */
export async function explainCache(
  wanted: string | undefined,
  options: { json?: boolean },
  io: CommandIo,
): Promise<void> {
  const prices = await pricesInForce(callFrom(io));
  let session: SentRequests | undefined;
  using view = viewTarget(wanted, findPlace(io).project, (recorded, reader) => {
    session ??= new SentRequests(reader);
    session.take(recorded);
  });
  session ??= new SentRequests(view.reader);
  const asked = requestsOf(view, session.requests);
  const explain = cacheExplainer(session, prices);
  if (options.json) io.out(`${JSON.stringify(reportObject(view, asked.map(explain)))}\n`);
  else for (const text of reportTexts(view, asked, explain)) io.out(paintFields(text, styleFor(io)));
  tellDamage(view, io);
}

function isShown({ agent }: TargetView, { missed }: CacheExplanation): boolean {
  return agent !== null || missed > 0;
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

/** Screen by screen: a reader of the first does not wait for the last of thousands. */
function* reportTexts(
  view: TargetView,
  asked: readonly PastRequest[],
  explain: (request: PastRequest) => CacheExplanation,
): Iterable<string> {
  const agents = new Map(view.agents.map((agent) => [agent.id, agent]));
  const all: CacheExplanation[] = [];
  let texts: string[] = [];
  for (const request of asked) {
    const explanation = explain(request);
    all.push(explanation);
    if (isShown(view, explanation)) texts.push(explanationText(explanation, whose(agents, explanation)));
    if (texts.length < SCREEN) continue;
    yield `${texts.join('\n')}\n`;
    texts = [];
  }
  if (view.request === null) texts.push(summaryText(all));
  yield texts.join('\n');
}

function whose(agents: ReadonlyMap<AgentId, AgentOverview>, { request }: CacheExplanation): string {
  const agent = agents.get(request.agent);
  if (agent === undefined) return request.agent;
  return [agent.type, purposeOf(agent)].filter(Boolean).join(' ');
}

function reportObject(view: TargetView, all: readonly CacheExplanation[]): Record<string, unknown> {
  const { missed, extraUsd } = lossOf(all);
  return {
    session_id: view.entry.session,
    requests: all.length,
    missed_tokens: missed,
    extra_usd: extraUsd,
    explained: all.filter((one) => isShown(view, one)).map(explanationObject),
  };
}
