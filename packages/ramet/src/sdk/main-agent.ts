/** The main agent of a session: how it starts, how it is resumed, and how it takes a prompt. */
import { environmentText } from '../agents/environment.ts';
import { firstMessage } from '../agents/first-message.ts';
import { MAIN_PROMPT } from '../agents/main-prompt.ts';
import { instructionsText, readProjectInstructions } from '../agents/project-instructions.ts';
import { freezeBlock } from '../conversation/frozen-block.ts';
import { Agent } from '../engine/agent.ts';
import { switchModel } from '../engine/fallback.ts';
import { type RecordedSpec, resumeAgent } from '../engine/resume.ts';
import type { AgentSpec } from '../engine/runtime.ts';
import type { JournalReader } from '../journal/journal.ts';
import { UserMistake } from '../schema/errors.ts';
import { agentId } from '../schema/ids.ts';
import { type GitState, gitState } from '../workspace/git-state.ts';
import {
  newSessionMode,
  newSessionModel,
  type ResolvedOptions,
  refuseUnenforceableBudget,
  refuseUnservedModel,
} from './options.ts';
import type { Place } from './place.ts';
import type { SharedParts } from './session-runtime.ts';
import { toolsAsTold, toolsTelling } from './told-types.ts';
import { VERSION } from './version.ts';

export function startAgent(shared: SharedParts, place: Place, settings: ResolvedOptions): Agent {
  const { runtime } = shared;
  const model = newSessionModel(settings, runtime.provider);
  runtime.journal.append(null, {
    type: 'session.started',
    version: VERSION,
    cwd: place.cwd,
    repository: place.repository?.root ?? null,
  });
  const permissionMode = newSessionMode(settings);
  const agent = Agent.start(runtime, mainSpec(shared, { model, permissionMode }, place, settings));
  shared.admitMain(agent);
  return agent;
}

export function continueAgent(
  shared: SharedParts,
  reader: JournalReader,
  place: Place,
  settings: ResolvedOptions,
): Agent {
  const { runtime } = shared;
  const id = agentId(runtime.journal.session, 1);
  const agent = resumeAgent(runtime, reader, (recorded) => mainSpec(shared, recorded, place, settings), id);
  const model = settings.model ?? agent.conversation.head.model;
  refuseUnservedModel(model, runtime.provider);
  refuseUnenforceableBudget(model, settings);
  runtime.journal.append(null, { type: 'session.resumed', version: VERSION, cwd: place.cwd });
  if (model !== agent.conversation.head.model) switchModel(agent, model);
  shared.admitMain(agent);
  return agent;
}

function mainSpec(
  { runtime, family, types }: SharedParts,
  { model, permissionMode, head }: Omit<RecordedSpec, 'tools' | 'head'> & Partial<Pick<RecordedSpec, 'head'>>,
  place: Place,
  settings: ResolvedOptions,
): AgentSpec {
  const { fork } = settings.agents.limits;
  return {
    id: agentId(runtime.journal.session, 1),
    parent: null,
    type: 'main',
    name: null,
    model,
    fallbackModel: settings.fallbackModel,
    thinking: settings.thinking,
    system: [MAIN_PROMPT],
    tools: head === undefined ? toolsTelling(types.definitions, fork) : toolsAsTold(head.tools, fork),
    permissionMode: settings.permissionMode ?? permissionMode,
    maxTurns: settings.maxTurns,
    maxTokens: settings.maxTokens,
    budget: settings.budget,
    spending: family.parts.spending,
    cwd: place.cwd,
    compactionThreshold: settings.compactionThreshold,
    contextWindow: settings.contextWindow,
  };
}

/** What the first message says besides the prompt: read before the journal exists. */
export interface Surroundings {
  instructions: string | null;
  git: GitState | null;
}

export async function readSurroundings(
  { cwd, repository, home }: Place,
  env: Readonly<Record<string, string>>,
  redact: (text: string) => string,
): Promise<Surroundings> {
  // Git works while instructions are read.
  const git = repository === null ? null : gitState({ directory: cwd, env });
  const root = repository?.root ?? cwd;
  const files = await readProjectInstructions({ cwd, root, rametHome: home });
  const text = instructionsText(files, root);
  return { instructions: text === null ? null : redact(text), git: await git };
}

/** Whether there is a turn to finish, or something to be told of. */
export function isInterrupted({ conversation, openStop, openCalls, inbox }: Agent): boolean {
  return conversation.awaitsAnswer || openStop !== null || openCalls !== null || inbox.size > 0;
}

/**
 * Adds the prompt to the conversation, at once: it is recorded with the first commit. `news` is what the agent should
 * know before it.
 */
export function takePrompt(
  agent: Agent,
  prompt: string | null,
  place: Place,
  { surroundings, news }: { surroundings: Surroundings | null; news: string | null },
): void {
  const { conversation } = agent;
  if (prompt === null) {
    if (isInterrupted(agent) || agent.children.anyInBackground) return;
    throw nothingToDo(conversation.messages.length === 0);
  }
  if (conversation.messages.length > 0) {
    const texts = [...(news === null ? [] : [news]), prompt.toWellFormed()];
    agent.say(
      'prompt',
      texts.map((text) => freezeBlock({ type: 'text', text })),
    );
    return;
  }
  const { blocks, shared } = firstMessage({
    instructions: surroundings?.instructions ?? null,
    environment: environmentText({
      cwd: place.cwd,
      model: conversation.head.model,
      now: new Date(agent.runtime.clock.now()),
      shell: agent.runtime.childEnvironment.SHELL,
      repository: place.repository,
      git: surroundings?.git ?? null,
    }),
    news,
    prompt: prompt.toWellFormed(),
  });
  agent.say('prompt', blocks.map(freezeBlock), shared);
}

function nothingToDo(empty: boolean): UserMistake {
  const reason = empty
    ? 'this session ended before its prompt was recorded: give the prompt again'
    : 'the last turn of this session is complete: give a prompt to go on';
  return new UserMistake('nothing_to_do', reason);
}
