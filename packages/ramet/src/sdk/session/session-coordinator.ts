/** The coordinator of a session: what turns it on, its host in this process, and what it is told. Loaded late. */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { offeredDefinitions } from '../../agents/prompts/built-in.ts';
import { COORDINATOR_PROMPT, coordinatorContext } from '../../agents/prompts/coordinator.ts';
import { coordinatorHost, toolsOf } from '../../engine/later.ts';
import type { Agent, AgentFamily } from '../../engine/shapes.ts';
import type { SessionRules } from '../../permission/policy.ts';
import { UserMistake } from '../../schema/errors.ts';
import { scratchpadIn } from '../../system/home.ts';
import { splitForCoordinator } from '../../tools/registry.ts';
import type { Tool } from '../../tools/tool.ts';
import type { LeadRole } from '../agent-types/code-types.ts';
import type { ResolvedOptions } from '../options.ts';
import type { CoordinatorView } from './session-type.ts';

export interface SessionCoordinator {
  readonly view: CoordinatorView;
  /** What the coordinator should know before a prompt; null when it knows it. */
  news(): string | null;
}

/** Before anything of the session is made. */
export function refuseOtherRoles({ team }: ResolvedOptions, isWatch: boolean): void {
  if (team !== null)
    throw new UserMistake(
      'bad_argument',
      'a session is led by a coordinator or leads a team: leave --coordinator (RAMET_COORDINATOR_MODE) or --team out',
    );
  if (isWatch)
    throw new UserMistake(
      'bad_argument',
      'a session that watches a run has its own tools: leave the coordinator out',
    );
}

/** The same options for a session with a coordinator: models cannot fork, and as many work at once as there are cores. */
export function coordinated(settings: ResolvedOptions): ResolvedOptions {
  const { agents } = settings;
  const concurrent = agents.concurrent ?? availableParallelism();
  return {
    ...settings,
    coordinator: true,
    leadRole: { system: COORDINATOR_PROMPT, split: splitTools },
    agents: { ...agents, limits: { ...agents.limits, concurrent, fork: false } },
  };
}

function splitTools(tools: readonly Tool[]): ReturnType<LeadRole['split']> {
  const split = splitForCoordinator(tools);
  if (split.lead.some(({ schedule }) => schedule === 'last')) return split;
  throw new UserMistake(
    'no_agent_tool',
    'a coordinator needs the tool Agent: name it in --tools, or use a type for the main agent that has it',
  );
}

interface CoordinatorOrder {
  readonly family: AgentFamily;
  readonly lead: Agent;
  readonly permissions: SessionRules;
  readonly isResumed: boolean;
}

export async function openCoordinator({
  family,
  lead,
  permissions,
  isResumed,
}: CoordinatorOrder): Promise<SessionCoordinator> {
  const scratchpad = scratchpadIn(lead.runtime.outputDirectory);
  mkdirSync(scratchpad, { recursive: true, mode: 0o700 });
  permissions.allow([`Edit(/${scratchpad}/**)`]);
  if (!isResumed)
    lead.record({ type: 'phase.changed', from: null, to: 'research', note: 'the session begins' });
  const { CoordinatorHost } = await coordinatorHost();
  const { knownFiles } = await import('../../git/managed-worktrees.ts');
  const { outputDirectory, childEnvironment: env } = lead.runtime;
  const files = knownFiles(() => lead.directory.cwd, { env, folder: outputDirectory });
  const host = new CoordinatorHost({ family, lead, scratchpad, files });
  family.coordinator = host;
  let isTold = false;
  return {
    view: {
      get phase() {
        return host.phase;
      },
      scratchpad,
    },
    news() {
      if (isTold) return null;
      isTold = true;
      const isFirst = lead.conversation.messages.length === 0;
      return isFirst ? contextOf(family, lead, scratchpad) : host.now();
    },
  };
}

function contextOf({ parts }: AgentFamily, lead: Agent, scratchpad: string): string {
  const types = offeredDefinitions(parts.definitions).map((definition) => ({
    name: definition.name,
    tools: toolsOf(definition, lead).map(({ name }) => name),
  }));
  const servers = parts.serversOf?.(lead.spec.childTools ?? [])?.keys ?? [];
  return coordinatorContext({ types, servers, scratchpad, concurrent: parts.limits.concurrent });
}
