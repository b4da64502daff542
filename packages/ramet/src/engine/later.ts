/** What few sessions need of the engine: loaded with the first use. */
export { headOf } from './agent/agent-content.ts';
export { toolsOf } from './children/child-terms.ts';
export { spawnAgent } from './children/spawn.ts';
export { viewRoot } from './children/view-root.ts';
export { compact } from './compaction/compaction.ts';
export { moveInto, releaseWorkspace } from './isolation/change-directory.ts';
export { resumedHousing, settleIn } from './isolation/resume-workspace.ts';
export { continueEnded } from './resume/continue-ended.ts';
export { recordedText } from './resume/recorded-report.ts';
