import { byEffort, byTokens, requireEffort } from '../../model/thinking.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import type { Effort } from '../../schema/status.ts';
import type { OtherRules } from '../../settings/other-tools/other-tools.ts';
import type { Settings } from '../../settings/settings.ts';

/** What the settings files amount to, and what the user should know of them. */
export interface SettingsInForce {
  settings: Settings;
  notices: readonly string[];
  /** Rules of other tools' settings, which only narrow. */
  others?: readonly OtherRules[];
}

/** How the main agent thinks (RES-9). */
interface ThinkingOptions {
  thinking?: ThinkingConfig;
  effort?: Effort;
}

/** Null when the caller says nothing: a resumed session keeps its own. */
export function thinkingFrom({ thinking, effort }: ThinkingOptions): ThinkingConfig | null {
  if (thinking?.type === 'enabled') return byTokens(thinking.budget_tokens);
  if (thinking?.type === 'adaptive' && thinking.effort !== undefined) requireEffort(thinking.effort);
  return thinking ?? (effort === undefined ? null : byEffort(requireEffort(effort)));
}

/** Of a session that does not exist yet: what the caller says, else the settings. */
export function newSessionThinking({
  thinking,
  settings,
}: {
  thinking: ThinkingConfig | null;
  settings: Settings;
}): ThinkingConfig | null {
  if (thinking !== null) return thinking;
  if (settings.thinking !== undefined) return byTokens(settings.thinking);
  return settings.effort === undefined ? null : byEffort(settings.effort);
}
