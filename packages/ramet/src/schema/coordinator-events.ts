/** The work of a coordinator as it is recorded: its phases, whom it continues, what its rules refuse and allow (COORD-1, COORD-2). */
import type { CoordinatorPhase } from './status.ts';

export type CoordinatorEvent =
  | PhaseChanged
  | WorkerContinued
  | CoordinationRefused
  | VerificationWrites
  | VerificationBegins
  | VerificationCompared;

/** A coordinator's work is in another phase (COORD-1). */
interface PhaseChanged {
  type: 'phase.changed';
  /** Null when the session begins. */
  from: CoordinatorPhase | null;
  to: CoordinatorPhase;
  /** What the coordinator says about it: what was found, what is planned, what is to be proved. */
  note: string;
}

/** A coordinator gives an ended worker more to do. The worker's own events follow. */
interface WorkerContinued {
  type: 'worker.continued';
  worker: string;
  phase: CoordinatorPhase;
}

/** A rule of its phase kept a coordinator from something (COORD-2). */
interface CoordinationRefused {
  type: 'coordination.refused';
  what: 'delegation' | 'phase' | 'answer';
  phase: CoordinatorPhase;
  /** Which of them: equal ones are counted, and the third passes where that is said. */
  key: string;
  reason: string;
}

/** A command of a verification may write these files, which were not there before: it may do so again (COORD-1). */
interface VerificationWrites {
  type: 'verification.writes';
  /** Absolute, links followed. */
  paths: string[];
}

/** A worker is given something to verify: what is verified is this, of the files that git knows (COORD-1). */
interface VerificationBegins {
  type: 'verification.begins';
  /** The name of the list of them, beside the output of the session's commands. */
  list: string;
}

/** The verification that counts was compared when its workers had ended. */
interface VerificationCompared {
  type: 'verification.compared';
  /** Those of its files that are not any more what they were when it began, from the top of the repository. */
  changed: string[];
}
