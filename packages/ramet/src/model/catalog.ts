/**
 * What is known about models, as data (documentation of 2026-08-22 and later excerpts). Nothing here is measured,
 * and what no source states is left out: an absent field means unknown, and its reader decides what to do then.
 */
import { UserMistake } from '../schema/errors.ts';

export const ASSUMED_CONTEXT_WINDOW = 200_000;

export function windowFromEnvironment(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const text = env.RAMET_CONTEXT_WINDOW;
  if (text === undefined || text === '') return undefined;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new UserMistake(
    'bad_window',
    `RAMET_CONTEXT_WINDOW is not a number of tokens: ${text}; give one such as 200000`,
  );
}

/** The forms in which providers say it: the prompt alone, the prompt with its `max_tokens`, other servers' words. */
const TOO_LONG =
  /prompt is too long|exceeds? .{0,40}context|maximum context length|context_length_exceeded|exceed_context_size/i;

/** `215000 tokens > 200000 maximum`, `188000 + 16000 > 200000`, `maximum context length is 8192 tokens`. */
const STATED_WINDOW = [/> ?(\d{3,})/, /context (?:length|window|size)[^\d]{0,40}(\d{3,})/i];

/** What happens to the thinking of finished turns when a new user text arrives. */
export type ThinkingRetention = 'kept' | 'stripped';

/**
 * Where a thinking block stays valid: anywhere, only after the same prefix and on the same model, or only in the
 * account that produced it.
 */
export type ThinkingBinding = 'none' | 'conversation' | 'account';

/** How thinking is asked for: with a number of tokens, with an effort, with either; or the model does not think. */
export type ThinkingForm = 'budget' | 'effort' | 'either' | 'none';

export interface ModelFacts {
  id: string;
  /** Other names of the same model, besides its dated ones. */
  aliases?: readonly string[];
  /** The shortest prefix the provider caches, in tokens. */
  minimumCacheable?: number;
  retention?: ThinkingRetention;
  binding?: ThinkingBinding;
  thinking?: ThinkingForm;
  /** It thinks also when nobody asks for it, and cannot be told not to. */
  alwaysThinks?: true;
  /** Most tokens of one answer, thinking included. */
  mostOutput?: number;
  /** Effort in force when the request names none. */
  defaultEffort?: string;
  /** Whether a request may end with an assistant message to be continued. */
  prefill?: boolean;
  /** Whether `tool_choice` may force a call. */
  forcedToolChoice?: boolean;
  /** Whether `messages` may hold role "system". */
  systemMessages?: boolean;
  /** It is part of Ramet: it carries out prompts alone, hears nothing in between, and has no tiers. */
  embedded?: true;
  /** Most tokens of a prompt and its answer together. */
  contextWindow?: number;
  /** The month up to which its knowledge is reliable, as its maker states it (YYYY-MM). */
  knowledgeCutOff?: string;
}

/**
 * From 4.6 on a million tokens cost the same each; of Haiku 5.5 no source states the window. Thinking is asked for by
 * effort alone from 4.7 on; 4.6 takes both forms, and what came before a number of tokens only.
 */
const MILLION = { contextWindow: 1_000_000, thinking: 'effort' } as const;

const BUDGET = { thinking: 'budget', mostOutput: 64_000 } as const;
const OLDER = {
  retention: 'stripped',
  binding: 'none',
  defaultEffort: 'high',
  prefill: true,
  ...BUDGET,
} as const;
const NEWER = { retention: 'kept', binding: 'none', defaultEffort: 'high', prefill: false } as const;
const CURRENT = { binding: 'none', defaultEffort: 'high', prefill: false, systemMessages: true } as const;
const BOUND = { binding: 'conversation', prefill: false, forcedToolChoice: false } as const;

/** The embedded model (`recipe.ts`). */
export const RECIPE_MODEL = 'recipe';

export const MODELS: readonly ModelFacts[] = [
  { id: 'claude-fable-5-2', ...MILLION, alwaysThinks: true, prefill: false },
  { id: 'claude-mythos-5-2', ...MILLION, prefill: false },
  { id: 'claude-fable-5-1', ...MILLION, ...BOUND, alwaysThinks: true, knowledgeCutOff: '2026-06' },
  { id: 'claude-mythos-5-1', ...MILLION, prefill: false },
  { id: 'claude-opus-5-5', ...MILLION, ...BOUND, alwaysThinks: true, defaultEffort: 'medium' },
  { id: 'claude-sonnet-5-5', ...MILLION, ...BOUND },
  { id: 'claude-haiku-5-5', thinking: 'effort', binding: 'account', defaultEffort: 'medium', prefill: false },
  { id: 'claude-fable-5', ...MILLION, ...CURRENT, alwaysThinks: true, minimumCacheable: 512 },
  { id: 'claude-mythos-5', ...MILLION, ...CURRENT, minimumCacheable: 512 },
  {
    id: 'claude-opus-5',
    ...MILLION,
    ...NEWER,
    systemMessages: true,
    minimumCacheable: 512,
    knowledgeCutOff: '2026-05',
  },
  {
    id: 'claude-sonnet-5',
    ...MILLION,
    ...NEWER,
    systemMessages: false,
    minimumCacheable: 1024,
    knowledgeCutOff: '2026-01',
  },
  { id: 'claude-opus-4-8', ...MILLION, ...NEWER, systemMessages: true, minimumCacheable: 1024 },
  { id: 'claude-opus-4-7', ...MILLION, ...NEWER, systemMessages: false, minimumCacheable: 2048 },
  { id: 'claude-mythos-preview', thinking: 'effort', minimumCacheable: 2048 },
  {
    id: 'claude-opus-4-6',
    ...MILLION,
    ...NEWER,
    thinking: 'either',
    systemMessages: false,
    minimumCacheable: 4096,
  },
  {
    id: 'claude-sonnet-4-6',
    ...MILLION,
    ...NEWER,
    thinking: 'either',
    mostOutput: 64_000,
    systemMessages: false,
    minimumCacheable: 1024,
  },
  {
    id: 'claude-opus-4-5',
    ...NEWER,
    ...BUDGET,
    prefill: true,
    systemMessages: false,
    minimumCacheable: 4096,
  },
  { id: 'claude-sonnet-4-5', ...OLDER, systemMessages: false, minimumCacheable: 1024 },
  {
    id: 'claude-haiku-4-5',
    ...OLDER,
    systemMessages: false,
    minimumCacheable: 4096,
    knowledgeCutOff: '2025-02',
  },
  { id: 'claude-opus-4-1', ...OLDER, mostOutput: 32_000, systemMessages: false, minimumCacheable: 1024 },
  {
    id: 'claude-opus-4',
    aliases: ['claude-opus-4-0'],
    ...OLDER,
    mostOutput: 32_000,
    systemMessages: false,
    minimumCacheable: 1024,
  },
  {
    id: 'claude-sonnet-4',
    aliases: ['claude-sonnet-4-0'],
    ...OLDER,
    systemMessages: false,
    minimumCacheable: 1024,
  },
  {
    id: 'claude-3-5-haiku',
    aliases: ['claude-haiku-3-5'],
    ...OLDER,
    thinking: 'none',
    mostOutput: 8_192,
    systemMessages: false,
    minimumCacheable: 2048,
  },
  {
    id: RECIPE_MODEL,
    embedded: true,
    contextWindow: Number.POSITIVE_INFINITY,
    binding: 'none',
    thinking: 'none',
  },
];

const byName: ReadonlyMap<string, ModelFacts> = new Map(
  MODELS.flatMap((facts) => [facts.id, ...(facts.aliases ?? [])].map((name) => [name, facts] as const)),
);

export function isEmbedded(model: string): boolean {
  return findModel(model)?.embedded === true;
}

/** The facts of a model named by id, alias, or either followed by a date or `-latest`; undefined when not listed. */
export function findModel(model: string): ModelFacts | undefined {
  return byName.get(model) ?? byName.get(model.replace(/-(?:\d{8}|latest)$/, ''));
}

/** Undefined means that no source states it. */
export function minimumCacheable(model: string): number | undefined {
  return findModel(model)?.minimumCacheable;
}

export const MODEL_TIERS = ['haiku', 'sonnet', 'opus', 'fable'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];

/** The newest model of each tier whose price and minimum are both confirmed. */
const TIER_DEFAULTS: Readonly<Record<ModelTier, string>> = {
  haiku: 'claude-haiku-4-5',
  sonnet: 'claude-sonnet-5',
  opus: 'claude-opus-5',
  fable: 'claude-fable-5',
};

function isTier(name: string): name is ModelTier {
  return Object.hasOwn(TIER_DEFAULTS, name);
}

/** A tier, or a model that is listed. */
export function isKnownModel(name: string): boolean {
  return isTier(name) || findModel(name) !== undefined;
}

/**
 * The model id a name stands for. A tier is looked up in `RAMET_MODEL_<TIER>` (an empty value counts as unset),
 * then in `tiers`, then in the provider's defaults; anything else is an id already, listed or not.
 */
export function resolveModel(
  nameOrTier: string,
  env: Readonly<Record<string, string | undefined>>,
  provider = 'anthropic',
  tiers: { readonly [Tier in ModelTier]?: string | undefined } = {},
): string {
  if (!isTier(nameOrTier)) return nameOrTier;
  return env[tierVariable(nameOrTier)]?.trim() || tiers[nameOrTier] || tierDefault(nameOrTier, provider);
}

export function tierVariable(tier: ModelTier): string {
  return `RAMET_MODEL_${tier.toUpperCase()}`;
}

function tierDefault(tier: ModelTier, provider: string): string {
  if (provider !== 'openai') return TIER_DEFAULTS[tier];
  // Behind one protocol stand many servers: which models one has is not known.
  throw new UserMistake(
    'no_model',
    `which model is to be used? Name one that the openai server has with --model, or set ${tierVariable(tier)}`,
  );
}

/**
 * How much a model can take in at once, and how to recognise that it was too much. The catalogue states a window
 * where a source does; any other model is assumed to have 200,000 tokens until a refusal names the real number.
 */
export function contextWindowOf(model: string): number {
  return findModel(model)?.contextWindow ?? ASSUMED_CONTEXT_WINDOW;
}

export function isContextOverflow(message: string): boolean {
  return TOO_LONG.test(message);
}

/** The window that such a refusal names; undefined when it names none. */
export function statedContextWindow(message: string): number | undefined {
  for (const pattern of STATED_WINDOW) {
    const stated = pattern.exec(message)?.[1];
    if (stated !== undefined) return Number(stated);
  }
  return undefined;
}
