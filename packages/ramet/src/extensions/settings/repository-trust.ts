/** Whether the user has said that what a repository brings may run and widen rights (SEC-1). */
export interface SettingsPlace {
  /** `$RAMET_HOME`. */
  home: string;
  /** The repository's root; outside of one the directory the session works in. */
  root: string;
}

/** No folder is trusted as long as there is no store of trusted folders to ask. */
export function isRepositoryTrusted(_place: SettingsPlace): boolean {
  return false;
}
