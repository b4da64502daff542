/**
 * What a session needs of the engine from its start on: the host of its agents, which is made here, and what eleven other
 * files make, passed on so that they are one door. The room has few doors.
 */
import { Cancelled } from '../schema/errors.ts';
import { hosted } from './agent/agent.ts';
import type { AgentHost } from './agent/runtime.ts';
import { ownPermit } from './calls/authorize.ts';
import { exchangeHere } from './exchange/exchange.ts';
import { newsHere } from './loop/run-state.ts';

/** The host of agents whose loop runs where keys, limits and rules are. */
export const localHost: AgentHost = {
  exchange: (guest, options) => exchangeHere(hosted(guest), options),
  permitFor: (guest, call, signal) => ownPermit(hosted(guest), call, signal),
  callTool: async () => {
    throw new Error('an agent in the process of its host has all of its tools');
  },
  mayHaveNews: (guest) => hosted(guest).children.anyInBackground,
  async news(guest, signal) {
    await newsHere(hosted(guest), signal);
    if (signal.aborted) throw new Cancelled();
  },
};

export { hosted } from './agent/agent.ts';
export { agentSpec } from './agent/agent-spec.ts';
export { agentMessageText, directoryChanged, hookText } from './agent/notices.ts';
export { closeCalls, hasOpenCalls } from './calls/finish-calls.ts';
export { AgentFamily } from './children/family.ts';
export { contextUse } from './compaction/context-state.ts';
export { PrefixGuard } from './exchange/prefix-guard.ts';
export { switchModel } from './exchange/switch-model.ts';
export { HostHooks } from './hooks/host-hooks.ts';
export { LaunchGate } from './launch/launch.ts';
export { lazyCalledAgents, lazyDesk, lazyWorkspaces, prepareDesks } from './lazy-parts.ts';
export { resumeAgent, tellOfLostEnd } from './resume/resume.ts';
