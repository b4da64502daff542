/** What a session needs of the engine from its start on. */

export { hosted } from './agent/agent.ts';
export { agentSpec } from './agent/agent-spec.ts';
export { localHost } from './agent/local-host.ts';
export { agentMessageText, directoryChanged } from './agent/notices.ts';
export { closeCalls, hasOpenCalls } from './calls/finish-calls.ts';
export { AgentFamily } from './children/family.ts';
export { lazyCalledAgents, lazyDesk, prepareDesks } from './children/lazy-desk.ts';
export { switchModel } from './exchange/fallback.ts';
export { PrefixGuard } from './exchange/prefix-guard.ts';
export { lazyWorkspaces } from './isolation/lazy-workspaces.ts';
export { LaunchGate } from './launch/launch.ts';
export { resumeAgent, tellOfLostEnd } from './resume/resume.ts';
