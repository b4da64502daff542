/** What a settings file may hold (EXT-1). `settings-schema.ts` checks it, docs/settings.md explains it. */
import type { WorktreeSettings } from '../git/worktrees/worktree-settings.ts';
import type { ProviderKind } from '../model/select-provider.ts';
import type { SandboxMode } from '../sandbox/command-sandbox.ts';
import type {
  BudgetLimits,
  Effort,
  ExecutorKind,
  LaunchMode,
  SessionMode,
  SettingsSource,
} from '../schema/status.ts';
import type { FormerTrust } from '../system/former-trust.ts';
import type { TrustPlace } from '../system/trust.ts';
import type { OtherRules, OtherTools, ServerLimits } from './other-tools/other-tools.ts';
import type { SettingValue } from './setting-value.ts';

/** US dollars per million tokens; what is left out keeps the price that is known, or stays unknown. */
export interface PriceSettings {
  input?: number | undefined;
  write5m?: number | undefined;
  write1h?: number | undefined;
  read?: number | undefined;
  output?: number | undefined;
}

export interface PermissionSettings {
  allow?: string[] | undefined;
  ask?: string[] | undefined;
  deny?: string[] | undefined;
  defaultMode?: SessionMode | undefined;
}

export interface TierSettings {
  haiku?: string | undefined;
  sonnet?: string | undefined;
  opus?: string | undefined;
  fable?: string | undefined;
}

/** The caps on agents that models ask for (LAUNCH-3), and how they are treated. */
export interface AgentSettings {
  depth?: number | undefined;
  concurrent?: number | undefined;
  total?: number | undefined;
  tokens?: number | undefined;
  usd?: number | undefined;
  stallSeconds?: number | undefined;
  reportBytes?: number | undefined;
  fork?: boolean | undefined;
  executor?: ExecutorKind | undefined;
  /** New sessions lead a team. */
  team?: boolean | undefined;
}

export interface LimitSettings {
  /** Requests to models under way at once, of one session. */
  concurrentRequests?: number | undefined;
  /** How long a run waits for usage limits to end before it is interrupted; without it, as long as they last. */
  waitSeconds?: number | undefined;
  /** How long a run waits for a provider that is away before it is interrupted. */
  outageSeconds?: number | undefined;
  /** A request without any byte for this long is dead and sent again. */
  silenceSeconds?: number | undefined;
  /** The same for one with signs of life but no content. */
  stallSeconds?: number | undefined;
  /** Builds and test suites of agents, and checks, at once on this machine. */
  heavyCommands?: number | undefined;
  /** More commands that count as heavy, by how they begin; with `!` before it, one that does not. */
  countAsHeavy?: string[] | undefined;
}

export interface SandboxSettings {
  /** Whether commands that were judged to only read run in a sandbox of the operating system. */
  readOnly?: SandboxMode | undefined;
  /** Whether those of agents in worktrees of their own do. */
  worktree?: SandboxMode | undefined;
  /** Sockets of services that these reach. */
  sockets?: string[] | undefined;
}

/** How `ramet merge` works where its flags say nothing. */
export interface MergeSettings {
  /** A command that must succeed on the merged files. */
  check?: string | undefined;
  /** How long it may take. */
  checkSeconds?: number | undefined;
  /** How many checks run at once on this machine, of all processes together. */
  checksAtOnce?: number | undefined;
}

/** How `ramet operate` works where its flags say nothing. */
export interface OperateDefaults {
  /** Agent types that must approve each commit. */
  review?: string[] | undefined;
  /** By role. */
  models?:
    | {
        worker?: string | undefined;
        reviewer?: string | undefined;
        resolver?: string | undefined;
        planner?: string | undefined;
      }
    | undefined;
}

/** What only the machine's managed settings may say: it holds for everybody on the machine. */
export interface PolicySettings {
  /** False: no session runs with permissions bypassed. */
  bypassPermissions?: boolean | undefined;
  /** The only models: ids, tiers, or patterns such as `claude-sonnet-*`. */
  models?: string[] | undefined;
  /** `managed`: only what managed settings and folders bring counts. */
  hooks?: PolicyScope | undefined;
  mcpServers?: PolicyScope | undefined;
  plugins?: PolicyScope | undefined;
  /** Of rules that allow. */
  allowRules?: PolicyScope | undefined;
}

export const POLICY_SCOPES = ['managed', 'all'] as const;
export type PolicyScope = (typeof POLICY_SCOPES)[number];

/** A command whose output stands below the input of an interactive session, in place of the figures. */
export interface StatusLineSettings {
  type?: 'command' | undefined;
  command?: string | undefined;
  /** Blanks before each line. */
  padding?: number | undefined;
  /** Why it must not run in a directory: files that it names are not what the user trusted. Not a setting. */
  whyNot?: ((cwd: string) => string | null) | undefined;
}

/** What sessions remember. */
export interface MemorySettings {
  /** False: nothing is read from memory, and nothing is saved by itself. */
  enabled?: boolean | undefined;
  /** When memory is tidied up in the background. */
  dream?:
    | { enabled?: boolean | undefined; hours?: number | undefined; sessions?: number | undefined }
    | undefined;
  /** False: sessions do not sync team memory by themselves. */
  sync?: boolean | undefined;
}

/** What holds where nothing is set. `costShare`: what all background work may cost, as a share of everything else. */
export const BACKGROUND_LIMITS = { costShare: 0.15, sessionUsd: 1, tryUsd: 0.25 } as const;

/** Work in the background between prompts: docs/background.md. */
export interface BackgroundSettings {
  enabled?: boolean | undefined;
  /** Also where no person is there: in `ramet -p` and the library. */
  unattended?: boolean | undefined;
  /** Facts of a conversation go to memory. */
  extractMemories?: boolean | undefined;
  /** The session takes notes for itself after a compaction, and for later ones. */
  sessionMemory?: boolean | undefined;
  /** Three prompts that may follow are suggested after a turn. */
  promptSuggestion?: boolean | undefined;
  /** One line says what a child is doing that runs for longer than `summarySeconds`. */
  agentSummaries?: boolean | undefined;
  summarySeconds?: number | undefined;
  /** After how many prompts, or new tokens, facts and notes are looked for. */
  memoryTurns?: number | undefined;
  memoryTokens?: number | undefined;
  /** What all of it may cost, as a share of everything else. */
  costShare?: number | undefined;
  speculation?: SpeculationSettings | undefined;
}

/** Work ahead of the user (BG-2); it has a budget of its own. */
export interface SpeculationSettings {
  enabled?: boolean | undefined;
  /** What all tries of a session, and what one of them, may cost. */
  sessionUsd?: number | undefined;
  tryUsd?: number | undefined;
  /** After this many tries it ends for the session if fewer than this share of them were of use. */
  tries?: number | undefined;
  leastHits?: number | undefined;
}

/** How long MCP servers may take. */
export interface McpSettings {
  startSeconds?: number | undefined;
  callSeconds?: number | undefined;
}

export interface Settings {
  $schema?: string | undefined;
  model?: string | undefined;
  fallbackModel?: string | undefined;
  effort?: Effort | undefined;
  /** In tokens; it comes before `effort`. */
  thinking?: number | undefined;
  provider?: ProviderKind | undefined;
  models?: TierSettings | undefined;
  permissions?: PermissionSettings | undefined;
  /** By model id. */
  prices?: Record<string, PriceSettings> | undefined;
  budget?: BudgetLimits | undefined;
  maxTurns?: number | undefined;
  agents?: AgentSettings | undefined;
  launch?: LaunchMode | undefined;
  limits?: LimitSettings | undefined;
  sandbox?: SandboxSettings | undefined;
  memory?: MemorySettings | undefined;
  background?: BackgroundSettings | undefined;
  compaction?: { enabled?: boolean | undefined; threshold?: number | undefined } | undefined;
  env?: { childVariables?: string[] | undefined } | undefined;
  retries?: number | undefined;
  worktree?: WorktreeSettings | undefined;
  /** How long what nobody came back for is kept. */
  cleanupPeriodDays?: number | undefined;
  /** What sessions leave is removed after this many days; if absent, never. */
  retention?: { days?: number | undefined } | undefined;
  merge?: MergeSettings | undefined;
  operate?: OperateDefaults | undefined;
  /** Folders of plugins. */
  plugins?: string[] | undefined;
  policy?: PolicySettings | undefined;
  statusLine?: StatusLineSettings | undefined;
  /** By name; each is checked when servers are read (`extensions/mcp/server-config.ts`). */
  mcpServers?: Record<string, Record<string, unknown>> | undefined;
  mcp?: McpSettings | undefined;
  /** By event; `extensions/hooks` reads them. */
  hooks?: Record<string, unknown[]> | undefined;
}

/** Where settings are looked for: `root` is the repository's, or the directory the session works in. */
export interface SettingsPlace extends TrustPlace {
  /** What `~` stands for in rules. */
  userHome: string | null;
  /** Every folder whose settings of other tools count: the working directory first, its repository's root last. */
  folders?: readonly string[] | undefined;
  /** Settings of the command line: a file, or its JSON. */
  given?: string | undefined;
  /** The files that count besides managed policy; all when absent. */
  sources?: readonly SettingsSource[] | undefined;
  /** What is found in files and would run or be loaded is left out. */
  isBare?: boolean | undefined;
  /** Folders of managed policy, the one that wins last. */
  managed?: readonly string[] | undefined;
  /** Folders here that were trusted as another repository than the one that is there. */
  former?: readonly FormerTrust[] | undefined;
  /** Whether a settings file of a trusted folder gives the rights that it gave when it was trusted. */
  isAsTrusted?: ((file: string) => Promise<boolean>) | undefined;
  /** What files of a trusted folder forbade when it was trusted, and do not forbid now. `used`: files that could be read. */
  keptLimits?: ((used: readonly string[]) => Promise<KeptLimits>) | undefined;
}

/** It stays in force. */
export type KeptLimits = Pick<OtherTools, 'rules' | 'servers' | 'forbidden' | 'problems'>;

/** Where hooks come from, and why they must not run now. */
interface HookOrigin {
  readonly label: string;
  readonly check?: ((texts: readonly string[], cwd: string) => string | null) | undefined;
}

/** What the settings files amount to, and what the user should know of them. */
export interface SettingsInForce {
  settings: Settings;
  /** Where each of `settings.mcpServers` stands. */
  serverOrigins?: readonly SettingValue[];
  /** Where each of the rules of `settings.permissions` stands. */
  ruleOrigins?: readonly { readonly list: string; readonly text: string; readonly place: string }[];
  /** Hooks of all places, not read yet. */
  hooks?: readonly { readonly value: unknown; readonly source: HookOrigin }[];
  notices: readonly string[];
  /** Rules of other tools' settings. */
  others?: readonly OtherRules[];
  /** Directories to work in besides the working directory, of other tools' settings; one that is gone does not count. */
  alsoDirectories?: readonly string[];
  /** MCP servers that other tools' settings leave out. */
  serverLimits?: readonly ServerLimits[];
  /** Variables for programs that agents start. */
  childEnv?: Readonly<Record<string, string>>;
  /** The part of the settings that managed policy sets: nothing overrides it. */
  managed?: Settings;
}
