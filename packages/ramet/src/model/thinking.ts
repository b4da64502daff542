/**
 * How much a model is to think (RES-9). Who asks says an effort or a number of tokens; what a request carries is the form
 * that its model takes. A model of which nothing is known gets what was asked for.
 */
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import { EFFORTS, type Effort } from '../schema/status.ts';
import { findModel } from './catalog.ts';

/** What an effort amounts to where a model counts tokens, and the room that an answer gets for it. */
const EFFORT_TOKENS: Readonly<Record<Effort, number>> = {
  low: 4_000,
  medium: 10_000,
  high: 20_000,
  max: 32_000,
};

/** The least that the API takes. */
const FEWEST_TOKENS = 1_024;
/** What a routine agent may think at most: a child for which nobody chose an effort. */
const ROUTINE_TOKENS = 10_000;
const ROUTINE_EFFORT: Effort = 'medium';
/** What is left for the answer itself where thinking could take all that a model writes. */
const ANSWER_TOKENS = 4_000;
/** Of an answer with thinking, from a model whose limit is not known. */
const USUAL_OUTPUT = 64_000;

/** For callers that no compiler checks. */
export function requireEffort(text: string): Effort {
  const known = EFFORTS.find((effort) => effort === text);
  if (known !== undefined) return known;
  throw new UserMistake(
    'bad_effort',
    `there is no effort ${JSON.stringify(text)}: give ${EFFORTS.join(', ')}`,
  );
}

export function byEffort(effort: Effort): ThinkingConfig {
  return { type: 'adaptive', effort };
}

export function byTokens(tokens: number): ThinkingConfig {
  if (Number.isSafeInteger(tokens) && tokens >= FEWEST_TOKENS)
    return { type: 'enabled', budget_tokens: tokens };
  throw new UserMistake(
    'bad_thinking',
    `thinking takes a whole number of at least ${FEWEST_TOKENS} tokens, not ${tokens}`,
  );
}

/** The smallest effort that amounts to so many tokens. */
export function effortOf(tokens: number): Effort {
  return EFFORTS.find((effort) => EFFORT_TOKENS[effort] >= tokens) ?? 'max';
}

/** In the form that the model takes; null for one that does not think. */
export function fitThinking(wanted: ThinkingConfig | null, model: string): ThinkingConfig | null {
  const { thinking: form, mostOutput = Number.POSITIVE_INFINITY } = findModel(model) ?? {};
  if (wanted === null || form === 'none') return null;
  if (wanted.type === 'disabled') return wanted;
  if (wanted.type === 'adaptive' && form !== 'budget') return wanted;
  const tokens =
    wanted.type === 'enabled' ? wanted.budget_tokens : EFFORT_TOKENS[wanted.effort ?? ROUTINE_EFFORT];
  if (form === 'effort') return byEffort(effortOf(tokens));
  return { type: 'enabled', budget_tokens: Math.min(tokens, mostOutput - ANSWER_TOKENS) };
}

/** What is to be said where a model does not think as it was asked to; null where it does. */
export function thinkingNote(wanted: ThinkingConfig | null, model: string): string | null {
  if (wanted === null || wanted.type === 'disabled') return null;
  const fitted = fitThinking(wanted, model);
  if (fitted === null) return `the model ${model} does not think: effort and thinking have no effect on it`;
  if (wanted.type !== 'enabled' || fitted.type === 'disabled') return null;
  if (fitted.type === 'adaptive')
    return `the model ${model} takes no number of tokens for thinking: it gets the effort ${fitted.effort}`;
  if (fitted.budget_tokens === wanted.budget_tokens) return null;
  return `the model ${model} cannot think ${wanted.budget_tokens} tokens: it gets ${fitted.budget_tokens}`;
}

/** As much of it as a routine agent may have. */
export function routineThinking(inherited: ThinkingConfig | null): ThinkingConfig | null {
  if (inherited === null || inherited.type === 'disabled') return inherited;
  if (inherited.type === 'enabled')
    return { type: 'enabled', budget_tokens: Math.min(inherited.budget_tokens, ROUTINE_TOKENS) };
  return inherited.effort === 'low' ? inherited : byEffort(ROUTINE_EFFORT);
}

/** Tokens of an answer, with room for what is thought before it: the API wants more than the thinking may take. */
export function withThinkingRoom(
  maxTokens: number,
  { thinking, model }: { readonly thinking: ThinkingConfig | null; readonly model: string },
): number {
  const room = tokensOf(thinking);
  if (room === 0) return maxTokens;
  const most = findModel(model)?.mostOutput ?? Math.max(USUAL_OUTPUT, maxTokens, room + ANSWER_TOKENS);
  return Math.min(maxTokens + room, most);
}

function tokensOf(thinking: ThinkingConfig | null): number {
  if (thinking?.type === 'enabled') return thinking.budget_tokens;
  return thinking?.type === 'adaptive' && thinking.effort !== undefined ? EFFORT_TOKENS[thinking.effort] : 0;
}
