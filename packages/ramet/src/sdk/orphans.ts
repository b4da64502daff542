/** What a killed process left running in a repository is ended at the next start there, and that is recorded (RES-8). */
import type { Journal } from '../journal/journal.ts';
import { processDirectory, type RunningGroup, reapOrphans } from '../system/processes/process-register.ts';
import type { Place } from './place.ts';

export function endOrphans({ project }: Pick<Place, 'project'>): Promise<RunningGroup[]> {
  return reapOrphans(processDirectory(project));
}

export function recordEndedOrphans(journal: Journal, ended: readonly RunningGroup[]): void {
  if (ended.length === 0) return;
  const groups = ended.map(({ leader, agent }) => `${leader.pid} of agent ${agent}`).join(', ');
  const message = `ended process groups that a killed ramet had left running: ${groups}`;
  journal.append(null, { type: 'warning.raised', code: 'orphans_ended', message });
}
