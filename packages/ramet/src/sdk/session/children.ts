/**
 * Wires the agents that others ask for into a session: types, caps, models, and what they are told about their place.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { environmentText } from '../../agents/prompts/first-message.ts';
import type { FrozenBlock } from '../../conversation/frozen-block.ts';
import type { AgentExecutor } from '../../engine/agent/executor.ts';
import { Spending } from '../../engine/budget/budget.ts';
import { AgentFamily, agentMessageText } from '../../engine/opening.ts';
import type {
  Agent,
  AgentEvent,
  AgentHandle,
  AgentSpec,
  ChildSurroundings,
  SpawnOrder,
} from '../../engine/shapes.ts';
import { inProcess } from '../../executors/in-process.ts';
import { findRepository } from '../../git/repository.ts';
import type { RecentGitState } from '../../git/shapes.ts';
import type { JournalReader } from '../../journal/journal.ts';
import { openReader } from '../../journal/sessions.ts';
import { isEmbedded, MODEL_TIERS, resolveModel } from '../../model/catalog.ts';
import type { ModelProvider } from '../../model/provider.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import { NO_USAGE } from '../../schema/usage.ts';
import { processDirectory } from '../../system/processes/process-register.ts';
import { type LedgerLine, ledgerOf } from '../../views/ledger/ledger.ts';
import type { AgentTypes } from '../agent-types/agent-types.ts';
import { checkArgument, NAME } from '../calls/argument-kinds.ts';
import type { SessionPrompts } from '../extensions/session-prompts.ts';
import { DEFAULT_SANDBOX, type ResolvedOptions, refuseUnenforceableBudget } from '../options.ts';
import type { TypedHandle } from '../own-tools/typed-handle.ts';
import type { Place } from '../place.ts';
import { refuseUnservedModel } from '../policy.ts';
import { checkCall, checkSpawn } from './check-calls.ts';
import { narrowing } from './deciding-broker.ts';
import type { ForkOptions, PromptSchema, SpawnOptions, SteeredMessage } from './session-type.ts';
import { sessionSecrets } from './setup/session-redactor.ts';
import type { SessionTools } from './tools/session-tools.ts';

export interface FamilyOptions {
  session: SessionId;
  settings: ResolvedOptions;
  place: Place;
  provider: ModelProvider;
  childEnvironment: Readonly<Record<string, string>>;
  git: RecentGitState;
  types: AgentTypes;
  extra: SessionTools;
  prompts: SessionPrompts;
  /** Of an earlier process; null for a new session. */
  earlier: JournalReader | null;
  emit: (spec: AgentSpec, event: AgentEvent) => void;
  /** What children share before the main agent has a prompt; the caller that starts them without one sets it. */
  unprompted: { blocks: readonly FrozenBlock[] };
}

/** `main` is asked for when it is known: the family is part of what the main agent is made with. */
export function openFamily(options: FamilyOptions, main: () => Agent | null): AgentFamily {
  const { session, settings, place, provider, types, earlier, extra } = options;
  const { usd, tokens } = settings.agents.budget;
  const past = earlier === null ? NO_PAST : pastOf(earlier, usd !== undefined || tokens !== undefined);
  const spending = new Spending({ usd, tokens }, settings.clock.now(), { label: 'session' });
  spending.add(past.usage, past.costUsd);
  return new AgentFamily({
    session,
    executor: inProcess,
    ownProcess: ownProcess(options),
    get definitions() {
      return types.definitions;
    },
    async refreshDefinitions(name) {
      await types.refresh(name);
      await extra.prepareTypes(types.definitions);
    },
    toolsOfType: (type, tools, parent) => extra.forType(type, tools, parent),
    toolsOfRecorded: (recorded, order) => extra.forRecorded(recorded, order),
    serversOf: (tools) => extra.recordOf(tools),
    whyWithheld: (name) => types.whyWithheld(name),
    loadSkills: async (names) =>
      (await import('../extensions/carry-out-prompt.ts')).preloadedSkills(options.prompts, names),
    limits: settings.agents.limits,
    spending,
    surroundings: surroundingsOf(options, main),
    resolveModel: (name, parentModel) => childModel(name, parentModel, settings, provider),
    lastNumber: past.lastNumber,
    asked: past.asked,
    emit: options.emit,
    openReader: () => openReader({ project: place.project, session }),
  });
}

/** Few sessions have such agents: what hosts them is loaded with the first. */
function ownProcess({ settings, place }: FamilyOptions): () => Promise<AgentExecutor> {
  let made: Promise<AgentExecutor> | null = null;
  const secrets = sessionSecrets(settings.env, place.home);
  const make = async (): Promise<AgentExecutor> => {
    const { processExecutor } = await import('../../executors/process/process-executor.ts');
    const { fingerprintSecrets } = await import('../../tools/redaction/fingerprint-redactor.ts');
    return processExecutor({
      secrets: () => fingerprintSecrets(secrets()),
      processes: processDirectory(place.project),
      home: place.home,
      sandbox: settings.settings.sandbox?.readOnly ?? DEFAULT_SANDBOX,
      isolation: settings.settings.sandbox?.worktree ?? DEFAULT_SANDBOX,
      sockets: settings.settings.sandbox?.sockets,
    });
  };
  return () => (made ??= make());
}

/** What earlier processes of a session have used up: its caps count on. */
interface SessionPast extends Pick<LedgerLine, 'usage' | 'costUsd'> {
  lastNumber: number;
  asked: number;
}

const NO_PAST: SessionPast = { lastNumber: 1, asked: 0, usage: NO_USAGE, costUsd: 0 };

/** What was spent is added up only where it is limited: that takes the whole journal. */
function pastOf(reader: JournalReader, limited: boolean): SessionPast {
  const past = { ...NO_PAST };
  for (const { agent, event } of reader.events({ type: 'agent.started' })) {
    if (event.type !== 'agent.started') continue;
    past.lastNumber = Math.max(past.lastNumber, Number(agent?.split('.').at(-1)));
    if (typeof event.origin?.call === 'string') past.asked += 1;
  }
  if (!limited) return past;
  const { usage, costUsd } = ledgerOf(reader.events()).total;
  return { ...past, usage, costUsd };
}

function surroundingsOf(
  { session, settings, place, childEnvironment, git, unprompted, extra }: FamilyOptions,
  main: () => Agent | null,
): ChildSurroundings {
  const memoryOf = async (definition: AgentDefinition, isMember: boolean): Promise<string | null> => {
    const mayHave = definition.memory !== undefined || (isMember && settings.team !== null);
    if (!mayHave || settings.settings.memory?.enabled === false) return null;
    const { memoryOfChild } = await import('../memory/session-memory.ts');
    const { text } = await memoryOfChild(settings, place, { definition, isMember, session });
    return text === null ? null : (main()?.runtime.redact(text) ?? text);
  };
  return {
    instructions(): readonly FrozenBlock[] {
      const [first] = main()?.conversation.messages ?? [];
      return first?.blocks.slice(0, first.shared) ?? unprompted.blocks;
    },
    async environment({ cwd, model, tools, definition, isMember }) {
      const repository = cwd === place.cwd ? place.repository : findRepository(cwd);
      const environment = environmentText({
        cwd,
        model,
        now: new Date(settings.clock.now()),
        shell: childEnvironment.SHELL,
        ...(definition.git && { repository, git: repository === null ? null : await git.of(cwd) }),
      });
      const about = extra.about(tools, 'child');
      const memory = await memoryOf(definition, isMember);
      return [environment, about, memory].filter((text) => text !== null).join('\n');
    },
  };
}

/** A tier that the provider does not know, and any tier under an embedded model, means the parent's model. */
export function childModel(
  name: string,
  parentModel: string,
  settings: ResolvedOptions,
  provider: ModelProvider,
): string {
  const isTier = MODEL_TIERS.some((tier) => tier === name);
  if (name === 'inherit' || (isTier && isEmbedded(parentModel))) return parentModel;
  const model = isTier ? tierModel(name, parentModel, settings) : name;
  refuseUnservedModel(model, provider, settings);
  refuseUnenforceableBudget(model, settings);
  return model;
}

function tierModel(tier: string, parentModel: string, settings: ResolvedOptions): string {
  try {
    return resolveModel(tier, settings.env, settings.providerName, settings.settings.models);
  } catch (error) {
    if (error instanceof UserMistake) return parentModel;
    throw error;
  }
}

interface Parent {
  agent: Agent;
  family: AgentFamily;
}

/** Children of the library end with the session, or when they are stopped. */
async function started(
  { agent, family }: Parent,
  {
    schema: given,
    ...order
  }: Omit<SpawnOrder, 'call' | 'signal' | 'schema'> & { schema?: PromptSchema | undefined },
): Promise<TypedHandle<unknown>> {
  const { spawnAgent } = await import('../../engine/later.ts');
  const schema = given === undefined ? undefined : await plainSchema(given);
  const outcome = await spawnAgent(family, agent, { ...order, schema, call: null });
  if ('problem' in outcome) throw new UserMistake('no_agent', `no agent was started: ${outcome.problem}`);
  if (given === undefined) return outcome.handle;
  return (await import('../own-tools/typed-handle.ts')).typedHandle(outcome.handle, given);
}

export function spawned(parent: Parent, request: SpawnOptions): Promise<TypedHandle<unknown>> {
  checkSpawn(request);
  return started(parent, request);
}

export function forked(
  parent: Parent,
  prompt: string,
  options: ForkOptions = {},
): Promise<TypedHandle<unknown>> {
  checkCall('fork', options, prompt);
  const { description = 'fork', name, isolation, budget, maxTurns, schema, canUseTool, ...more } = options;
  const overrides = { ...more, ...(canUseTool && { canUseTool: narrowing(canUseTool) }) };
  return started(parent, { prompt, description, name, isolation, budget, maxTurns, schema, overrides });
}

/** As it is recorded and sent: JSON Schema. */
async function plainSchema(schema: PromptSchema): Promise<Record<string, unknown>> {
  const { isStandardSchema, jsonSchemaOf } = await import('../own-tools/standard-schema.ts');
  return { ...(isStandardSchema(schema) ? jsonSchemaOf(schema, 'schema') : schema) };
}

export async function tellChild({ agent, family }: Parent, to: string, text: string): Promise<AgentHandle> {
  checkArgument('session.tell', 'the name or id', to, NAME);
  checkArgument('session.tell', 'the message', text, NAME);
  const { resumeEnded } = await import('../../engine/later.ts');
  const running = family.findHandle(to);
  if (running !== undefined) {
    running.steer(text);
    return running;
  }
  const said = agentMessageText({ kind: 'user', from: null, name: null }, text);
  const outcome = await resumeEnded(family, agent, to, said);
  const handle = family.findHandle(to);
  if (handle === undefined) throw new UserMistake('no_agent', String(outcome.content));
  return handle;
}

/** A message to the main agent while it works. */
export function steered(agent: Agent, text: string): SteeredMessage {
  checkArgument('session.steer', 'the message', text, NAME);
  const item = agent.receive('message', null, text);
  let withdrawn = false;
  return {
    get isDelivered() {
      return !withdrawn && !agent.inbox.has(item);
    },
    withdraw() {
      withdrawn ||= agent.takeFromInbox((held) => held.item === item, null).length > 0;
      return withdrawn;
    },
  };
}
