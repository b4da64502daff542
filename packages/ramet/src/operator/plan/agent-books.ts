/** What agents asked of models and what it cost, summed by who they worked for: an agent that a task's agent started is the task's. */
import type { RecordedEvent } from '../../schema/events.ts';
import { addCost, addUsage, NO_USAGE, type Usage } from '../../schema/usage.ts';
import type { LaunchHistory, TaskHistory } from './run-history.ts';

export interface AgentSums {
  /** Of the first agent. */
  model: string | null;
  requests: number;
  /** When the first of them went out; null if none did. */
  firstRequestAt: number | null;
  usage: Usage;
  costUsd: number | null;
  reused: TaskHistory['reused'];
  /** Null if none had a worktree. */
  worktreeMs: number | null;
  launches: LaunchHistory[];
}

interface AgentPage extends AgentSums {
  parent: string | null;
  launch: (LaunchHistory & { decidedAt: number }) | null;
}

export class AgentBooks {
  static readonly nothing: Readonly<AgentSums> = Object.freeze(emptySums());

  readonly total: AgentSums = emptySums();
  readonly #pages: Map<string, AgentPage> = new Map();

  take({ agent, event, time }: Pick<RecordedEvent, 'agent' | 'event' | 'time'>): void {
    if (agent === null) return;
    const page = this.#page(agent);
    switch (event.type) {
      case 'agent.started':
        page.parent = event.parent;
        page.model ??= event.model;
        break;
      case 'request.started':
        for (const sums of [page, this.total]) sums.requests += 1;
        page.firstRequestAt ??= time;
        break;
      case 'request.failed':
      case 'response.completed':
        for (const sums of [page, this.total]) {
          sums.usage = addUsage(sums.usage, event.usage ?? NO_USAGE);
          sums.costUsd = addCost(sums.costUsd, event.costUsd);
        }
        if (event.type === 'response.completed' && event.reused !== undefined) {
          const { tokens, savedUsd } = event.reused;
          page.reused = {
            tokens: page.reused.tokens + tokens,
            savedUsd: addCost(page.reused.savedUsd, savedUsd),
          };
        }
        break;
      case 'worktree.created':
        page.worktreeMs = (page.worktreeMs ?? 0) + event.ms;
        break;
      case 'launch.decided':
        takeLaunch(page, event, time);
        break;
    }
  }

  #page(agent: string): AgentPage {
    const known = this.#pages.get(agent);
    if (known !== undefined) return known;
    const page = { ...emptySums(), parent: null, launch: null };
    this.#pages.set(agent, page);
    return page;
  }

  /** `owners` by agent; one that is not in it counts for the nearest agent above it that is. */
  byOwner<Owner>(owners: ReadonlyMap<string, Owner>): Map<Owner, AgentSums> {
    const found = new Map<Owner, AgentSums>();
    for (const [agent, page] of this.#pages) {
      const owner = this.#ownerOf(agent, owners);
      if (owner === undefined) continue;
      const sums = found.get(owner) ?? emptySums();
      found.set(owner, sums);
      addPage(sums, page);
    }
    return found;
  }

  #ownerOf<Owner>(agent: string, owners: ReadonlyMap<string, Owner>): Owner | undefined {
    const seen = new Set<string>();
    for (
      let id: string | null = agent;
      id !== null && !seen.has(id);
      id = this.#pages.get(id)?.parent ?? null
    ) {
      const owner = owners.get(id);
      if (owner !== undefined) return owner;
      seen.add(id);
    }
    return undefined;
  }
}

function emptySums(): AgentSums {
  return {
    ...{
      model: null,
      requests: 0,
      firstRequestAt: null,
      usage: NO_USAGE,
      costUsd: 0,
      reused: { tokens: 0, savedUsd: 0 },
    },
    ...{ worktreeMs: null, launches: [] },
  };
}

function takeLaunch(
  page: AgentPage,
  { choice, sharedTokens }: Extract<RecordedEvent['event'], { type: 'launch.decided' }>,
  time: number,
): void {
  if (choice !== 'released')
    page.launch ??= { choice, heldMs: 0, sharedTokens, savedUsd: null, decidedAt: time };
  else if (page.launch !== null) page.launch = { ...page.launch, heldMs: time - page.launch.decidedAt };
}

function addPage(sums: AgentSums, page: AgentPage): void {
  sums.model ??= page.model;
  sums.requests += page.requests;
  sums.firstRequestAt ??= page.firstRequestAt;
  sums.usage = addUsage(sums.usage, page.usage);
  sums.costUsd = addCost(sums.costUsd, page.costUsd);
  sums.reused = {
    tokens: sums.reused.tokens + page.reused.tokens,
    savedUsd: addCost(sums.reused.savedUsd, page.reused.savedUsd),
  };
  if (page.worktreeMs !== null) sums.worktreeMs = (sums.worktreeMs ?? 0) + page.worktreeMs;
  if (page.launch === null) return;
  const { decidedAt: _, ...launch } = page.launch;
  sums.launches.push({ ...launch, savedUsd: page.reused.savedUsd });
}
