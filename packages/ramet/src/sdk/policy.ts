/**
 * What the machine's managed policy forbids (EXT-1). What a caller asks for by name is refused with a reason; what a
 * file merely sets is left out, and `ramet settings` says why.
 */
import { isEmbedded, MODEL_TIERS, resolveModel } from '../model/catalog.ts';
import type { ModelProvider } from '../model/provider.ts';
import type { ClosedWays } from '../permission/policy.ts';
import { UserMistake } from '../schema/errors.ts';
import type { SessionMode } from '../schema/status.ts';
import { POLICY_RULES } from '../settings/setting-value.ts';
import type { Settings } from '../settings/settings.ts';
import type { SessionOptions } from './session-options.ts';

export function refuseByPolicy(options: SessionOptions, { policy }: Settings): void {
  const { permissionMode, mcpServers = {}, mcpConfig = [] } = options;
  if (permissionMode === 'bypassPermissions' && policy?.bypassPermissions === false) throw noBypass();
  const given = mcpConfig.length > 0 ? '--mcp-config' : 'mcpServers';
  if (policy?.mcpServers === 'managed' && (mcpConfig.length > 0 || Object.keys(mcpServers).length > 0))
    throw new UserMistake(
      'policy',
      `managed policy of this machine allows only its own MCP servers: leave ${given} out`,
    );
}

export function noBypass(): UserMistake {
  return new UserMistake(
    'policy',
    'managed policy of this machine, or disableBypassPermissionsMode in a file that ramet settings names, forbids the permission mode bypassPermissions: choose another',
  );
}

/** Rules of the caller that do not count. */
export function ignoredRules({ permissions }: SessionOptions, { policy }: Settings): string[] {
  const { allow = [] } = permissions ?? {};
  if (policy?.allowRules !== 'managed' || allow.length === 0) return [];
  return [`permissions.allow (--allowedTools): ignored, ${POLICY_RULES}: ${allow.join(', ')}`];
}

/** What a denial must not advise. */
export function closedWays({ policy }: Settings): ClosedWays | undefined {
  const closed = { rules: policy?.allowRules === 'managed', bypass: policy?.bypassPermissions === false };
  return closed.rules || closed.bypass ? closed : undefined;
}

/** The widest mode of a session, and so of all its agents; null where no policy says so. */
export function widestMode({ settings }: { readonly settings: Settings }): SessionMode | null {
  return settings.policy?.bypassPermissions === false ? 'acceptEdits' : null;
}

interface ModelContext {
  readonly settings: Settings;
  readonly providerName: string;
}

/** The embedded model calls nobody, so no policy is about it. */
export function refuseForbiddenModel(model: string, { settings, providerName }: ModelContext): void {
  const allowed = settings.policy?.models;
  if (allowed === undefined || isEmbedded(model)) return;
  const isMeant = (pattern: string): boolean => {
    if (pattern.includes('*')) return matchesPattern(model, pattern);
    const isTier = MODEL_TIERS.some((tier) => tier === pattern);
    return model === (isTier ? meantBy(pattern, providerName, settings) : pattern);
  };
  if (allowed.some(isMeant)) return;
  throw new UserMistake(
    'policy',
    `managed policy of this machine forbids the model ${model}: it allows ${allowed.join(', ')}`,
  );
}

/** What a tier means by itself or by managed settings, whatever variables say; null where it means nothing, as for a server that has its own names. */
function meantBy(tier: string, provider: string, { models }: Settings): string | null {
  try {
    return resolveModel(tier, {}, provider, models);
  } catch {
    return null;
  }
}

/** A provider may serve one model only: naming another one is an error, not a silent change. Policy speaks first. */
export function refuseUnservedModel(model: string, provider: ModelProvider, policy: ModelContext): void {
  refuseForbiddenModel(model, policy);
  if (provider.onlyModel === undefined || model === provider.onlyModel) return;
  throw new UserMistake(
    'no_provider',
    `no provider for the model ${model}: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own (\`ramet emulate\` starts one)`,
  );
}

function matchesPattern(model: string, pattern: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`).test(model);
}
