/**
 * The check of `openSession`'s options. One that nobody knows is refused: a program that misspells one would get an agent
 * with other rights than it thinks.
 */
import type { RetryPolicy } from '../model/rate/retry.ts';
import type { RuleTexts } from '../permission/policy.ts';
import type { ThinkingConfig } from '../schema/content.ts';
import { UserMistake } from '../schema/errors.ts';
import { isSessionId } from '../schema/ids.ts';
import { EFFORTS, EXECUTORS, LAUNCH_MODES } from '../schema/status.ts';
import type { AgentSettings } from '../settings/settings.ts';
import {
  ABOVE_ZERO,
  AMOUNT,
  type ArgumentKind,
  COUNT,
  checkOptions,
  DATA,
  DATA_LIST,
  FLAG,
  FUNCTION,
  fields,
  type Kinds,
  LIST,
  NAME,
  NAMES,
  NUMBER,
  OBJECT,
  oneOf,
  or,
  TEXT,
  TEXTS,
  VARIABLES,
  WHOLE,
  withMethods,
} from './calls/argument-kinds.ts';
import type { SessionOptions } from './session-options.ts';

type KeyOfUnion<Union> = Union extends unknown ? keyof Union : never;

const CAPS: Kinds<AgentSettings> = {
  ...{ depth: WHOLE, concurrent: COUNT, total: WHOLE, tokens: ABOVE_ZERO, usd: ABOVE_ZERO },
  ...{ stallSeconds: AMOUNT, reportBytes: COUNT, fork: FLAG, executor: oneOf(EXECUTORS), team: FLAG },
};
/** Which of them go together, is said where it is read. */
const THINKING: Readonly<Record<KeyOfUnion<ThinkingConfig>, ArgumentKind>> = {
  ...{ type: oneOf(['disabled', 'adaptive', 'enabled']), effort: oneOf(EFFORTS), budget_tokens: NUMBER },
};
const RETRY: Kinds<RetryPolicy> = { maxRetries: WHOLE, withinMs: AMOUNT, baseMs: AMOUNT, capMs: AMOUNT };

const SESSION_ID = {
  text: 'eight of the digits and small letters without i, l, o and u, such as a1b2c3d4',
  accepts: (value: unknown): boolean => typeof value === 'string' && isSessionId(value),
};

/** What is wrong with a model, a mode, a budget or a rule is said where it is read. */
const SESSION: Kinds<SessionOptions> = {
  ...{ cwd: NAME, env: VARIABLES, model: TEXT, fallbackModel: TEXT },
  ...{ effort: oneOf(EFFORTS), thinking: fields(THINKING), onSuggestions: FUNCTION },
  ...{
    maxTurns: COUNT,
    maxTokens: COUNT,
    budget: OBJECT,
    agents: {
      ...fields(CAPS),
      elsewhere: (value) => (OBJECT.accepts(value) ? 'agent types go into agentTypes' : null),
    },
    permissionMode: TEXT,
    tools: LIST,
    hooks: DATA,
  },
  ...{ systemPrompt: NAME, appendSystemPrompt: NAME, agentTypes: DATA },
  ...{ canUseTool: FUNCTION, elicit: FUNCTION },
  ...{ agent: NAME, builtInTools: TEXTS },
  ...{ launch: oneOf(LAUNCH_MODES), compactionThreshold: NUMBER, contextWindow: COUNT },
  permissions: fields({ allow: TEXTS, ask: TEXTS, deny: TEXTS } satisfies Kinds<RuleTexts>),
  ...{
    broker: withMethods('a broker', ['ask']),
    worktree: or(true, TEXT),
    worktreeBase: NAME,
    team: or(true, or(false, NAME)),
    coordinator: FLAG,
    operatorTools: or(true, NAME),
    plugins: NAMES,
    title: TEXT,
  },
  ...{
    resume: TEXT,
    forkSession: FLAG,
    startSource: oneOf(['startup', 'clear']),
    sessionId: SESSION_ID,
    takeOver: FLAG,
    prices: DATA_LIST,
    retry: fields(RETRY),
  },
  provider: withMethods('a provider, such as scriptedModel() of ramet/testing', ['send', 'close']),
  clock: withMethods('a clock', ['now', 'sleep']),
  ...{
    mcpServers: DATA,
    mcpConfig: TEXTS,
    additionalDirectories: NAMES,
    strictMcpServers: FLAG,
    onRecord: FUNCTION,
    attended: FLAG,
    housekeeping: FLAG,
    background: FLAG,
    settings: or(false, DATA),
  },
};

export function checkSessionOptions(options: SessionOptions): void {
  checkOptions('openSession', options, SESSION);
  const { agent, builtInTools, systemPrompt, resume } = options;
  if (agent !== undefined && systemPrompt !== undefined)
    throw new UserMistake('bad_argument', 'openSession: give agent or systemPrompt: a type has a prompt');
  if (options.forkSession && resume === undefined)
    throw new UserMistake(
      'bad_argument',
      'forkSession (--fork-session) begins with a session that is there: name it with resume (--resume, --continue)',
    );
  if (resume === undefined) return;
  if (options.sessionId !== undefined && !options.forkSession)
    throw new UserMistake(
      'not_for_resume',
      'sessionId (--session-id) is for a new session: one that is resumed keeps its id',
    );
  for (const [name, value] of Object.entries({ agent, builtInTools }))
    if (value !== undefined)
      throw new UserMistake(
        'not_for_resume',
        `${name} is for a new session: one that is resumed keeps what it began with`,
      );
}
