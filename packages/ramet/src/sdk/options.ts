/** What a caller may set; everything has a default (spec section 12). */
import { resolveModel } from '../model/catalog.ts';
import { costOf, PRICES, type PriceTable } from '../model/prices.ts';
import type { ModelProvider } from '../model/provider.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../model/retry.ts';
import { denyingBroker, type PermissionBroker } from '../permission/broker.ts';
import type { RuleTexts } from '../permission/policy.ts';
import { type Clock, systemClock } from '../schema/clock.ts';
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import type { BudgetLimits, PermissionMode } from '../schema/status.ts';
import { NO_USAGE } from '../schema/usage.ts';

export interface SessionOptions {
  /** Where the agent works. Default: the current directory. */
  cwd?: string;
  /** Where settings and keys come from. Default: the process's environment. */
  env?: NodeJS.ProcessEnv;
  /** A model id or a tier: `haiku`, `sonnet` (default), `opus`. */
  model?: string;
  /** Goes on with this model when the first one stays unavailable. */
  fallbackModel?: string;
  thinking?: ThinkingConfig;
  maxTurns?: number;
  /** Most output tokens of one response. */
  maxTokens?: number;
  budget?: BudgetLimits;
  permissionMode?: PermissionMode;
  /** Rules such as `Bash(npm test:*)`; one that cannot be read or could never match is a mistake. */
  permissions?: RuleTexts;
  /** Answers questions about permission. Without one they are denied. */
  broker?: PermissionBroker;
  /** The share of the context window, above 0 and at most 1, from which on a conversation is compacted (0.8). */
  compactionThreshold?: number;
  /** In tokens, for a model whose window is not known or to be used in part only. */
  contextWindow?: number;
  /** A session's id, a unique beginning of one, or `latest`. */
  resume?: string;
  provider?: ModelProvider;
  prices?: PriceTable;
  retry?: Partial<RetryPolicy>;
  clock?: Clock;
}

export interface ResolvedOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Null when the caller named none: a resumed session keeps its own. */
  model: string | null;
  fallbackModel: string | null;
  thinking: ThinkingConfig | null;
  maxTurns: number;
  maxTokens: number;
  budget: BudgetLimits;
  /** Null, too, for what a resumed session keeps. */
  permissionMode: PermissionMode | null;
  compactionThreshold: number | undefined;
  contextWindow: number | undefined;
  prices: PriceTable;
  retry: RetryPolicy;
  clock: Clock;
  permissions: RuleTexts;
  broker: PermissionBroker;
}

const DEFAULT_MODEL = 'sonnet';
export const DEFAULT_PERMISSION_MODE = 'default';
const DEFAULT_MAX_TURNS = 200;
const DEFAULT_MAX_TOKENS = 16_000;

export function resolveOptions(options: SessionOptions): ResolvedOptions {
  const env = options.env ?? process.env;
  return {
    cwd: options.cwd ?? process.cwd(),
    env,
    model: options.model === undefined ? null : named(options.model, env),
    fallbackModel: options.fallbackModel === undefined ? null : named(options.fallbackModel, env),
    thinking: options.thinking ?? null,
    maxTurns: options.maxTurns ?? DEFAULT_MAX_TURNS,
    maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    budget: options.budget ?? {},
    permissionMode: options.permissionMode ?? null,
    compactionThreshold: shareOfWindow(options.compactionThreshold),
    contextWindow: options.contextWindow ?? windowFromEnvironment(env),
    prices: options.prices ?? PRICES,
    retry: { ...DEFAULT_RETRY, ...retryFromEnvironment(env), ...options.retry },
    clock: options.clock ?? systemClock,
    permissions: options.permissions ?? {},
    broker: options.broker ?? denyingBroker,
  };
}

function named(model: string, env: NodeJS.ProcessEnv): string {
  if (model.trim() !== '') return resolveModel(model, env);
  throw new UserMistake(
    'no_model',
    'the name of the model is empty: give a model id, or haiku, sonnet or opus',
  );
}

function retryFromEnvironment(env: NodeJS.ProcessEnv): Partial<RetryPolicy> {
  const text = env.RAMET_MAX_RETRIES;
  if (text === undefined || text === '') return {};
  if (/^\d+$/.test(text)) return { maxRetries: Number(text) };
  throw new UserMistake('bad_retries', `RAMET_MAX_RETRIES is not a whole number: ${text}`);
}

function shareOfWindow(threshold: number | undefined): number | undefined {
  if (threshold === undefined || (threshold > 0 && threshold <= 1)) return threshold;
  throw new UserMistake(
    'bad_threshold',
    `compactionThreshold is ${threshold}: give a share above 0 and at most 1, such as 0.8`,
  );
}

function windowFromEnvironment(env: NodeJS.ProcessEnv): number | undefined {
  const text = env.RAMET_CONTEXT_WINDOW;
  if (text === undefined || text === '') return undefined;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new UserMistake(
    'bad_window',
    `RAMET_CONTEXT_WINDOW is not a number of tokens: ${text}; give one such as 200000`,
  );
}

/** The model of a session that does not exist yet. */
export function newSessionModel({ model, env }: ResolvedOptions): string {
  return model ?? resolveModel(DEFAULT_MODEL, env);
}

/** A dollar limit on a model without a price would never bite: that is refused, not ignored. */
export function refuseUnenforceableBudget(model: string, options: ResolvedOptions): void {
  if (options.budget.usd === undefined || costOf(model, NO_USAGE, options.prices).usd !== null) return;
  throw new UserMistake(
    'unknown_price',
    `a limit in dollars needs a price, and none is known for ${model}: choose another model or leave --max-budget-usd out`,
  );
}
