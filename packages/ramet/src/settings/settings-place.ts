import type { TrustPlace } from '../system/trust.ts';

/** Where settings are looked for: `root` is the repository's, or the directory the session works in. */
export interface SettingsPlace extends TrustPlace {
  /** What `~` stands for in rules. */
  userHome: string | null;
  /** Every folder whose settings of other tools count: the working directory first, its repository's root last. */
  folders?: readonly string[] | undefined;
}
