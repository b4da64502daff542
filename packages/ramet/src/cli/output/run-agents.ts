/**
 * The agents of a run, for the result object: what was seen and recorded in this process. Nothing is read back, so a
 * run that is over has its result even if the disk failed.
 */
import type { JournalEvent } from '../../schema/events.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { Usage } from '../../schema/usage.ts';
import type { AgentResult, WorktreeResult } from '../../sdk/index.ts';
import type { Session, SessionEvent } from '../../sdk/session/session.ts';
import { agentTree } from '../../views/agent-label.ts';
import { emptyLedger, emptyLine, extendLedger, type Ledger } from '../../views/ledger/ledger.ts';

export interface RunAgent {
  id: string;
  parent: string | null;
  type: string;
  name: string | null;
  status: AgentStatus;
  cause: string | null;
  model: string;
  turns: number;
  /** Its own, without that of its children. */
  usage: Usage;
  costUsd: number | null;
  /** Its own, once it has given it back; null for one that had none. */
  worktree: WorktreeResult | null;
}

type SeenAgent = Omit<RunAgent, 'usage' | 'costUsd'>;

export class RunAgents {
  /** Only what happens in this run: a session that is resumed has a longer past. */
  readonly #ledger: Ledger = emptyLedger();
  readonly #children = new Map<AgentId, SeenAgent>();
  /** Turns of earlier runs, for an agent that was resumed: its result counts them too. */
  readonly #carried = new Map<AgentId, number>();

  recorded(agent: AgentId | null, event: JournalEvent): void {
    extendLedger(this.#ledger, { seq: this.#ledger.seq + 1, time: 0, agent, event });
  }

  saw(event: SessionEvent): void {
    if (event.type === 'agent_started') this.#admit(event);
    const child = this.#children.get(event.agentId);
    if (child === undefined) return;
    if (event.type === 'assistant') child.turns += 1;
    if (event.type === 'status_changed') Object.assign(child, { status: event.status, cause: event.cause });
    if (event.type !== 'agent_ended') return;
    const { status, cause, turns, model = child.model, worktree = null } = event.result;
    const own = turns - (this.#carried.get(child.id) ?? 0);
    Object.assign(child, { status, cause, turns: Math.max(own, child.turns), model, worktree });
  }

  /** The main agent first, children after their parents. */
  list(session: Session, result: AgentResult): RunAgent[] {
    const { id, parent, type, name } = session.agent;
    const { status, cause, turns, usage, costUsd } = result;
    const main = {
      id,
      parent,
      type,
      name,
      status,
      cause,
      model: session.model,
      turns,
      worktree: result.worktree ?? null,
    };
    if (this.#children.size === 0) return [{ ...main, usage, costUsd }];
    return agentTree([main, ...this.#children.values()]).map(({ agent }) => {
      const own = this.#ledger.agents.get(agent.id) ?? emptyLine();
      return { ...agent, usage: own.usage, costUsd: own.costUsd };
    });
  }

  /** One that is continued starts again, and keeps what it has. */
  #admit(event: SessionEvent & { type: 'agent_started' }): void {
    const { agentId: id, parentAgentId: parent, agentType: type, name, model, carried } = event;
    const turns = this.#children.get(id)?.turns ?? 0;
    this.#carried.set(id, carried?.turns ?? 0);
    this.#children.set(id, {
      id,
      parent,
      type,
      name,
      status: 'running',
      cause: null,
      model,
      turns,
      worktree: null,
    });
  }
}
