/**
 * Chooses what to say to a request: the first rule that matches (which may name the recipe model), else the hook, else
 * a loud refusal.
 */
import { recipeStopReason } from '../model/recipe/recipe.ts';
import { answerRecipe } from '../model/recipe/recipe-answer.ts';
import { describeError } from '../schema/errors.ts';
import { describeIssues } from '../schema/zod.ts';
import { type Answer, answerSchema } from './answer.ts';
import { badRequest } from './api-error.ts';
import type { EmulatorState } from './emulator-state.ts';
import type { Exchange } from './exchange.ts';
import { type Fault, replacesAnswer } from './fault.ts';
import { type Latency, withLatency } from './latency.ts';
import type { RequestView } from './request-view.ts';
import { fillTemplate } from './scenario.ts';

export interface Reply {
  /** Undefined when no rule matched: the hook is to be asked. */
  answer: Answer | undefined;
  fault: Fault | undefined;
  latency: Latency;
  headers: Readonly<Record<string, string>>;
}

export function prewarmReply({ latency }: EmulatorState): Reply {
  return { answer: { content: [], stop_reason: 'max_tokens' }, fault: undefined, latency, headers: {} };
}

/** Does not wait for anything: the cache must be read when the request arrives, not when a hook is done. */
export function chooseReply(state: EmulatorState, exchange: Exchange, view: RequestView): Reply {
  const hookFault = state.fault?.(view);
  // A request broken by the hook will come again, so it does not use up a rule.
  const index = state.player.take(view, { fire: hookFault === undefined });
  const rule = index === undefined ? undefined : state.rules[index];
  if (index !== undefined) exchange.record.rule = index + 1;
  const fault = hookFault ?? rule?.fault;
  const silent = fault !== undefined && replacesAnswer(fault);
  const answer = rule?.respond ?? (silent ? { content: [] } : undefined);
  return {
    answer: answer && fillTemplate(answer, view),
    fault,
    latency: withLatency(state.latency, rule?.latency),
    headers: rule?.headers ?? {},
  };
}

/** What has to be waited for: the recipe model where the rule says so, else the hook. */
export async function askHook(state: EmulatorState, exchange: Exchange, view: RequestView): Promise<Answer> {
  const { rule } = exchange.record;
  if (rule !== undefined && state.rules[rule - 1]?.recipe) return recipeReply(view);
  let answer: Answer | undefined;
  try {
    answer = await state.respond?.(view);
  } catch (error) {
    throw unmatched(state, exchange, view, `the respond hook failed: ${describeError(error)}`);
  }
  if (answer === undefined) throw unmatched(state, exchange, view);
  const { error } = answerSchema.safeParse(answer);
  if (error !== undefined)
    throw unmatched(state, exchange, view, `the respond hook gave no answer: ${describeIssues(error)}`);
  return answer;
}

async function recipeReply({ request }: RequestView): Promise<Answer> {
  const answer = await answerRecipe(request);
  return { text: answer.text, tool_use: answer.calls, stop_reason: recipeStopReason(answer) };
}

export function unmatched(
  state: EmulatorState,
  exchange: Exchange,
  view: RequestView,
  reason?: string,
): Error {
  const { model } = view.request;
  const problem = reason ?? `no rule answers this request; ${state.player.describe()}`;
  const asked = `model ${model}, ${view.isFork ? 'fork ' : ''}turn ${view.turn}, last message ${JSON.stringify(view.last.slice(-300))}`;
  const message = `emulator: ${problem}; asked: ${asked}`;
  exchange.record.outcome = 'unmatched';
  state.unmatched.push({ model, turn: view.turn, last: view.last, message });
  return badRequest(message);
}
