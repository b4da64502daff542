/** Where settings are looked for, and what decides whether the folder's own count in full (SEC-1). */
export interface SettingsPlace {
  /** `$RAMET_HOME`. */
  home: string;
  /** The repository's root; outside of one the directory the session works in. */
  root: string;
  /** What `~` stands for in rules. */
  userHome: string | null;
}

/** No folder is trusted as long as there is no store of trusted folders to ask. */
export function isRepositoryTrusted(_place: SettingsPlace): boolean {
  return false;
}
