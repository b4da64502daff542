/** What a user can set about worktrees (WORK-2). docs/worktrees.md explains it. */
export const DIRTY_POLICIES = ['carry', 'exclude', 'refuse'] as const;
/** What happens to uncommitted work of the asking checkout: brought along, left out, or a reason to refuse. */
export type DirtyPolicy = (typeof DIRTY_POLICIES)[number];

export const DEFAULT_ISOLATIONS = ['off', 'forks', 'writers'] as const;
/** Which agents get a worktree without asking for one: none, forks, or all that may write. */
export type DefaultIsolation = (typeof DEFAULT_ISOLATIONS)[number];

export interface WorktreeSettings {
  default?: DefaultIsolation | undefined;
  /** Where they are kept; by default `$RAMET_HOME/worktrees/<repository>`. */
  directory?: string | undefined;
  dirty?: DirtyPolicy | undefined;
  /** A commit to begin with instead of the asking checkout's. */
  base?: string | undefined;
  /** Files that git does not know and that are copied, by pattern. */
  copy?: string[] | undefined;
  symlinkDirectories?: string[] | undefined;
  sparsePaths?: string[] | undefined;
  /** Folders of installed packages that come from a template. */
  dependencies?: string[] | undefined;
  /** A shell command that makes a new worktree ready for use. */
  setup?: string | undefined;
  /** Why it must not run in a worktree: files that it names are not what the user trusted. Not a setting. */
  whyNoSetup?: ((root: string) => string | null) | undefined;
  /** Whether packages that a lock file names are installed for a merge check where nobody has them. */
  install?: boolean | undefined;
  /** Ignored files that count as work, by pattern. */
  precious?: string[] | undefined;
  /** How many clean worktrees are kept ready; by default as many as the last session used at once. */
  pool?: number | undefined;
  /** How much room those may take. */
  poolMegabytes?: number | undefined;
}

export const DEFAULT_PRECIOUS: readonly string[] = ['.env', '.env.*', '*.pem', '*.key', '*.secret'];
/** Before any session has shown how many it uses. */
export const DEFAULT_POOL = 4;
export const DEFAULT_POOL_MEGABYTES = 4_000;
export const DEFAULT_CLEANUP_DAYS = 30;
