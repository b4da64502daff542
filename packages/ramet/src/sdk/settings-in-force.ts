import type { OtherRules } from '../extensions/other-tools/other-tools.ts';
import type { Settings } from '../extensions/settings/settings.ts';

/** What the settings files amount to, and what the user should know of them. */
export interface SettingsInForce {
  settings: Settings;
  notices: readonly string[];
  /** Rules of other tools' settings, which only narrow. */
  others?: readonly OtherRules[];
}
