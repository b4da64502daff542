/**
 * What few sessions need of the engine: other rooms import this file late, with the first use. It only passes on what twelve
 * files make, so that they are one door and one late import; each of them by itself would be a door.
 */
export { headOf } from './agent/agent-content.ts';
export { adoptWork, finishAdopting } from './background/adopt-work.ts';
export { BackgroundForks } from './background/background-forks.ts';
export { NO_TOOLS, ONE_ANSWER } from './background/background-work.ts';
export { finishedLine, finishLeftAdoption, unmarkAdoption } from './background/left-adoption.ts';
export { answerOfFork, standOf, TouchedFiles } from './background/prepared-work.ts';
export { speculationVerdict } from './background/speculation-rights.ts';
export { AgentSummaries } from './background/summarise-agents.ts';
export { callForAgent, callForUser } from './calls/user-call.ts';
export { toolsOf } from './children/child-terms.ts';
export { spawnAgent } from './children/spawn.ts';
export { viewRoot } from './children/view-root.ts';
export { compact } from './compaction/compaction.ts';
export { memoryWritten } from './hooks/memory-hooks.ts';
export { moveInto, releaseWorkspace } from './isolation/change-directory.ts';
export { childWorkspace } from './isolation/child-workspace.ts';
export { resumedHousing, settleIn } from './isolation/resume-workspace.ts';
export { worktreeCreated } from './isolation/worktree-hooks.ts';
export { recordedText, recordedWorktree } from './resume/recorded-report.ts';
export { resumeEnded } from './resume/resume-ended.ts';
export { rewindTo } from './resume/rewind.ts';
export { TeamHost } from './team/team-host.ts';

/** By itself: it brings the library of state machines. */
export function coordinatorHost(): Promise<typeof import('./coordinator/coordinator-host.ts')> {
  return import('./coordinator/coordinator-host.ts');
}
