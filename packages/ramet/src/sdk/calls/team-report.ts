/** A team as it is on record now: who is in it and what each does, its tasks and its plans. */
import { existsSync } from 'node:fs';
import { MemberStates } from '../../journal/projections/member-states.ts';
import { openReader } from '../../journal/sessions.ts';
import type { SessionId } from '../../schema/ids.ts';
import type { ShownMember, TeamTask, WaitingPlan } from '../../schema/team.ts';
import { isProcessAlive } from '../../system/processes/process-identity.ts';
import type { StoredTeam } from '../../team/store/team-store.ts';
import { operatorDirectory } from '../place.ts';

export interface TeamReport {
  name: string;
  /** The session of its lead: resuming it resumes the team. */
  session: SessionId;
  /** The process that hosts it; null when none does. */
  host: number | null;
  /** It works on a run of tasks (`ramet operate`): only that resumes it. */
  isRun: boolean;
  /** The lead first. */
  members: readonly ShownMember[];
  tasks: readonly TeamTask[];
  /** Plans of members that wait for an answer. */
  plans: readonly WaitingPlan[];
}

/** Of one team, as often as it is asked. */
export class TeamReports {
  readonly #project: string;
  #states: MemberStates | null = null;

  constructor(project: string) {
    this.#project = project;
  }

  of(team: StoredTeam): TeamReport {
    const { name, session } = team.record;
    const place = { project: this.#project, session };
    const host = hostOf(team);
    this.#states ??= new MemberStates(() => openReader({ ...place, forgiving: true }));
    const members = this.#states.shown(team.roster.members(), host !== null);
    const plans = team.plans.waiting().map(({ member, text }) => ({ member, text }));
    const isRun = existsSync(operatorDirectory(place));
    return { name, session, host, isRun, members, tasks: team.tasks.all(), plans };
  }
}

export function hostOf({ roster }: StoredTeam): number | null {
  const host = roster.hostNow();
  return host !== null && isProcessAlive(host) ? host.pid : null;
}
