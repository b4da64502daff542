/** `ramet cache explain`: what requests read from the cache, why no more, and what that cost (FORK-8). */

import type { AgentId } from '../../schema/ids.ts';
import { askedRequests, cacheReport, isWorthTelling } from '../../sdk/calls/explain-cache.ts';
import type { AgentOverview } from '../../sdk/index.ts';
import { purposeOf } from '../../views/agent-label.ts';
import type { CacheExplanation } from '../../views/cache/cache-explainer.ts';
import { explanationText, summaryText } from '../../views/cache/explanation-text.ts';
import type { PastRequest } from '../../views/cache/sent-requests.ts';
import { jsonLine } from '../../views/json-spelling.ts';
import type { TargetView } from '../../views/session-target.ts';
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
  using found = await askedRequests(wanted, callFrom(io));
  const { view, asked, explain } = found;
  if (options.json) {
    const { session, ...report } = cacheReport(found);
    io.out(jsonLine({ session_id: session, ...report }));
  } else for (const text of reportTexts(view, asked, explain)) io.out(paintFields(text, styleFor(io)));
  tellDamage(view, io);
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
    if (isWorthTelling(view, explanation))
      texts.push(explanationText(explanation, whose(agents, explanation)));
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
