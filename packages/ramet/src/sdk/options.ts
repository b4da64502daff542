/** What the options of a session and its settings come to. */
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from '../engine/agent/agent-limits.ts';
import type { HookEntry } from '../extensions/hooks/hook-config.ts';
import type { PluginServers } from '../extensions/mcp/configured-servers.ts';
import { findModel, resolveModel, windowFromEnvironment } from '../model/catalog.ts';
import { costOf, overridePrices, PRICES, type PriceTable } from '../model/prices.ts';
import type { ModelProvider } from '../model/provider.ts';
import {
  DEFAULT_OUTAGE_SECONDS,
  DEFAULT_RETRY,
  type RetryPolicy,
  retryFromEnvironment,
} from '../model/rate/retry.ts';
import { providerKind } from '../model/select-provider.ts';
import { thinkingFrom } from '../model/thinking.ts';
import type { PermissionBroker } from '../permission/broker.ts';
import { BUBBLE_REFUSED, type RuleTexts } from '../permission/policy.ts';
import { type Clock, systemClock } from '../schema/clock.ts';
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import { type BudgetLimits, type LaunchMode, SESSION_MODES, type SessionMode } from '../schema/status.ts';
import { NO_USAGE, readBudget } from '../schema/usage.ts';
import type { AgentSettings, Settings, SettingsInForce } from '../settings/settings.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentTypeOptions, LeadRole, MainType } from './agent-types/code-types.ts';
import { toolsMade } from './own-tools/own-tool.ts';
import {
  closedWays,
  ignoredRules,
  refuseByPolicy,
  refuseForbiddenModel,
  refuseUnservedModel,
} from './policy.ts';
import { brokerOf } from './session/deciding-broker.ts';
import type { RecordListener } from './session/event-bus.ts';
import { ownHooks, type PassedOptions, passedOn, type SessionOptions, teamOf } from './session-options.ts';

export type { SessionOptions } from './session-options.ts';

/** The caps on agents of a session. */
export interface AgentCaps {
  limits: AgentLimits;
  /** How many may be at work at once, where the user has said it. */
  concurrent?: number | undefined;
  /** What all of them together may spend. */
  budget: Pick<BudgetLimits, 'usd' | 'tokens'>;
}

export interface ResolvedOptions extends SettingsInForce, PassedOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Decides what the tiers stand for. */
  providerName: string;
  /** Null when the caller named none: a resumed session keeps its own. */
  model: string | null;
  fallbackModel: string | null;
  /** Null, too, when nobody said. */
  thinking: ThinkingConfig | null;
  maxTurns: number;
  maxTokens: number;
  budget: BudgetLimits;
  /** Null, too, for what a resumed session keeps. */
  permissionMode: SessionMode | null;
  launch: LaunchMode;
  /** Whether a child that parts from its parent's prefix fails instead of warning. */
  strictPrefix: boolean;
  compactionThreshold: number | undefined;
  contextWindow: number | undefined;
  prices: PriceTable;
  retry: RetryPolicy;
  /** How long a provider that is away is waited for. */
  outageSeconds: number;
  clock: Clock;
  /** The caller's rules and those of the settings. */
  permissions: RuleTexts;
  /** The caller's alone. */
  givenRules: RuleTexts;
  broker: PermissionBroker;
  agents: AgentCaps;
  /** Folders of plugins that the caller names. */
  pluginDirs: readonly string[];
  /** The main agent's system prompt; null for its own, with what comes after it. */
  systemPrompt: string | null;
  appendSystemPrompt: string | null;
  agentTypes: Readonly<Record<string, AgentTypeOptions>>;
  /** Of all places, not read yet. */
  hooks: readonly HookEntry[];
  pluginServers?: readonly PluginServers[];
  childEnv?: Readonly<Record<string, string>>;
  /** Tools of the caller. */
  ownTools: readonly Tool[];
  /** Where the main agent is of a type. */
  mainType?: MainType;
  title: string | null;
  worktree: string | true | null;
  team: string | true | null;
  /** Where the main agent coordinates workers. */
  leadRole?: LeadRole;
  worktreeBase: string | undefined;
  onRecord: RecordListener | undefined;
  takeOver: boolean;
}

export const DEFAULT_MODEL = 'sonnet';
export const DEFAULT_PERMISSION_MODE = 'default';
export const DEFAULT_MAX_TURNS = 200;
export const DEFAULT_LAUNCH = 'auto';
export const DEFAULT_SANDBOX = 'auto';
const DEFAULT_MAX_TOKENS = 16_000;

export function resolveOptions(
  options: SessionOptions,
  inForce: SettingsInForce = { settings: {}, notices: [] },
): ResolvedOptions {
  const { settings, notices, hooks = [], others = [], managed = {} } = inForce;
  refuseByPolicy(options, settings);
  const env = options.env ?? process.env;
  const providerName = options.provider?.name ?? providerKind(env, settings.provider);
  const named = (model: string): string => resolveModel(notEmpty(model), env, providerName, settings.models);
  const permitted = (model: string): string => {
    refuseForbiddenModel(model, { settings, providerName });
    return model;
  };
  // Managed policy comes before what the caller says.
  const wantedModel = managed.model ?? options.model;
  const fallback = managed.fallbackModel ?? options.fallbackModel ?? settings.fallbackModel;
  const wantedMode = managed.permissions?.defaultMode ?? options.permissionMode;
  const ownTools = toolsMade(options.tools ?? []);
  const ownRules = settings.policy?.allowRules === 'managed';
  const given: RuleTexts = { ...options.permissions, ...(ownRules && { allow: [] }) };
  return {
    ...inForce,
    cwd: options.cwd ?? process.cwd(),
    env,
    providerName,
    model: wantedModel === undefined ? null : named(wantedModel),
    fallbackModel: fallback === undefined ? null : permitted(named(fallback)),
    thinking: thinkingFrom({ ...options, ...thinkingOf(managed) }),
    maxTurns: managed.maxTurns ?? options.maxTurns ?? settings.maxTurns ?? DEFAULT_MAX_TURNS,
    maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    budget: budgetFrom({ ...options.budget, ...managed.budget }, settings.budget),
    permissionMode: wantedMode === undefined ? null : requireSessionMode(wantedMode),
    launch: managed.launch ?? options.launch ?? settings.launch ?? DEFAULT_LAUNCH,
    strictPrefix: env.RAMET_STRICT_PREFIX === '1',
    compactionThreshold: shareOfWindow(
      managed.compaction?.threshold ?? options.compactionThreshold ?? settings.compaction?.threshold,
    ),
    contextWindow: options.contextWindow ?? windowFromEnvironment(env),
    prices: options.prices ?? overridePrices(PRICES, settings.prices ?? {}),
    retry: {
      ...DEFAULT_RETRY,
      ...(settings.retries === undefined ? {} : { maxRetries: settings.retries }),
      ...retryFromEnvironment(env),
      ...options.retry,
    },
    outageSeconds:
      settings.limits?.outageSeconds ??
      (options.attended ? Number.POSITIVE_INFINITY : DEFAULT_OUTAGE_SECONDS),
    clock: options.clock ?? systemClock,
    onRecord: options.onRecord,
    permissions: joinRuleTexts(given, settings.permissions),
    givenRules: given,
    broker: brokerOf(options.broker, options.canUseTool, options.elicit, {
      closed: closedWays(settings),
      tools: ownTools.map(({ name }) => name),
    }),
    pluginDirs: options.plugins ?? [],
    systemPrompt: options.systemPrompt ?? null,
    appendSystemPrompt: options.appendSystemPrompt ?? null,
    agentTypes: options.agentTypes ?? {},
    ownTools,
    agents: agentCaps({ ...settings.agents, ...options.agents, ...managed.agents }, settings),
    title: options.title ?? null,
    ...{
      worktree: options.worktree ?? null,
      worktreeBase: options.worktreeBase,
      team: teamOf(options, settings),
    },
    hooks: [...hooks, ...ownHooks(options.hooks)],
    takeOver: options.takeOver ?? false,
    notices: [...notices, ...ignoredRules(options, settings)],
    others,
    managed,
    ...passedOn(options),
  };
}

function thinkingOf({ effort, thinking }: Settings): Pick<SessionOptions, 'effort' | 'thinking'> {
  return {
    ...(effort !== undefined && { effort }),
    ...(thinking !== undefined && { thinking: { type: 'enabled', budget_tokens: thinking } }),
  };
}

function agentCaps(agents: AgentSettings, { maxTurns: turns, worktree }: Settings): AgentCaps {
  const { usd, tokens, stallSeconds, ...caps } = agents;
  const { stallMs } = DEFAULT_AGENT_LIMITS;
  return {
    limits: {
      depth: caps.depth ?? DEFAULT_AGENT_LIMITS.depth,
      concurrent: caps.concurrent ?? DEFAULT_AGENT_LIMITS.concurrent,
      total: caps.total ?? DEFAULT_AGENT_LIMITS.total,
      turns: turns ?? DEFAULT_AGENT_LIMITS.turns,
      stallMs: stallSeconds === undefined ? stallMs : stallSeconds * 1_000,
      reportBytes: caps.reportBytes ?? DEFAULT_AGENT_LIMITS.reportBytes,
      fork: caps.fork ?? DEFAULT_AGENT_LIMITS.fork,
      executor: caps.executor ?? DEFAULT_AGENT_LIMITS.executor,
      isolation: worktree?.default ?? DEFAULT_AGENT_LIMITS.isolation,
    },
    concurrent: caps.concurrent,
    budget: { usd, tokens },
  };
}

function budgetFrom(own: BudgetLimits = {}, configured: BudgetLimits = {}): BudgetLimits {
  const read = readBudget(own);
  if (typeof read === 'string') throw new UserMistake('bad_budget', `the option budget is wrong: ${read}`);
  return {
    usd: own.usd ?? configured.usd,
    tokens: own.tokens ?? configured.tokens,
    seconds: own.seconds ?? configured.seconds,
  };
}

function joinRuleTexts(own: RuleTexts = {}, configured: RuleTexts = {}): RuleTexts {
  return {
    allow: [...(own.allow ?? []), ...(configured.allow ?? [])],
    ask: [...(own.ask ?? []), ...(configured.ask ?? [])],
    deny: [...(own.deny ?? []), ...(configured.deny ?? [])],
  };
}

function notEmpty(model: string): string {
  if (model.trim() !== '') return model;
  throw new UserMistake(
    'no_model',
    'the name of the model is empty: give a model id, or haiku, sonnet or opus',
  );
}

function shareOfWindow(threshold: number | undefined): number | undefined {
  if (threshold === undefined || (threshold > 0 && threshold <= 1)) return threshold;
  throw new UserMistake(
    'bad_threshold',
    `compactionThreshold is ${threshold}: give a share above 0 and at most 1, such as 0.8`,
  );
}

/** The model of a session that does not exist yet. */
export function newSessionModel(
  { model, env, providerName, settings }: ResolvedOptions,
  provider: ModelProvider,
): string {
  if (model === null) {
    const wanted = settings.model ?? DEFAULT_MODEL;
    return provider.onlyModel ?? resolveModel(wanted, env, providerName, settings.models);
  }
  refuseUnservedModel(model, provider, { settings, providerName });
  return model;
}

/** The permission mode of a session that does not exist yet. */
export function newSessionMode({ permissionMode, settings }: ResolvedOptions): SessionMode {
  const mode = permissionMode ?? settings.permissions?.defaultMode ?? DEFAULT_PERMISSION_MODE;
  const isForbidden = mode === 'bypassPermissions' && settings.policy?.bypassPermissions === false;
  return isForbidden ? DEFAULT_PERMISSION_MODE : mode;
}

/** Any other name may still be one that a server knows. */
export function isListedModel(model: string): boolean {
  return findModel(model) !== undefined;
}

/** For callers that no compiler checks. `bubble` is no mode of a session: there is nobody above it to ask. */
export function requireSessionMode(mode: string): SessionMode {
  const known = SESSION_MODES.find((name) => name === mode);
  if (known !== undefined) return known;
  const reason = mode === 'bubble' ? BUBBLE_REFUSED : `there is no permission mode "${mode}"`;
  throw new UserMistake('no_mode', `${reason}; there are ${SESSION_MODES.join(', ')}`);
}

/**
 * A dollar limit on a model without a price would never bite: that is refused, not ignored. So is a model that managed
 * policy does not list.
 */
export function refuseUnenforceableBudget(model: string, options: ResolvedOptions): void {
  refuseForbiddenModel(model, options);
  const limited = options.budget.usd ?? options.agents.budget.usd;
  if (limited === undefined || costOf(model, NO_USAGE, options.prices).usd !== null) return;
  throw new UserMistake(
    'unknown_price',
    `a limit in dollars needs a price, and none is known for ${model}: choose another model, state its price in settings, or leave the limit out (--max-budget-usd, budget.usd, agents.usd)`,
  );
}
