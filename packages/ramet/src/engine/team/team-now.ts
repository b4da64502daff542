/** The team as it is now, for the lead and for programs: what each member does, and the open tasks. */
import { teamNow } from '../../agents/prompts/teammate.ts';
import { quoteMessage } from '../../conversation/quoted-text.ts';
import { MemberStates } from '../../journal/projections/member-states.ts';
import { LEAD, type ShownMember } from '../../schema/team.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import type { AgentFamily } from '../children/family.ts';
import { taskListText } from './task-desk.ts';

export class TeamNow {
  readonly #team: StoredTeam;
  readonly #states: MemberStates;

  constructor(team: StoredTeam, { parts }: AgentFamily) {
    this.#team = team;
    this.#states = new MemberStates(() => parts.openReader());
  }

  /** The lead first. */
  members(): ShownMember[] {
    return this.#states.shown(this.#team.roster.members(), true);
  }

  /** Roster and open tasks: what a lead might no longer know after a restart or a compaction. */
  text(): string {
    const others = this.members().filter(({ name }) => name !== LEAD);
    const lines = others.map(({ name, agent, state, cause, plan, branch }) => {
      const why = cause === null ? '' : `: ${cause}`;
      const planned = plan === null ? '' : `, plan ${plan}`;
      const works = branch === null ? '' : `, branch ${branch}`;
      return `${name} (${agent ?? 'not begun'}, ${state}${why}${planned}${works})`;
    });
    return teamNow(lines.map(quoteMessage), taskListText(this.#team.tasks.all(), true));
  }
}
