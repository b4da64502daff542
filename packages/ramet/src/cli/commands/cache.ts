/** `ramet cache explain`: what requests read from the cache, why no more, and what that cost (FORK-8). */
import { type CacheExplanation, cacheExplainer } from '../../engine/cache/cache-explainer.ts';
import { type PastRequest, readSentRequests } from '../../engine/cache/sent-requests.ts';
import type { AgentOverview } from '../../journal/projections/status.ts';
import { overridePrices } from '../../model/price-overrides.ts';
import { PRICES } from '../../model/prices.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { RecordedEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import { sessionSettings } from '../../sdk/session-settings.ts';
import { purposeOf } from '../agent-label.ts';
import { explanationObject, explanationText, lossOf, summaryText } from '../cache/explanation-text.ts';
import type { CommandIo } from '../io.ts';
import { type TargetView, viewTarget } from '../session-target.ts';

/** Of a session those requests that read less than they could have; of an agent all; or the one that is named. */
export async function explainCache(
  wanted: string | undefined,
  options: { json?: boolean },
  io: CommandIo,
): Promise<void> {
  const { settings } = await sessionSettings({ cwd: io.cwd, env: io.env });
  const prices = overridePrices(PRICES, settings.prices ?? {});
  const events: RecordedEvent[] = [];
  using view = viewTarget(wanted, io, (recorded) => events.push(recorded));
  const session = readSentRequests(view.reader, events);
  const asked = requestsOf(view, session.requests);
  const all = asked.map(cacheExplainer(session, prices));
  const shown = view.agent === null ? all.filter(({ missed }) => missed > 0) : all;
  if (options.json) io.out(`${JSON.stringify(reportObject(view, all, shown))}\n`);
  else io.out(reportText(view, all, shown));
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

function reportText(
  view: TargetView,
  all: readonly CacheExplanation[],
  shown: readonly CacheExplanation[],
): string {
  const agents = new Map(view.agents.map((agent) => [agent.id, agent]));
  const texts = shown.map((explanation) => explanationText(explanation, whose(agents, explanation)));
  if (view.request !== null) return texts.join('\n');
  return [...texts, summaryText(all)].join('\n');
}

function whose(agents: ReadonlyMap<AgentId, AgentOverview>, { request }: CacheExplanation): string {
  const agent = agents.get(request.agent);
  if (agent === undefined) return request.agent;
  return [agent.type, purposeOf(agent)].filter(Boolean).join(' ');
}

function reportObject(
  { entry }: TargetView,
  all: readonly CacheExplanation[],
  shown: readonly CacheExplanation[],
): Record<string, unknown> {
  const { missed, extraUsd } = lossOf(all);
  return {
    session_id: entry.session,
    requests: all.length,
    missed_tokens: missed,
    extra_usd: extraUsd,
    explained: shown.map(explanationObject),
  };
}
