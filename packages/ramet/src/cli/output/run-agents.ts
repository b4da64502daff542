/**
 * The agents of a run, for the result object: what was seen and recorded in this process. Nothing is read back, so a
 * run that is over has its result even if the disk failed.
 */
import {
  admitAgent,
  agentOfStart,
  emptyBoard,
  extendBoard,
  type StatusBoard,
} from '../../journal/projections/status.ts';
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

export class RunAgents {
  /** Only what happens in this run: a session that is resumed has a longer past. */
  readonly #ledger: Ledger = emptyLedger();
  readonly #board: StatusBoard = emptyBoard();
  readonly #children = new Map<AgentId, { worktree: WorktreeResult | null }>();
  /** Turns of earlier runs, for an agent that was resumed: its result counts them too. */
  readonly #carried = new Map<AgentId, number>();

  recorded(agent: AgentId | null, event: JournalEvent): void {
    const recorded = { seq: this.#ledger.seq + 1, time: 0, agent, event };
    extendLedger(this.#ledger, recorded);
    extendBoard(this.#board, recorded);
  }

  saw(event: SessionEvent): void {
    if (event.type === 'agent_started') this.#admit(event);
    if (event.type !== 'agent_ended') return;
    const child = this.#board.agents.get(event.agentId);
    if (child === undefined) return;
    const { status, cause, turns, model = child.model, worktree = null } = event;
    const own = turns - (this.#carried.get(child.id) ?? 0);
    Object.assign(child, { status, cause, turns: Math.max(own, child.turns), model });
    this.#children.set(child.id, { worktree });
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
    const children = Array.from(this.#children, ([child, facts]) => this.#childOf(child, facts));
    return agentTree([main, ...children.flatMap((child) => child ?? [])]).map(({ agent }) => {
      const own = this.#ledger.agents.get(agent.id) ?? emptyLine();
      return { ...agent, usage: own.usage, costUsd: own.costUsd };
    });
  }

  #childOf(
    id: AgentId,
    facts: { worktree: WorktreeResult | null },
  ): Omit<RunAgent, 'usage' | 'costUsd'> | null {
    const child = this.#board.agents.get(id);
    if (child === undefined) return null;
    const { parent, type, name, status, cause, model, turns } = child;
    return { id, parent, type, name, status, cause, model, turns, ...facts };
  }

  /** One that is continued starts again, and keeps what it has. */
  #admit(event: SessionEvent & { type: 'agent_started' }): void {
    const { agentId: id } = event;
    const turns = this.#board.agents.get(id)?.turns ?? 0;
    admitAgent(this.#board, { ...agentOfStart(id, event, 0), turns });
    this.#carried.set(id, event.carried?.turns ?? 0);
    this.#children.set(id, { worktree: null });
  }
}
