/**
 * How much a model is to think (RES-9). Who asks says an effort or a number of tokens; what a request carries is the
 * form that its model takes. A model of which nothing is known gets what was asked for.
 */
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import { EFFORTS, type Effort } from '../schema/status.ts';
import { grouped } from '../schema/usage.ts';
import { findModel } from './catalog.ts';
import type { ModelProvider } from './provider.ts';

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
const LEAST_EFFORT: Effort = 'low';
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
    `thinking takes a whole number of at least ${FEWEST_TOKENS} tokens${tokens === undefined ? ': give budget_tokens' : `, not ${tokens}`}`,
  );
}

/** The largest effort that amounts to no more than `tokens`, or the least there is. */
function effortOf(tokens: number): Effort {
  return EFFORTS.findLast((effort) => EFFORT_TOKENS[effort] <= tokens) ?? LEAST_EFFORT;
}

/**
 * In the form that the model takes; null for one that does not think. One that always thinks is asked for the least.
 */
export function fitThinking(wanted: ThinkingConfig | null, model: string): ThinkingConfig | null {
  const { thinking: form, alwaysThinks, mostOutput = Number.POSITIVE_INFINITY } = findModel(model) ?? {};
  if (wanted === null || form === 'none') return null;
  if (wanted.type === 'disabled') return alwaysThinks ? byEffort(LEAST_EFFORT) : wanted;
  if (wanted.type === 'adaptive' && form !== 'budget') return wanted;
  const tokens =
    wanted.type === 'enabled' ? wanted.budget_tokens : EFFORT_TOKENS[wanted.effort ?? ROUTINE_EFFORT];
  if (form === 'effort') return byEffort(effortOf(tokens));
  return { type: 'enabled', budget_tokens: Math.min(tokens, mostOutput - ANSWER_TOKENS) };
}

/** What is to be said where a model does not think as it was asked to; null where it does. */
export function thinkingNote(
  wanted: ThinkingConfig | null,
  model: string,
  { name, effortOnly }: Pick<ModelProvider, 'name' | 'effortOnly'> = { name: 'anthropic' },
): string | null {
  const fitted = fitThinking(wanted, model);
  if (wanted === null) return null;
  if (wanted.type === 'disabled')
    return fitted?.type === 'adaptive'
      ? `the model ${model} always thinks: it gets the effort ${fitted.effort}, the least there is`
      : null;
  if (fitted === null) return `the model ${model} does not think: effort and thinking have no effect on it`;
  if (effortOnly === true) return effortNote(fitted, name);
  if (wanted.type !== 'enabled' || fitted.type === 'disabled') return null;
  if (fitted.type === 'adaptive') return noNumber(`the model ${model}`, fitted.effort ?? ROUTINE_EFFORT);
  if (fitted.budget_tokens === wanted.budget_tokens) return null;
  return `the model ${model} cannot think ${wanted.budget_tokens} tokens: it gets ${fitted.budget_tokens}`;
}

/** For a provider that takes an effort only, up to high. */
function effortNote(fitted: ThinkingConfig, provider: string): string | null {
  if (fitted.type === 'enabled')
    return noNumber(`the ${provider} provider`, chatEffort(fitted.budget_tokens));
  return fitted.type === 'adaptive' && fitted.effort === 'max'
    ? `the ${provider} provider has no effort max: the model gets high`
    : null;
}

function noNumber(who: string, effort: Effort): string {
  const about = `about ${grouped(EFFORT_TOKENS[effort])} tokens`;
  return `${who} takes no number of tokens for thinking: it gets the effort ${effort} (${about}), which is no exact limit`;
}

/** An effort, or the effort that a number of tokens amounts to, in the words of chat completions. */
export function chatEffort(wanted: Effort | number): Exclude<Effort, 'max'> {
  const effort = typeof wanted === 'number' ? effortOf(wanted) : wanted;
  return effort === 'max' ? 'high' : effort;
}

/**
 * As much of it as a routine agent may have on this model: one that thinks unasked is told to think no more than that.
 */
export function routineThinking(inherited: ThinkingConfig | null, model: string): ThinkingConfig | null {
  if (inherited === null) return thinksTooMuchUnasked(model) ? byEffort(ROUTINE_EFFORT) : null;
  if (inherited.type === 'disabled') return inherited;
  if (inherited.type === 'enabled')
    return { type: 'enabled', budget_tokens: Math.min(inherited.budget_tokens, ROUTINE_TOKENS) };
  return inherited.effort === 'low' ? inherited : byEffort(ROUTINE_EFFORT);
}

function thinksTooMuchUnasked(model: string): boolean {
  const { alwaysThinks, defaultEffort } = findModel(model) ?? {};
  return alwaysThinks === true && defaultEffort !== ROUTINE_EFFORT && defaultEffort !== LEAST_EFFORT;
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

/** How the main agent thinks (RES-9). */
interface ThinkingOptions {
  thinking?: ThinkingConfig;
  effort?: Effort;
}

/** Null when the caller says nothing: a resumed session keeps its own. */
export function thinkingFrom({ thinking, effort }: ThinkingOptions): ThinkingConfig | null {
  if (thinking !== undefined) return requireThinking(thinking);
  return effort === undefined ? null : byEffort(requireEffort(effort));
}

const THINKING_FORMS =
  "give { type: 'enabled', budget_tokens: 4000 }, { type: 'adaptive', effort: 'high' } or { type: 'disabled' }";

/** For callers that no compiler checks: a field that the type does not have would go unheard. */
function requireThinking({ type, ...more }: ThinkingConfig): ThinkingConfig {
  const { effort, budget_tokens: tokens } = more as { effort?: Effort; budget_tokens?: number }; // a union has the fields of one only
  const wrong = (what: string): UserMistake =>
    new UserMistake('bad_thinking', `thinking ${what}: ${THINKING_FORMS}`);
  if (type === undefined) throw wrong('has no type');
  if (type !== 'adaptive' && effort !== undefined) throw wrong(`of the type ${type} has no effort`);
  if (type !== 'enabled' && tokens !== undefined) throw wrong(`of the type ${type} has no budget_tokens`);
  switch (type) {
    case 'enabled':
      return byTokens(tokens as number); // it says what is wrong with another value
    case 'adaptive':
      return effort === undefined ? { type } : byEffort(requireEffort(effort));
    default:
      return { type };
  }
}

/** Of a session that does not exist yet: what the caller says, else the settings. */
export function newSessionThinking({
  thinking,
  settings,
}: {
  thinking: ThinkingConfig | null;
  settings: { readonly thinking?: number | undefined; readonly effort?: Effort | undefined };
}): ThinkingConfig | null {
  if (thinking !== null) return thinking;
  if (settings.thinking !== undefined) return byTokens(settings.thinking);
  return settings.effort === undefined ? null : byEffort(settings.effort);
}
