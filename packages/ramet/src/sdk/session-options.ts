/** What a caller of `openSession` may set; everything has a default. */
import { type HookEntry, readHooks } from '../extensions/hooks/hook-config.ts';
import type { PriceTable } from '../model/prices.ts';
import type { ModelProvider } from '../model/provider.ts';
import type { RetryPolicy } from '../model/rate/retry.ts';
import type { PermissionBroker } from '../permission/broker.ts';
import type { RuleTexts } from '../permission/policy.ts';
import type { Clock } from '../schema/clock.ts';
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import type { BudgetLimits, Effort, LaunchMode, SessionMode } from '../schema/status.ts';
import type { AgentSettings, Settings } from '../settings/settings.ts';
import type { AgentTypeOptions } from './agent-types/code-types.ts';
import type { McpServerOptions, SessionHookOptions } from './mcp/extension-options.ts';
import type { OwnTool } from './own-tools/own-tool.ts';
import type { AnswerServer, DecideToolCall } from './session/deciding-broker.ts';
import type { RecordListener } from './session/event-bus.ts';

export interface SessionOptions {
  /** Where the agent works. Default: the current directory. */
  cwd?: string;
  /** Where settings and keys come from. Default: the process's environment. */
  env?: NodeJS.ProcessEnv;
  /** A model id or a tier: `haiku`, `sonnet` (default), `opus`; `recipe` is the default without a key. */
  model?: string;
  /** Continues with this model when the first one stays unavailable. */
  fallbackModel?: string;
  /** How hard the main agent thinks; children for which nobody chooses think no more than 10,000 tokens. */
  effort?: Effort;
  /** The same in the API's words; it comes before `effort`, and the model gets the form that it takes. */
  thinking?: ThinkingConfig;
  maxTurns?: number;
  /** Most output tokens of one response. */
  maxTokens?: number;
  budget?: BudgetLimits;
  /** Caps on agents that models ask for; see the setting `agents`. */
  agents?: AgentSettings;
  permissionMode?: SessionMode;
  /** Instead of the main agent's system prompt. A resumed session keeps the one it began with. */
  systemPrompt?: string;
  /** After the main agent's system prompt. A resumed session keeps it too. */
  appendSystemPrompt?: string;
  /** The agent type that the main agent is of: its prompt, tools, limits and model. A resumed session keeps its type. */
  agent?: string;
  /** Names of the built-in tools that there are, for all agents; an empty list for none. Default: all. */
  builtInTools?: readonly string[];
  /** Agent types by name, as in definition files; they come before files of the same name. */
  agentTypes?: Readonly<Record<string, AgentTypeOptions>>;
  /** Functions, or commands as in settings, that run at events: docs/hooks.md. */
  hooks?: SessionHookOptions;
  /** Tools of the caller, made by `tool()`: fixed for the session, in this order, after the built-in ones. */
  tools?: readonly OwnTool[];
  /**
   * Whether children start together: always (`parallel`), never on a cold prefix (`staggered`), or as it pays (`auto`).
   */
  launch?: LaunchMode;
  /** The share of the context window, above 0 and at most 1, from which on a conversation is compacted (0.8). */
  compactionThreshold?: number;
  /** In tokens, for a model whose window is not known or to be used in part only. */
  contextWindow?: number;
  /** Rules such as `Bash(npm test:*)`; one that cannot be read or could never match is a mistake. */
  permissions?: RuleTexts;
  /** Answers questions about permission. Without one they are denied. */
  broker?: PermissionBroker;
  /** Decides what rules and mode leave open, instead of a broker. A throw is a denial. */
  canUseTool?: DecideToolCall;
  /** Answers questions of MCP servers to the person. Without it, and when it throws, they are declined. */
  elicit?: AnswerServer;
  /**
   * Works in the git worktree of that name: made, or entered again; true for a new one of any name. A session that is
   * resumed is in its own.
   */
  worktree?: string | true;
  /** Where a new worktree of the session begins: a commit, branch, tag, or `pr/123`. */
  worktreeBase?: string;
  /**
   * The session leads a team of this name; true for a name of Ramet's choice, false for none whatever the setting
   * `agents.team` says. A session that is resumed keeps its team.
   */
  team?: string | boolean;
  /** The main agent coordinates workers in four phases and changes nothing itself. A resumed session keeps what it is. */
  coordinator?: boolean;
  /** Folders of plugins, besides those that settings name. */
  plugins?: readonly string[];
  /** A session of `operate`, or true for the run here: the main agent of a new session watches it. */
  operatorTools?: string | true;
  /** What lists call a new session. */
  title?: string;
  /** A session's id, a unique beginning of one, or `latest`. */
  resume?: string;
  /** The id of a new session: eight of the digits and small letters without i, l, o and u, such as `a1b2c3d4`. */
  sessionId?: string;
  /** With `resume`: a new session that begins with the conversation of that one, which stays as it is. */
  forkSession?: boolean;
  /** What `SessionStart` hooks read of a new session: `clear` where a person begins again. */
  startSource?: 'startup' | 'clear';
  /** With `resume`: a person says that a writer who cannot be seen from here (another machine) has ended. */
  takeOver?: boolean;
  provider?: ModelProvider;
  prices?: PriceTable;
  retry?: Partial<RetryPolicy>;
  clock?: Clock;
  /** Told of every event that this process records, in order, with the agent it is of. */
  onRecord?: RecordListener;
  /** A person is there: a provider that is away is waited for without end, unless a setting says how long. */
  attended?: boolean;
  /** It is no conversation of a person: what looks for the latest session, or for an interrupted one, passes over it. */
  housekeeping?: boolean;
  /** Work between prompts: docs/background.md. Default: where a person is there, or settings say so. */
  background?: boolean;
  /**
   * Asks for prompts that the user may want to send next, and gets them after a turn, the likeliest first; an empty list once they are
   * of no use. Nothing is sent by itself.
   */
  onSuggestions?: (suggestions: readonly string[]) => void;
  /**
   * MCP servers by name, written as in `.mcp.json`. They come before those of settings and files, which count too unless
   * `strictMcpServers` is set.
   */
  mcpServers?: McpServerOptions;
  /** Directories besides `cwd`: `acceptEdits` holds for their files, too, also when the session is resumed. */
  additionalDirectories?: readonly string[];
  /** Files like `.mcp.json`, or their JSON. */
  mcpConfig?: readonly string[];
  strictMcpServers?: boolean;
  /** Instead of the settings files; false for none. What is named above comes first either way. */
  settings?: Settings | false;
}

/** What those who need it read as it was given. */
export type PassedOptions = Pick<
  SessionOptions,
  | 'mcpServers'
  | 'mcpConfig'
  | 'strictMcpServers'
  | 'additionalDirectories'
  | 'agent'
  | 'sessionId'
  | 'builtInTools'
  | 'coordinator'
  | 'attended'
  | 'housekeeping'
  | 'background'
  | 'onSuggestions'
>;

export function passedOn(options: SessionOptions): PassedOptions {
  const { mcpServers, mcpConfig, strictMcpServers, agent, builtInTools, additionalDirectories } = options;
  const { coordinator, attended, housekeeping, background, onSuggestions, sessionId } = options;
  return {
    ...(mcpServers && { mcpServers }),
    ...(mcpConfig && { mcpConfig }),
    ...(strictMcpServers && { strictMcpServers }),
    ...(additionalDirectories && { additionalDirectories }),
    ...(agent !== undefined && { agent }),
    ...(sessionId !== undefined && { sessionId }),
    ...(builtInTools && { builtInTools }),
    ...{ ...(coordinator && { coordinator }), ...(attended && { attended }) },
    ...(housekeeping && { housekeeping }),
    ...(background !== undefined && { background }),
    ...(onSuggestions && { onSuggestions }),
  };
}

/** Hooks of a program are functions, or commands as in settings. What is wrong with them is a mistake of the program. */
export function ownHooks(value: SessionOptions['hooks']): HookEntry[] {
  if (value === undefined) return [];
  const source = { label: 'the options', isCode: true } as const;
  const [problem] = readHooks(value, source).unused;
  if (problem !== undefined)
    throw new UserMistake('bad_argument', `openSession: the option hooks: ${problem}`);
  return [{ value, source }];
}

/** Only a session that does nothing else leads a team because of the setting. */
export function teamOf(
  { team, coordinator, operatorTools }: SessionOptions,
  { agents }: Settings,
): string | true | null {
  if (team !== undefined) return team === false ? null : team;
  return agents?.team === true && coordinator !== true && operatorTools === undefined ? true : null;
}
