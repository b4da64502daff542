/** The head of a fresh child's prompt, frozen once for all agents of a type, and how long prompts are about to be. */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { generalPurpose } from '../../agents/prompts/built-in.ts';
import type { PromptHead } from '../../conversation/conversation.ts';
import { estimateTokens } from '../../conversation/frozen-block.ts';
import type { DefaultIsolation } from '../../git/worktrees/worktree-settings.ts';
import { byEffort, fitThinking, routineThinking, thinkingNote } from '../../model/thinking.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { Effort } from '../../schema/status.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import { builtInTools, mayChangeFiles } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import { headOf } from '../agent/agent-content.ts';
import { hosted } from '../agent/hosted-agent.ts';
import type { AgentSpec } from '../agent/runtime.ts';
import type { AgentFamily } from './family.ts';

/**
 * What the type has, of what the parent has: a child's tools never exceed its ancestors'. One that only reads is offered
 * nothing that writes (TYPE-2).
 */
export function toolsOf(definition: AgentDefinition, parent: ToolOwner): readonly Tool[] {
  const { tools, disallowedTools = [] } = definition;
  const only = readsOnly(definition, parent);
  const own = parent.spec.tools;
  if (tools === 'all' && disallowedTools.length === 0 && !only) return own;
  return own.filter(
    ({ name, effect }) =>
      (tools === 'all' || tools.includes(name)) &&
      !disallowedTools.includes(name) &&
      !(only && effect === 'write'),
  );
}

interface ToolOwner {
  readonly spec: Pick<AgentSpec, 'tools' | 'readOnly'>;
}

/** By its type, or because its parent does: rights never widen on the way down. `definition` is null for a fork. */
export function readsOnly(definition: AgentDefinition | null, parent: ToolOwner): boolean {
  return definition?.readOnly === true || parent.spec.readOnly === true;
}

/**
 * How a fresh agent thinks (RES-9): as it was asked to, else as its parent does, up to the cap of routine agents. `note`
 * says where its model cannot do what was asked.
 */
export function freshThinking(
  effort: Effort | undefined,
  parent: Agent,
  model: string,
): { thinking: ThinkingConfig | null; note: string | null } {
  if (effort === undefined) {
    const inherited = routineThinking(parent.conversation.head.thinking, model);
    return { thinking: fitThinking(inherited, model), note: null };
  }
  const wanted = byEffort(effort);
  return {
    thinking: fitThinking(wanted, model),
    note: thinkingNote(wanted, model, hosted(parent).runtime.provider),
  };
}

type HeadParts = Pick<AgentSpec, 'model' | 'thinking' | 'tools' | 'system'>;

/** Freezing a head turns schemas into bytes and hashes them: once for each type and model is enough. */
export function freshHead(family: AgentFamily, spec: HeadParts): PromptHead {
  const key = JSON.stringify([spec.model, spec.thinking, spec.tools.map(({ name }) => name), spec.system]);
  const head = family.heads.get(key) ?? headOf(spec);
  family.heads.set(key, head);
  return head;
}

export function inheritedTokens(parent: Agent): number {
  const { head, messages } = parent.forkPoint().prefix;
  return estimateTokens([...head.tools, ...head.system, ...messages.flatMap(({ blocks }) => blocks)]);
}

/** With what a general-purpose agent would have begun, for the same task (LAUNCH: fork or fresh). */
export function freshTokens(family: AgentFamily, parent: Agent, prompt: string): number {
  const { tools, system } = parent.conversation.head;
  const instructions = family.parts.surroundings.instructions();
  const said = (generalPurpose.notes?.length ?? 0) + ENVIRONMENT_LENGTH + prompt.length;
  return estimateTokens([...tools, ...system, ...instructions]) + Math.ceil(said / 4);
}

/** About what the environment takes, in characters. */
const ENVIRONMENT_LENGTH = 400;

/** What a definition says of an agent before it is made: how it is to run, and whether it can. */
interface DefinableOrder {
  run_in_background?: boolean | undefined;
}

/** A definition may say whether anybody waits for its agents. */
export function orderFor<Order extends DefinableOrder>({ background }: AgentDefinition, order: Order): Order {
  return { ...order, run_in_background: background === true || order.run_in_background };
}

export function refuseWithoutTools(
  definition: AgentDefinition,
  parent: { readonly spec: Pick<AgentSpec, 'tools' | 'readOnly'> },
): void {
  // An adviser that asks for no tool gets none; one that asks for some and gets none could not do its work.
  const wantsNone = definition.tools !== 'all' && definition.tools.length === 0;
  if (wantsNone || toolsOf(definition, parent).length > 0) return;
  const { name, tools, path } = definition;
  const asked = tools === 'all' ? 'all are disallowed' : `it asks for ${tools.join(', ') || 'none'}`;
  throw new UserMistake(
    'no_tools',
    `the agent type "${name}" has no tool that you have (${asked})${path === undefined ? '' : `; it is defined in ${path}`}`,
  );
}

/**
 * Whether a child gets its own worktree: the call or its type asks for one, or the setting does. `definition` is null for
 * a fork. A child of an agent in a worktree works there, unless its own worktree is asked for.
 */
export function isolationOf(
  order: Pick<SpawnRequest, 'isolation'>,
  definition: AgentDefinition | null,
  { parent, byDefault }: { parent: Pick<Agent, 'directory'>; byDefault: DefaultIsolation },
): 'asked' | 'default' | 'none' {
  if ((order.isolation ?? definition?.isolation) === 'worktree') return 'asked';
  if (byDefault === 'off' || parent.directory.workspace !== null) return 'none';
  if (definition === null) return 'default';
  return byDefault === 'writers' && mayWrite(definition) ? 'default' : 'none';
}

function mayWrite({ readOnly, tools, disallowedTools = [] }: AgentDefinition): boolean {
  if (readOnly === true) return false;
  return builtInTools({ fork: false, types: [] }).some(
    (tool) =>
      mayChangeFiles(tool) &&
      (tools === 'all' || tools.includes(tool.name)) &&
      !disallowedTools.includes(tool.name),
  );
}
