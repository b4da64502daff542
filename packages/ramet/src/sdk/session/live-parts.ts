/** What a running session consists of. Shapes only. */
import type { Agent } from '../../engine/shapes.ts';
import type { StartSource } from '../../schema/status.ts';
import type { ToldTypes } from '../agent-types/agent-types.ts';
import type { ResolvedOptions } from '../options.ts';
import type { Place } from '../place.ts';
import type { Surroundings } from './main/surroundings.ts';
import type { SessionCoordinator } from './session-coordinator.ts';
import type { SharedParts } from './session-runtime.ts';
import type { SessionTeam } from './session-team.ts';
import type { OpenSession } from './session-type.ts';

export interface LiveParts extends SharedParts {
  agent: Agent;
  place: Place;
  settings: ResolvedOptions;
  /** Null when the conversation has begun. */
  surroundings: Surroundings | null;
  told: ToldTypes;
  /** Absent for a session that leads none. */
  team?: SessionTeam;
  /** Absent for a session whose main agent does not coordinate. */
  coordinator?: SessionCoordinator;
  /** An earlier process may have left agents to resume. */
  isResumed: boolean;
  startSource: StartSource;
  /** Opens another session, for an agent that is to be independent of this one. */
  open: OpenSession;
}
