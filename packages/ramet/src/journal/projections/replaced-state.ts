/**
 * What happens to an agent's state when its conversation is replaced as a whole: by a summary, by what it was before an
 * earlier prompt, by that of another session. What the agent knows besides the messages stays, or comes with them.
 */
import type { EventOf, TakenOver } from '../../schema/events.ts';
import type { SessionId } from '../../schema/ids.ts';
import { entriesOf, itemsOf, listOf, mapOf } from '../../system/persistent.ts';
import { type AgentState, newAgentState, type StateMessage } from './agent-state.ts';

type Replaced = EventOf<'conversation.replaced'>;

export function replacedState(state: AgentState, event: Replaced): AgentState {
  const { cause, messages, tokens } = event;
  return {
    ...state,
    ...(cause === 'rewind' && rewound(state, event)),
    inherited: null,
    messages: listOf(messages.map((message) => ({ ...message, cause: 'replaced' }))),
    replacements: state.replacements + 1,
    answeredBreakpoints: [],
    measured: tokens === undefined ? null : { tokens, messages: messages.length },
    compactFromTokens: cause === 'compaction' ? 0 : state.compactFromTokens,
    ...(event.takes && broughtBy(event.takes)),
  };
}

/** What was being done belongs to what is taken back. */
function rewound(state: AgentState, { prompts = 0, seen }: Replaced): Partial<AgentState> {
  const { openStop, calls, results, unanswered } = newAgentState(state.agent);
  return {
    ...{ prompts: listOf(itemsOf(state.prompts).slice(0, prompts)), openStop, calls, results, unanswered },
    seen: seen === undefined ? state.seen : mapOf(seen.map(({ path, version }) => [path, version])),
  };
}

/** What the main agent of a new session takes over from this one of session `from`, with its messages. */
export function takenOver(state: AgentState, from: SessionId): TakenOver {
  const { prompts, sources, touched, calls, answeredBreakpoints, answeredAt } = state;
  return {
    from,
    prompts: itemsOf(prompts).map(({ role, blocks, shared, typed }) => ({
      ...{ role, blocks: [...blocks], shared },
      ...(typed && { typed }),
    })),
    sources: [...sources],
    touched: Array.from(entriesOf(touched), ([path, how]) => ({ path, how })),
    calls: [...entriesOf(calls).keys()],
    breakpoints: [...answeredBreakpoints],
    answeredAt,
  };
}

function broughtBy({
  prompts,
  sources,
  touched,
  calls,
  breakpoints,
  answeredAt,
}: TakenOver): Partial<AgentState> {
  return {
    prompts: listOf(prompts.map((prompt): StateMessage => ({ ...prompt, cause: 'prompt' }))),
    sources,
    touched: mapOf(touched.map(({ path, how }) => [path, how])),
    calls: mapOf(calls.map((call) => [call, true])),
    answeredBreakpoints: breakpoints,
    answeredAt,
  };
}
