/** What a person should know of a session that was just opened, one line each. */
import type { Session } from '../sdk/session.ts';
import type { CommandIo } from './io.ts';

export function sessionNotes({ repository, agent }: Session, { cwd }: CommandIo): string[] {
  return [
    ...(repository === null ? [`${agent.cwd} is not in a git repository: working without git`] : []),
    // A resumed session goes on where it began.
    ...(agent.cwd === cwd ? [] : [`going on in ${agent.cwd}`]),
  ];
}
