/** What calls of the lead and of members ask of the team: each call has its own desks, under its id. */
import type { AgentId } from '../../schema/ids.ts';
import type { PlanDesk, TaskDesk } from '../../tools/agent-desk.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentFamily } from '../children/family.ts';
import { type PlanQuestions, planDesk } from './plan-desk.ts';
import { type TeamAsker, taskDesk, taskHooks } from './task-desk.ts';
import { workOf } from './task-proof.ts';

type DeskHost = Parameters<typeof taskDesk>[0] & Parameters<typeof planDesk>[0] & NamingHost;

interface NamingHost {
  /** A member's name, or the id of an agent that is none. */
  nameOf(agent: AgentId): string;
}

interface DeskParts {
  readonly host: DeskHost;
  readonly family: AgentFamily;
  readonly lead: Agent;
  readonly plans: PlanQuestions;
}

export class TeamDesks {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  tasksFor(agent: AgentId, call: string, signal: AbortSignal): TaskDesk {
    const { host, family, lead } = this.#parts;
    return taskDesk(host, {
      ...this.#asker(agent, call),
      ...workOf(family.find(agent) ?? lead),
      hooks: (event) => {
        const named = { teammate_name: host.nameOf(agent), team_name: host.team.record.name };
        return taskHooks(family.find(agent) ?? lead, event, named, signal);
      },
    });
  }

  plansFor(agent: AgentId, call: string): PlanDesk {
    const { host, plans } = this.#parts;
    return planDesk(host, { ...this.#asker(agent, call), hasPerson: () => plans.hasPerson });
  }

  #asker(agent: AgentId, call: string): TeamAsker {
    const { host, lead } = this.#parts;
    return {
      call: `${agent}:${call}`,
      name: () => host.nameOf(agent),
      recorded: () => lead.runtime.journal.commit('written'),
    };
  }
}
