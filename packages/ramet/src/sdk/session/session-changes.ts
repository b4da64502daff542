/** What may be changed of a session between two prompts. Each change is recorded, so that a resumed session has it. */
import type { Agent } from '../../engine/agent/agent.ts';
import { hosted } from '../../engine/agent/hosted-agent.ts';
import { switchModel } from '../../engine/exchange/fallback.ts';
import type { SessionMode } from '../../schema/status.ts';
import {
  type ResolvedOptions,
  refuseUnenforceableBudget,
  requireSessionMode,
  resolveOptions,
} from '../options.ts';

export function changeModel(agent: Agent, name: string, settings: ResolvedOptions): void {
  const { model } = resolveOptions({ env: settings.env, model: name }, settings);
  if (model === null || model === agent.conversation.head.model) return;
  refuseUnenforceableBudget(model, settings);
  switchModel(agent, model);
}

export function changePermissionMode(agent: Agent, mode: SessionMode): void {
  agent.spec.permissionMode = requireSessionMode(mode);
  agent.record({ type: 'permission.changed', mode });
  hosted(agent).runtime.permissions.changed();
}
