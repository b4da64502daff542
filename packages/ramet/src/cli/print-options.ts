/** The flags of a run as they come from the parser, and the session that they ask for. */
import { resolve } from 'node:path';
import { UserMistake } from '../schema/errors.ts';
import type { Effort, ExecutorKind, LaunchMode, SessionMode } from '../schema/status.ts';
import type { SessionOptions } from '../sdk/options.ts';
import type { CommandIo } from './io.ts';
import { jsonArgument } from './json-argument.ts';

export interface PrintOptions {
  print?: boolean;
  outputFormat: 'text' | 'json' | 'stream-json';
  inputFormat?: 'text' | 'stream-json';
  includePartialMessages?: boolean;
  /** Has no effect: stream-json always has every line. */
  verbose?: boolean;
  replayUserMessages?: boolean;
  model?: string;
  fallbackModel?: string;
  effort?: Effort;
  thinking?: number;
  maxTurns?: number;
  maxBudgetUsd?: number;
  permissionMode?: SessionMode;
  launch?: LaunchMode;
  executor?: ExecutorKind;
  allowedTools?: string[];
  disallowedTools?: string[];
  mcpConfig?: string[];
  addDir?: string[];
  strictMcpConfig?: boolean;
  trust?: boolean;
  /** A file, or its JSON. */
  settings?: string;
  settingSources?: string;
  bare?: boolean;
  continue?: boolean;
  /** True where no session is named. */
  resume?: string | true;
  takeOver?: boolean;
  forkSession?: boolean;
  sessionId?: string;
  /** True where no name is given. */
  worktree?: string | true;
  worktreeBase?: string;
  team?: string | true;
  coordinator?: boolean;
  pluginDir?: string[];
  agent?: string;
  /** JSON, or a file, as `jsonSchema` is. */
  agents?: string;
  tools?: string[];
  systemPrompt?: string;
  appendSystemPrompt?: string;
  jsonSchema?: string;
  /** The run that the main agent watches: `ramet operate ask`. */
  operatorTools?: string | true;
}

export function sessionOptions(
  options: PrintOptions,
  resume: string | undefined,
  io: CommandIo,
): SessionOptions {
  const { model, fallbackModel, maxTurns, maxBudgetUsd, permissionMode, allowedTools, disallowedTools } =
    options;
  return {
    cwd: io.cwd,
    env: environmentOf(options, io),
    budget: { usd: maxBudgetUsd },
    permissions: { allow: allowedTools, deny: disallowedTools },
    ...(model === undefined ? {} : { model }),
    ...(fallbackModel === undefined ? {} : { fallbackModel }),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    ...(options.thinking === undefined
      ? {}
      : { thinking: { type: 'enabled', budget_tokens: options.thinking } }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(options.launch === undefined ? {} : { launch: options.launch }),
    ...(options.executor === undefined ? {} : { agents: { executor: options.executor } }),
    ...(resume === undefined ? {} : { resume }),
    ...(options.operatorTools === undefined ? {} : { operatorTools: options.operatorTools }),
    ...(options.pluginDir === undefined ? {} : { plugins: options.pluginDir }),
    ...(options.mcpConfig === undefined ? {} : { mcpConfig: options.mcpConfig }),
    ...(options.addDir === undefined ? {} : { additionalDirectories: options.addDir }),
    ...(options.strictMcpConfig ? { strictMcpServers: true } : {}),
    ...(options.takeOver ? { takeOver: true } : {}),
    ...(options.forkSession ? { forkSession: true } : {}),
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
    ...agentOptions(options, io),
    ...worktreeOptions(options),
    ...(options.team === undefined ? {} : { team: options.team }),
    ...(coordinates(options, resume, io) ? { coordinator: true } : {}),
  };
}

/** Flags that every part of the command has to know of are variables, for programs too. */
export function environmentOf(
  { trust, settings, settingSources, bare }: PrintOptions,
  { env, cwd }: CommandIo,
): NodeJS.ProcessEnv {
  const isFile = settings !== undefined && !settings.trimStart().startsWith('{');
  return {
    ...env,
    ...(trust && { RAMET_TRUST: '1' }),
    ...(settings !== undefined && { RAMET_SETTINGS: isFile ? resolve(cwd, settings) : settings }),
    ...(settingSources !== undefined && { RAMET_SETTING_SOURCES: settingSources }),
    ...(bare && { RAMET_BARE: '1' }),
  };
}

const COORDINATOR_MODE = 'RAMET_COORDINATOR_MODE';

/** The variable is for new sessions: one that is resumed keeps what it is. */
function coordinates(
  { coordinator, operatorTools }: PrintOptions,
  resume: string | undefined,
  { env }: CommandIo,
): boolean {
  const said = env[COORDINATOR_MODE] ?? '';
  if (!['', '0', '1'].includes(said))
    throw new UserMistake('bad_variable', `${COORDINATOR_MODE} is ${JSON.stringify(said)}: set it to 1 or 0`);
  return coordinator ?? (said === '1' && resume === undefined && operatorTools === undefined);
}

/** What other harnesses call all tools. */
const ALL_TOOLS = 'default';

function agentOptions(
  { agent, agents, tools, systemPrompt, appendSystemPrompt }: PrintOptions,
  io: CommandIo,
): Pick<SessionOptions, 'agent' | 'agentTypes' | 'builtInTools' | 'systemPrompt' | 'appendSystemPrompt'> {
  return {
    ...(agent !== undefined && { agent }),
    ...(agents !== undefined && { agentTypes: givenTypes(agents, io) }),
    ...(tools !== undefined && tools.join() !== ALL_TOOLS && { builtInTools: tools }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
  };
}

function givenTypes(text: string, io: CommandIo): NonNullable<SessionOptions['agentTypes']> {
  const given = jsonArgument('--agents', text, io.cwd);
  // What each of them is, the session checks.
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return given as NonNullable<SessionOptions['agentTypes']>;
  const what = Array.isArray(given) ? 'a list' : JSON.stringify(given);
  throw new UserMistake('bad_json', `--agents is ${what}; give an object of types by name`);
}

/** Who says where it begins wants one. */
function worktreeOptions({
  worktree,
  worktreeBase,
}: PrintOptions): Pick<SessionOptions, 'worktree' | 'worktreeBase'> {
  if (worktreeBase === undefined) return worktree === undefined ? {} : { worktree };
  return { worktree: worktree ?? true, worktreeBase };
}
