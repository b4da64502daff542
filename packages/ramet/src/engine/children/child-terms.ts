/**
 * What a child starts with: its tools, how it thinks, the head of its prompt (frozen once for all agents of a type), its
 * limits, its isolation, and what a fork may change.
 */
import type { AgentDefinition } from '../../agents/definitions/definition.ts';
import { generalPurpose } from '../../agents/prompts/built-in.ts';
import type { PromptHead } from '../../conversation/conversation.ts';
import { estimateTokens } from '../../conversation/frozen-block.ts';
import type { AgentWorkspace } from '../../git/worktrees/workspace/agent-workspace.ts';
import type { DefaultIsolation } from '../../git/worktrees/worktree-settings.ts';
import { costOf, type PriceTable } from '../../model/prices.ts';
import { byEffort, fitThinking, routineThinking, thinkingNote } from '../../model/thinking.ts';
import { isListedTool } from '../../permission/tool-limits.ts';
import type { ThinkingConfig } from '../../schema/content.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { AgentOrigin } from '../../schema/events.ts';
import type { BudgetLimits, CoordinatorPhase, Effort } from '../../schema/status.ts';
import { NO_USAGE, readBudget, strictest } from '../../schema/usage.ts';
import type { SpawnRequest } from '../../tools/agent-desk.ts';
import { builtInTools, isForReaders, mayChangeFiles } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import { type Agent, hosted } from '../agent/agent.ts';
import { headOf } from '../agent/agent-content.ts';
import type { AgentSpec, CanUseTool } from '../agent/runtime.ts';
import type { AgentFamily } from './family.ts';

/**
 * What the type has, of what the parent has: a child's tools never exceed its ancestors'. One that only reads is offered
 * nothing that writes (TYPE-2).
 */
export function toolsOf(definition: AgentDefinition, parent: ToolOwner): readonly Tool[] {
  const { tools, disallowedTools = [], memory } = definition;
  const only = readsOnly(definition, parent);
  const own = withoutMainOnly(heritableTools(parent));
  if (tools === 'all' && disallowedTools.length === 0 && !only) return own;
  // The lists of types that come with Ramet cannot name what a program brings.
  const isListed = ({ name, ofProgram }: Tool): boolean =>
    tools === 'all' || tools.includes(name) || (ofProgram === true && isBuiltInReader(definition));
  const isWanted = (tool: Tool): boolean => isListed(tool) && (!only || isForReaders(tool));
  // Who has a memory can keep it: permission sees to it that nothing else is written (MEM-1).
  const isForMemory = ({ forMemory }: Tool): boolean => memory !== undefined && forMemory === true;
  return own.filter((tool) => !disallowedTools.includes(tool.name) && (isWanted(tool) || isForMemory(tool)));
}

function isBuiltInReader({ source, path, readOnly }: AgentDefinition): boolean {
  return readOnly === true && source === undefined && path === undefined;
}

/** The same, with what the session says about the type. */
export function toolsOfType(
  family: Pick<AgentFamily, 'parts'>,
  definition: AgentDefinition,
  parent: ToolOwner,
): readonly Tool[] {
  const tools = toolsOf(definition, parent);
  const heir = { tools: heritableTools(parent), readsOnly: readsOnly(definition, parent) };
  return family.parts.toolsOfType?.(definition, tools, heir) ?? tools;
}

export function withoutMainOnly(tools: readonly Tool[]): readonly Tool[] {
  return tools.some(({ mainOnly }) => mainOnly) ? tools.filter(({ mainOnly }) => mainOnly !== true) : tools;
}

interface ToolOwner {
  readonly spec: Pick<AgentSpec, 'tools' | 'childTools' | 'readOnly' | 'toolLimits'>;
}

/**
 * Of what an agent's children can have: the workers of a coordinator are not held to its list (COORD-1), and those of a member
 * not offered what it may not call.
 */
export function heritableTools({ spec }: ToolOwner): readonly Tool[] {
  const tools = spec.childTools ?? spec.tools;
  const limits = (spec.toolLimits ?? []).filter((one) => one.tools !== undefined);
  if (limits.length === 0) return tools;
  return tools.filter(({ name }) => limits.every((one) => isListedTool(one, name)));
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
  { model, isMember }: { model: string; isMember: boolean },
): { thinking: ThinkingConfig | null; note: string | null } {
  if (effort === undefined) {
    const own = parent.conversation.head.thinking;
    // A member reads what the lead has in the cache, which ends where they think otherwise.
    const inherited = isMember ? own : routineThinking(own, model);
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

interface DefinableOrder {
  run_in_background?: boolean | undefined;
}

/** A definition may send its agents to the background. */
export function orderFor<Order extends DefinableOrder>({ background }: AgentDefinition, order: Order): Order {
  return { ...order, run_in_background: background === true || order.run_in_background };
}

export function refuseWithoutTools(definition: AgentDefinition, has: readonly Tool[]): void {
  // An adviser that asks for no tool gets none; one that asks for some and gets none could not do its work.
  const wantsNone = definition.tools !== 'all' && definition.tools.length === 0;
  if (wantsNone || has.length > 0) return;
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
  given: { parent: Pick<Agent, 'directory'>; byDefault: DefaultIsolation; isMember: boolean },
): 'asked' | 'default' | 'none' {
  const { parent, isMember } = given;
  // Members work beside each other for long.
  const byDefault = isMember ? 'writers' : given.byDefault;
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

/** What is given back if there will be no child. */
export interface MadeForChild {
  workspace: AgentWorkspace | null;
  leaveTeam?: () => void;
}

/** The four things that a fork may change (FORK-3). With any other change it could not read its parent's cache. */
export interface ForkOverrides {
  /** Ends the fork when it aborts; the parent's own abort does so in any case. */
  abortController?: AbortController | undefined;
  /** Keeps it out of what can be continued, never out of the journal. */
  skipTranscript?: boolean | undefined;
  /** Its requests write nothing to the cache that only they would read. */
  skipCacheWrite?: boolean | undefined;
  /** Narrows what it may do; it cannot widen it. */
  canUseTool?: CanUseTool | undefined;
}

const ALLOWED: ReadonlySet<string> = new Set([
  'abortController',
  'skipTranscript',
  'skipCacheWrite',
  'canUseTool',
] satisfies (keyof ForkOverrides)[]);

/** For callers without types. */
export function refuseOtherOverrides(overrides: ForkOverrides): void {
  const other = Object.keys(overrides).filter((key) => !ALLOWED.has(key));
  if (other.length === 0) return;
  throw new UserMistake(
    'fork_override',
    `a fork cannot change ${other.join(', ')}: it would no longer read its parent's cache; it may set ${[...ALLOWED].join(', ')}, or use an agent type instead`,
  );
}

/** Model and thinking are parts of the prefix that a fork shares. */
export function refuseForkChoices({ model, effort }: Pick<SpawnRequest, 'model' | 'effort'>): void {
  if (model !== undefined) {
    throw new UserMistake(
      'fork_model',
      "a fork runs on its parent's model, whose cache it shares: leave model out, or name a subagent_type",
    );
  }
  if (effort !== undefined) {
    throw new UserMistake(
      'fork_effort',
      'a fork thinks as its parent does, whose cache it shares: leave effort out, or name a subagent_type',
    );
  }
}

/**
 * What a child may take by itself (RES-10): what the call says and what its type says, whichever is less. It hangs below
 * the budget of its parent, whose limits hold in any case.
 */
export interface ChildLimits {
  budget: BudgetLimits;
  maxTurns: number;
}

interface LimitedOrder extends Pick<SpawnRequest, 'budget' | 'maxTurns'> {
  call: string | null;
}

export function childLimits(
  { budget: own = {}, maxTurns, call }: LimitedOrder,
  definition: AgentDefinition | null,
  { turns, model, prices }: { turns: number; model: string; prices: PriceTable },
): ChildLimits {
  const asked = readBudget(own);
  if (typeof asked === 'string') throw new UserMistake('bad_budget', `the budget cannot be used: ${asked}`);
  const budget = strictest(asked, definition?.budget ?? {});
  refuseUnpriced(budget, model, prices);
  const usual = definition?.maxTurns ?? turns;
  if (maxTurns === undefined) return { budget, maxTurns: usual };
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1)
    throw new UserMistake('bad_turns', `max_turns must be a whole number above 0, not ${maxTurns}`);
  // A model cannot widen what a person has set; a program is a person's.
  return { budget, maxTurns: call === null ? maxTurns : Math.min(maxTurns, Math.max(usual, turns)) };
}

/** A limit in dollars on a model without a price would end its agent with its first answer. */
function refuseUnpriced({ usd }: BudgetLimits, model: string, prices: PriceTable): void {
  if (usd === undefined || costOf(model, NO_USAGE, prices).usd !== null) return;
  throw new UserMistake(
    'unknown_price',
    `a budget in dollars needs a price, and none is known for ${model}: give the budget in tokens`,
  );
}

/** What it is in a team, or for a coordinator. */
export function roleOf(
  isMember: boolean,
  { phase }: { phase?: CoordinatorPhase | undefined },
): Pick<AgentOrigin, 'member' | 'phase'> {
  return { ...(isMember && { member: true as const }), ...(phase && { phase }) };
}
