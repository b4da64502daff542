import type { OtherRules } from '../../settings/other-tools/other-tools.ts';
import type { Settings } from '../../settings/settings.ts';

/** What the settings files amount to, and what the user should know of them. */
export interface SettingsInForce {
  settings: Settings;
  notices: readonly string[];
  /** Rules of other tools' settings, which only narrow. */
  others?: readonly OtherRules[];
}
