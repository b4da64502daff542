/**
 * What a child of a type begins with, made by the same functions that make it: its system prompt, its tools, what it is
 * told about its place, and how many tokens each of them takes, estimated.
 */

import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { findDefinition, unknownType } from '../../agents/prompts/built-in.ts';
import { environmentText } from '../../agents/prompts/first-message.ts';
import { estimateTokens, freezeBlock } from '../../conversation/frozen-block.ts';
import { headOf, toolsOf } from '../../engine/later.ts';
import { withRecipe } from '../../model/recipe/recipe.ts';
import { selectProvider } from '../../model/select-provider.ts';
import { effectiveMode } from '../../permission/policy.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { SessionMode } from '../../schema/status.ts';
import { createRedactor } from '../../tools/redaction/redact.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { newSessionMode, newSessionModel, type ResolvedOptions, resolveOptions } from '../options.ts';
import { findPlace, type Place } from '../place.ts';
import { childModel } from '../session/children.ts';
import { readSurroundings } from '../session/main/surroundings.ts';
import { environmentOfChildren } from '../session/setup/session-ground.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import { openAgentTypes, toolsTelling, typeContext } from './agent-types.ts';
import { policyLosses } from './policy-losses.ts';

export interface ChildView {
  definition: AgentDefinition;
  /** Of a child of the main agent of a new session. */
  model: string;
  mode: SessionMode;
  tools: readonly string[];
  system: string;
  instructions: string | null;
  environment: string;
  /** What managed policy takes from it. */
  leftOut: readonly string[];
  tokens: { tools: number; system: number; instructions: number; environment: number; total: number };
}

/** The same for programs. */
export interface AgentTypeView extends Omit<ChildView, 'definition'> {
  name: string;
  /** Null for one that is built in. */
  path: string | null;
}

export async function viewAgentType(name: string, options: CallOptions = {}): Promise<AgentTypeView> {
  const { cwd, env } = callerOf(options);
  const { definition, ...view } = await viewChild(name, { cwd, env });
  return { name: definition.name, path: definition.path ?? null, ...view };
}

export async function viewChild(
  name: string,
  at: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<ChildView> {
  const place = findPlace(at);
  using types = await openAgentTypes(place, at.env);
  const definition = findDefinition(types.definitions, name);
  if (definition === undefined) {
    throw new UserMistake('unknown_type', types.whyWithheld(name) ?? unknownType(name, types.definitions));
  }
  const settings = resolveOptions(at, await sessionSettings(at));
  const model = await modelOf(definition, settings);
  const parent = { spec: { tools: toolsTelling(types.definitions, settings.agents.limits.fork) } };
  const tools = toolsOf(definition, parent);
  const redact = createRedactor(at.env);
  const system = definition.system.map(redact);
  const head = headOf({ model, thinking: null, tools, system });
  const told = await surroundingsOf(definition, model, place, settings, redact);
  const size = (text: string): number => estimateTokens([freezeBlock({ type: 'text', text })]);
  const tokens = {
    tools: estimateTokens(head.tools),
    system: estimateTokens(head.system),
    instructions: told.instructions === null ? 0 : size(told.instructions),
    environment: size(told.environment),
  };
  return {
    definition,
    model,
    mode: effectiveMode(definition.permissionMode, newSessionMode(settings)),
    tools: tools.map((tool) => tool.name),
    system: system.join('\n\n'),
    ...told,
    leftOut: policyLosses([definition], typeContext(settings, {})).map(
      ({ field, why }) => `${field}: ${why}`,
    ),
    tokens: { ...tokens, total: tokens.tools + tokens.system + tokens.instructions + tokens.environment },
  };
}

async function modelOf({ model }: AgentDefinition, settings: ResolvedOptions): Promise<string> {
  const provider = withRecipe(await selectProvider(settings.env, settings.settings.provider));
  try {
    return childModel(model, newSessionModel(settings, provider), settings, provider);
  } finally {
    provider.close();
  }
}

async function surroundingsOf(
  { instructions, git, notes }: AgentDefinition,
  model: string,
  place: Place,
  settings: ResolvedOptions,
  redact: (text: string) => string,
): Promise<Pick<ChildView, 'instructions' | 'environment'>> {
  const environment = environmentOfChildren(settings);
  const surroundings = await readSurroundings(place, environment, redact);
  const text = environmentText({
    cwd: place.cwd,
    model,
    now: new Date(settings.clock.now()),
    shell: environment.SHELL,
    ...(git && { repository: place.repository, git: surroundings.git }),
  });
  return {
    instructions: instructions ? surroundings.instructions : null,
    environment: notes === null ? text : `${notes}\n${text}`,
  };
}
