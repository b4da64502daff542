/** What managed policy leaves out of agent types: their own hooks and servers, where it allows only those of its own. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { POLICY_HOOKS, POLICY_SERVERS } from '../../settings/setting-value.ts';

/** `managed`: only its own count. */
export interface OwnOnly {
  hooks?: 'all' | 'managed' | undefined;
  servers?: 'all' | 'managed' | undefined;
}

export interface PolicyLoss {
  readonly type: AgentDefinition;
  /** The field of its file. */
  readonly field: 'hooks' | 'mcpServers';
  readonly why: string;
}

export function policyLosses(
  types: readonly AgentDefinition[],
  { hooks, servers }: OwnOnly,
): readonly PolicyLoss[] {
  const others = types.filter(({ source }) => source !== 'managed');
  return [
    ...others
      .filter((type) => hooks === 'managed' && type.hooks !== undefined)
      .map((type) => ({ type, field: 'hooks' as const, why: POLICY_HOOKS })),
    ...others
      .filter((type) => servers === 'managed' && bringsServers(type))
      .map((type) => ({ type, field: 'mcpServers' as const, why: POLICY_SERVERS })),
  ];
}

/** A text only names a server of the session. */
function bringsServers({ mcpServers = [] }: AgentDefinition): boolean {
  return mcpServers.some((server) => typeof server !== 'string');
}

/** A line for each kind. */
export function lossLines(losses: readonly PolicyLoss[]): string[] {
  return [POLICY_HOOKS, POLICY_SERVERS].flatMap((reason) => {
    const names = losses.filter(({ why }) => why === reason).map(({ type }) => type.name);
    return names.length === 0 ? [] : [`${reason}; left out of the agent types ${names.join(', ')}`];
  });
}
