/** What is asked of a team's task list, and what it returns. */
import type { TaskProof, TeamTask } from '../../schema/team.ts';
import type { ProcessIdentity } from '../../system/processes/process-identity.ts';

export interface NewTask {
  subject: string;
  description: string;
  needs?: readonly number[] | undefined;
  /** The only member who may claim it. */
  owner?: string | undefined;
  /** It comes on the list when it is accepted. */
  isProposed?: boolean | undefined;
}

export interface TaskEdit {
  subject?: string | undefined;
  description?: string | undefined;
  addNeeds?: readonly number[] | undefined;
  /** Of a pending task; null gives it to everybody. */
  owner?: string | null | undefined;
}

export interface TeamTaskEnd {
  status: 'completed' | 'failed';
  evidence?: string | null | undefined;
  /** What the record of its owner shows. */
  proof?: TaskProof | undefined;
  note?: string | null | undefined;
}

/** What ended, what became free by that, and whom to wake for it. */
export interface EndedTeamTask {
  task: TeamTask;
  freed: TeamTask[];
  wake: string[];
}

export interface TaskClaim extends ProcessIdentity {
  /** Where the conversation of the one who claims is: what it does for the task follows. */
  position?: number | undefined;
  isAlive?: ((process: ProcessIdentity) => boolean) | undefined;
}
