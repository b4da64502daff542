/** The main agent of a session: how it starts, how it is resumed, and how it takes a prompt. */

import type { AgentDefinition } from '../../../agents/definitions/definition.ts';
import { environmentText, firstMessage } from '../../../agents/prompts/first-message.ts';
import { MAIN_PROMPT } from '../../../agents/prompts/main-prompt.ts';
import { type FrozenBlock, freezeBlock } from '../../../conversation/frozen-block.ts';
import { Agent } from '../../../engine/agent/agent.ts';
import { agentSpec, hasOpenCalls, resumeAgent, switchModel, tellOfLostEnd } from '../../../engine/opening.ts';
import type { AgentSpec, RecordedSpec, SpecBasis } from '../../../engine/shapes.ts';
import type { GitState } from '../../../git/shapes.ts';
import type { AgentWorkspace } from '../../../git/worktrees/workspace/agent-workspace.ts';
import type { JournalReader } from '../../../journal/journal.ts';
import type { AgentState } from '../../../journal/projections/agent-state.ts';
import { CONVERSATION_LOST } from '../../../journal/projections/cut-off-agents.ts';
import { recordedAgent } from '../../../journal/projections/recorded-agents.ts';
import { fitThinking, newSessionThinking } from '../../../model/thinking.ts';
import type { ImageBlock, TextBlock, ThinkingConfig } from '../../../schema/content.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { agentId, MAIN_TYPE } from '../../../schema/ids.ts';
import type { Tool } from '../../../tools/tool.ts';
import { toolsAsTold, toolsTelling } from '../../agent-types/agent-types.ts';
import {
  newSessionMode,
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
} from '../../options.ts';
import type { Place } from '../../place.ts';
import { refuseUnservedModel, widestMode } from '../../policy.ts';
import type { SharedParts } from '../session-runtime.ts';
import { recordResumed, recordStarted } from '../setup/session-record.ts';
import { toolsAgain } from '../tools/session-tools.ts';
import type { MainHousing } from './main-housing.ts';
import type { Surroundings } from './surroundings.ts';

export function startAgent(
  shared: SharedParts,
  place: Place,
  settings: ResolvedOptions,
  git: GitState | null = null,
): Agent {
  const { runtime } = shared;
  const model = newSessionModel(settings, runtime.provider);
  recordStarted(shared, place, settings, git);
  const agent = Agent.start(runtime, newSpec(shared, model, place, settings));
  // It is only the parent of others, and nobody asks it anything.
  if (settings.housekeeping)
    agent.record({ type: 'agent.ended', status: 'done', cause: null, message: null });
  shared.admitMain(agent);
  return agent;
}

function newSpec(shared: SharedParts, model: string, place: Place, settings: ResolvedOptions): AgentSpec {
  const permissionMode = newSessionMode(settings);
  const spec = mainSpec(shared, { model, permissionMode }, place, settings);
  return { ...spec, thinking: fitThinking(newSessionThinking(settings), model) };
}

/** Puts the main agent into the worktree that the session is to work in, or into what a hook made in its place. */
export async function moveMain(agent: Agent, made: AgentWorkspace): Promise<AgentWorkspace> {
  const { moveInto, worktreeCreated } = await import('../../../engine/later.ts');
  const workspace = await worktreeCreated(agent, made);
  workspace.giveTo({ session: agent.runtime.journal.session, agent: agent.spec.id });
  moveInto(agent, workspace);
  return workspace;
}

export async function resumeMain(
  shared: SharedParts,
  reader: JournalReader,
  place: Place,
  settings: ResolvedOptions,
): Promise<Agent> {
  const { runtime } = shared;
  const id = agentId(runtime.journal.session, 1);
  const past = recordedAgent((agent) => reader.events({ agent }), id);
  const house = past.directory === null ? null : await houseOf(runtime, past, place.cwd);
  if (past.prefix === null) return beginAgain(shared, { past, house }, place, settings);
  const specFor = (recorded: RecordedSpec): AgentSpec => ({
    ...mainSpec(shared, recorded, place, settings),
    ...house?.housing,
  });
  const agent = resumeAgent(runtime, reader, specFor, id, past);
  house?.settle(agent);
  const model = settings.model ?? agent.conversation.head.model;
  refuseUnservedModel(model, runtime.provider, settings);
  refuseUnenforceableBudget(model, settings);
  recordResumed(shared, place, settings);
  const { thinking } = settings;
  if (model !== agent.conversation.head.model || thinksOtherwise(agent, thinking, model))
    switchModel(agent, 'model', model, thinking ?? undefined);
  shared.admitMain(agent);
  return agent;
}

/** Nothing of its conversation can be read: it takes the next prompt as its first, with what it did still on the bill. */
function beginAgain(
  shared: SharedParts,
  { past, house }: { past: AgentState; house: MainHousing | null },
  place: Place,
  settings: ResolvedOptions,
): Agent {
  const { runtime } = shared;
  const model = newSessionModel(settings, runtime.provider);
  refuseUnenforceableBudget(model, settings);
  recordResumed(shared, place, settings);
  const spec = { ...newSpec(shared, model, place, settings), ...house?.housing };
  const agent = Agent.start(runtime, spec, undefined, past);
  house?.settle(agent);
  shared.admitMain(agent);
  if (past.requests > 0) tellOfLostEnd(agent);
  return agent;
}

/** Whether it was asked for another way of thinking than the session has. */
function thinksOtherwise(agent: Agent, wanted: ThinkingConfig | null, model: string): boolean {
  if (wanted === null) return false;
  return JSON.stringify(fitThinking(wanted, model)) !== JSON.stringify(agent.conversation.head.thinking);
}

/** Most sessions never leave the directory they began in. */
async function houseOf(
  runtime: SharedParts['runtime'],
  state: AgentState,
  outside: string,
): Promise<MainHousing> {
  const { mainHousing } = await import('./main-housing.ts');
  return mainHousing(runtime, state, outside);
}

function mainSpec(
  { runtime, family, types, watch, extra }: SharedParts,
  { model, permissionMode, head }: Omit<RecordedSpec, 'tools' | 'head'> & Partial<Pick<RecordedSpec, 'head'>>,
  place: Place,
  settings: ResolvedOptions,
): AgentSpec {
  const { fork } = settings.agents.limits;
  const { mainType, builtInTools: chosen } = settings;
  const base = (told?: readonly FrozenBlock[]): readonly Tool[] =>
    watch?.tools ?? (told === undefined ? toolsTelling(types.definitions, fork) : toolsAsTold(told, fork));
  const given = watch === undefined ? extra.tools : [];
  const all = [...base(head?.tools).filter(({ name }) => chosen?.includes(name) ?? true), ...given];
  const whole = mainType?.tools(all) ?? all;
  const { lead: tools = whole, workers } = settings.leadRole?.split(whole) ?? {};
  const widest = widestMode(settings);
  const basis: SpecBasis = {
    parent: null,
    ...(widest !== null && { ceiling: () => widest }),
    fallbackModel: settings.fallbackModel,
    maxTokens: settings.maxTokens,
    spending: family.parts.spending,
    cwd: place.cwd,
    ...(settings.settings.compaction?.enabled === false && { compacts: false }),
    compactionThreshold: settings.compactionThreshold,
    contextWindow: settings.contextWindow,
  };
  return agentSpec(basis, {
    id: agentId(runtime.journal.session, 1),
    type: mainType?.definition.name ?? MAIN_TYPE,
    name: null,
    model,
    thinking: settings.thinking,
    system: watch?.system ?? systemOf(settings, runtime.redact),
    tools: head === undefined ? tools : toolsAgain(tools, head.tools),
    ...(workers && { childTools: workers }),
    permissionMode: settings.permissionMode ?? permissionMode,
    maxTurns: settings.maxTurns,
    budget: settings.budget,
    ...(mainType && rightsOf(mainType.definition)),
  });
}

/** What a type forbids. */
function rightsOf({ readOnly, hooks, toolLimits }: AgentDefinition): Partial<SpecBasis> {
  return { readOnly, ...(hooks && { hooks }), ...(toolLimits && { toolLimits: [toolLimits] }) };
}

/** Blocks of their own: what is appended leaves the bytes before it as they are. */
function systemOf(
  { systemPrompt, appendSystemPrompt, mainType, leadRole }: ResolvedOptions,
  redact: (text: string) => string,
): string[] {
  const given = mainType?.definition.system ?? (systemPrompt === null ? null : [systemPrompt]);
  const said = given?.map((text) => redact(text.toWellFormed()));
  // A prompt of the user's does not take the place of the rules of a coordinator.
  const own = leadRole === undefined ? (said ?? [MAIN_PROMPT]) : [...(said ?? []), leadRole.system];
  return appendSystemPrompt === null ? own : [...own, redact(appendSystemPrompt.toWellFormed())];
}

/** Whether a turn is to be finished, or a message to be delivered. */
export function isInterrupted(agent: Agent): boolean {
  const { conversation, state, inbox } = agent;
  return conversation.awaitsAnswer || state.openStop !== null || hasOpenCalls(agent) || inbox.size > 0;
}

interface GivenToAgent {
  readonly prompt: string | null;
  readonly attachments: readonly (TextBlock | ImageBlock)[];
  /** A person typed it as it is. */
  readonly typed?: boolean | undefined;
  /** Rules for what is refused until the work on it is over. */
  readonly denied: readonly string[];
}

interface PromptGround {
  readonly surroundings: Surroundings | null;
  readonly news: string | null;
}

/**
 * Adds the prompt to the conversation, at once: it is recorded with the first commit. `news` is what the agent should
 * know before it.
 */
export function takePrompt(
  agent: Agent,
  { denied, ...given }: GivenToAgent,
  place: Place,
  about: PromptGround,
): void {
  sayPrompt(agent, given, place, about);
  if (denied.length > 0) agent.record({ type: 'tools.denied', rules: denied });
}

function sayPrompt(
  agent: Agent,
  { prompt, attachments, typed }: Omit<GivenToAgent, 'denied'>,
  place: Place,
  { surroundings, news }: PromptGround,
): void {
  const { conversation } = agent;
  if (prompt === null) {
    refuseWithoutPrompt(agent);
    const { anyInBackground, running } = agent.children;
    if (isInterrupted(agent) || anyInBackground || running.length > 0) return;
    throw nothingToDo(
      `the last turn of this session is complete: give a prompt with: ${promptCommand(agent)}`,
    );
  }
  if (conversation.messages.length > 0) {
    const [said, before] = [prompt.toWellFormed(), news === null ? [] : [news]];
    const texts = [...before, said].map((text) => freezeBlock({ type: 'text', text }));
    agent.say('prompt', withAttachments(texts, attachments), 0, { typed });
    return;
  }
  const { cwd, workspace } = agent.directory;
  const environment = environmentText({
    cwd,
    model: conversation.head.model,
    now: new Date(agent.runtime.clock.now()),
    shell: agent.runtime.childEnvironment.SHELL,
    repository: place.repository && {
      ...place.repository,
      ...(workspace !== null && { root: workspace.worktree.path }),
    },
    git: surroundings?.git ?? null,
  });
  const { blocks, shared } = firstMessage({
    instructions: surroundings?.instructions ?? null,
    environment: workspace === null ? environment : `${environment}\n${workspace.notice.brief}`,
    memory: surroundings?.memory ?? null,
    news,
    prompt: prompt.toWellFormed(),
  });
  agent.say('prompt', withAttachments(blocks.map(freezeBlock), attachments), shared, { typed });
}

/** The prompt stays the last block: it is what the user has said. */
function withAttachments(
  blocks: readonly FrozenBlock[],
  attachments: readonly (TextBlock | ImageBlock)[],
): FrozenBlock[] {
  return [...blocks.slice(0, -1), ...attachments.map(freezeBlock), ...blocks.slice(-1)];
}

/** An agent without a conversation needs a prompt. Call it before agents resume: they would be stopped by the refusal. */
export function refuseWithoutPrompt({ conversation, state, runtime }: Agent): void {
  if (conversation.messages.length > 0) return;
  const command = promptCommand({ runtime });
  if (state.requests > 0)
    throw new UserMistake(
      CONVERSATION_LOST,
      `the conversation of the main agent is lost: give it a prompt with: ${command}`,
    );
  throw new UserMistake(
    'no_prompt',
    `this session has no prompt yet: give it one, as session.run("PROMPT") or ${command}`,
  );
}

function promptCommand({ runtime }: Pick<Agent, 'runtime'>): string {
  return `ramet -p --resume ${runtime.journal.session} "PROMPT"`;
}

function nothingToDo(reason: string): UserMistake {
  return new UserMistake('nothing_to_do', reason);
}
