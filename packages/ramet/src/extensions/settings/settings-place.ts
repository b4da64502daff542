import type { TrustPlace } from '../../workspace/trust.ts';

/** Where settings are looked for: `root` is the repository's, or the directory the session works in. */
export interface SettingsPlace extends TrustPlace {
  /** What `~` stands for in rules. */
  userHome: string | null;
}
