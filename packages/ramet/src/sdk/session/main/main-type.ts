/**
 * The main agent as a type describes it: the option `agent`. Loaded only where one is named.
 *
 * Invariants
 * 1. What the caller says comes before what the type says; a limit and a mode of a type only ever narrow.
 * 2. A resumed session has the type it began with. If that is gone, nobody knows what it forbade: nothing is resumed.
 */
import type { AgentDefinition } from '../../../agents/definitions/definition.ts';
import { findDefinition, offeredDefinitions } from '../../../agents/prompts/built-in.ts';
import { nameList } from '../../../extensions/prompts/skill-list.ts';
import { byEffort } from '../../../model/thinking.ts';
import { effectiveMode } from '../../../permission/policy.ts';
import { UserMistake } from '../../../schema/errors.ts';
import { strictest } from '../../../schema/usage.ts';
import { nearName } from '../../../system/text/close-names.ts';
import type { AgentTypes } from '../../agent-types/agent-types.ts';
import type { MainType } from '../../agent-types/code-types.ts';
import type { SessionPrompts } from '../../extensions/session-prompts.ts';
import { newSessionMode, newSessionModel, type ResolvedOptions } from '../../options.ts';
import { childModel } from '../children.ts';
import type { SessionOrder } from '../setup/session-ground.ts';
import type { SessionTools } from '../tools/session-tools.ts';

export interface TypedParts {
  readonly types: AgentTypes;
  readonly extra: SessionTools;
  readonly prompts: SessionPrompts;
}

/** The options of a new session whose main agent is of the type that they name. */
export async function typedOptions(
  settings: ResolvedOptions,
  { provider, ...parts }: TypedParts & Pick<SessionOrder, 'provider'>,
): Promise<ResolvedOptions> {
  const { agent = '' } = settings;
  const definition = definitionNamed(agent, parts.types);
  const { model, effort, permissionMode } = definition;
  const own = newSessionModel(settings, provider);
  return {
    ...(await withType(settings, definition, parts)),
    model: settings.model ?? childModel(model, own, settings, provider),
    thinking: settings.thinking ?? (effort === undefined ? null : byEffort(effort)),
    permissionMode: effectiveMode(permissionMode, newSessionMode(settings)),
  };
}

/** Throws for one that is not offered. */
export function definitionNamed(name: string, types: AgentTypes): AgentDefinition {
  const definition = findDefinition(offeredDefinitions(types.definitions), name);
  if (definition === undefined) throw unknown(name, types);
  return definition;
}

/** The same for a session that was there before: its model, its thinking and its mode are on record. */
export async function typedAgain(
  settings: ResolvedOptions,
  name: string,
  parts: TypedParts,
): Promise<ResolvedOptions> {
  const definition = findDefinition(offeredDefinitions(parts.types.definitions), name);
  if (definition !== undefined) return withType(settings, definition, parts);
  const why = parts.types.whyWithheld(name) ?? 'bring it back, and resume then';
  throw new UserMistake(
    'no_type',
    `the main agent of this session is of the type "${name}", which is not there now: ${why}`,
  );
}

async function withType(
  settings: ResolvedOptions,
  definition: AgentDefinition,
  { types, extra, prompts }: TypedParts,
): Promise<ResolvedOptions> {
  const { toolsOf } = await import('../../../engine/later.ts');
  await extra.prepareTypes(types.definitions);
  const skills = await skillsOf(definition, prompts);
  const readsOnly = definition.readOnly === true;
  const mainType: MainType = {
    definition,
    tools: (all) =>
      extra.forType(definition, toolsOf(definition, { spec: { tools: all } }), { tools: all, readsOnly }),
    skills: skills.text || null,
  };
  return {
    ...settings,
    mainType,
    notices: [...settings.notices, ...skills.problems, ...unusedFields(definition)],
    maxTurns: Math.min(settings.maxTurns, definition.maxTurns ?? Number.POSITIVE_INFINITY),
    budget: strictest(settings.budget, definition.budget ?? {}),
  };
}

async function skillsOf(
  { skills = [] }: AgentDefinition,
  prompts: SessionPrompts,
): Promise<{ text: string; problems: readonly string[] }> {
  if (skills.length === 0) return { text: '', problems: [] };
  const { preloadedSkills } = await import('../../extensions/carry-out-prompt.ts');
  return preloadedSkills(prompts, skills);
}

/** What only a child can have. */
function unusedFields({ name, isolation, background, executor }: AgentDefinition): string[] {
  const fields = [
    ...(isolation === undefined ? [] : ['isolation (--worktree gives the session a worktree)']),
    ...(background === true ? ['background'] : []),
    ...(executor === 'process' ? ['executor'] : []),
  ];
  return fields.length === 0 ? [] : [`the type ${name}: not used for a main agent: ${fields.join(', ')}`];
}

function unknown(name: string, types: AgentTypes): UserMistake {
  const withheld = types.whyWithheld(name);
  if (withheld !== null) return new UserMistake('withheld_type', withheld);
  const known = offeredDefinitions(types.definitions).map((one) => one.name);
  const near = nearName(name, known);
  const hint = near === null ? `the types are ${nameList(known)}` : `did you mean ${near}?`;
  return new UserMistake(
    'unknown_type',
    `there is no agent type ${JSON.stringify(name.slice(0, 100))}: ${hint}`,
  );
}
