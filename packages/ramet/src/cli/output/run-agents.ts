/**
 * The agents of a run, for the result object. A run of one agent knows all of it from its result; what children did,
 * and what of the sums is whose, is read from the journal once some were seen.
 */
import type { AgentResult } from '../../engine/agent-event.ts';
import { agentTree } from '../../journal/projections/agent-tree.ts';
import { ledgerOf } from '../../journal/projections/ledger.ts';
import { emptyLine } from '../../journal/projections/ledger-line.ts';
import type { AgentStatus } from '../../schema/status.ts';
import type { Usage } from '../../schema/usage.ts';
import type { Session, SessionEvent } from '../../sdk/session.ts';
import type { CommandIo } from '../io.ts';
import { viewSession } from '../session-view.ts';

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
}

export class RunAgents {
  readonly #io: CommandIo;
  readonly #began: number = Date.now();
  #hasChildren = false;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  saw({ agentId }: SessionEvent, { agent }: Session): void {
    if (agentId !== agent.id) this.#hasChildren = true;
  }

  /** The main agent first, children after their parents. */
  list(session: Session, result: AgentResult): RunAgent[] {
    const { id, parent, type, name } = session.agent;
    const { status, cause, turns, usage, costUsd } = result;
    const main = { id, parent, type, name, status, cause, model: session.model, turns, usage, costUsd };
    return this.#hasChildren ? this.#family(main) : [main];
  }

  /** Only what happened in this run: a session that goes on has a longer past. */
  #family(main: RunAgent): RunAgent[] {
    using view = viewSession(main.id.split('.', 1)[0], this.#io);
    const began = this.#began;
    const ledger = ledgerOf(Iterator.from(view.reader.events()).filter(({ time }) => time >= began));
    const present = view.agents.filter(({ id, lastEventAt }) => id === main.id || lastEventAt >= began);
    return agentTree(present).map(({ agent }) => {
      const { usage, costUsd } = ledger.agents.get(agent.id) ?? emptyLine();
      const { id, parent, type, name, status, cause, model, turns } = agent.id === main.id ? main : agent;
      return { id, parent, type, name, status, cause, model, turns, usage, costUsd };
    });
  }
}
