/** What the library can say and change about what is set up here: settings, trust, agent types, servers, health. */

import type { RepairOutcome } from '../journal/repair-session.ts';
import type { SessionId } from '../schema/ids.ts';
import type { AgentTypeView } from './agent-types/child-view.ts';
import {
  checkArgument,
  checkOptions,
  FLAG,
  FUNCTION,
  NAME,
  NAMES,
  OBJECT,
  oneOf,
} from './calls/argument-kinds.ts';
import type { CallOptions } from './calls/caller.ts';
import { CALL } from './calls/check-arguments.ts';
import type { AgentTypeList, CheckedTypes } from './calls/check-types.ts';
import type { SettingsOverview } from './calls/settings-report.ts';
import type { TrustReview } from './calls/trust.ts';
import type { HealthCheck } from './doctor/health-check.ts';
import type { AddScope, ServerListing, TriedServer, WrittenServer } from './mcp/manage-servers.ts';

/** What works here and what does not, each with what to do. */
export async function checkHealth(options?: CallOptions): Promise<HealthCheck[]> {
  checkOptions('checkHealth', options, CALL);
  return (await import('./doctor/doctor.ts')).checkHealth(options);
}

/** Takes what can be read of a damaged session into a new file. */
export async function repairSession(
  session: string,
  options?: CallOptions,
): Promise<{ session: SessionId; outcome: RepairOutcome }> {
  checkArgument('repairSession', 'the session', session, NAME);
  checkOptions('repairSession', options, CALL);
  return (await import('./doctor/doctor.ts')).repair(session, options);
}

/** What of a repository trust is about, and what of it is new or has changed. */
export async function reviewTrust(options?: CallOptions): Promise<TrustReview> {
  checkOptions('reviewTrust', options, CALL);
  return (await import('./calls/trust.ts')).trustOf(options);
}

/**
 * Trusts a repository as it is now, and returns what was so before. With the `digest` of a review as `seen`, it trusts nothing
 * and returns null if that is no longer what is there.
 */
export async function trustFolder(options?: CallOptions & { seen?: string }): Promise<TrustReview | null> {
  checkOptions('trustFolder', options, { ...CALL, seen: NAME });
  return (await import('./calls/trust.ts')).changeTrust('trust', options);
}

/** Returns what was so before. */
export async function revokeTrust(options?: CallOptions): Promise<TrustReview> {
  checkOptions('revokeTrust', options, CALL);
  const { changeTrust, trustOf } = await import('./calls/trust.ts');
  return changeTrust('revoke', options) ?? trustOf(options);
}

/** Every setting that counts here, where it comes from, and what does not count and why. */
export async function readSettings(options?: CallOptions): Promise<SettingsOverview> {
  checkOptions('readSettings', options, CALL);
  return (await import('./calls/settings-report.ts')).settingsOverview(options);
}

/** Every agent type of this place, in use or not. */
export async function listAgentTypes(options?: CallOptions): Promise<AgentTypeList> {
  checkOptions('listAgentTypes', options, CALL);
  return (await import('./calls/check-types.ts')).listAgentTypes(options);
}

/** What is wrong in files of agent types; in all of this place when none is named. */
export async function checkAgentTypes(
  paths: readonly string[] = [],
  options?: CallOptions,
): Promise<CheckedTypes> {
  checkArgument('checkAgentTypes', 'the argument for paths', paths, NAMES);
  checkOptions('checkAgentTypes', options, CALL);
  return (await import('./calls/check-types.ts')).checkTypes(paths, options);
}

/** What an agent of a type would be told before its task, and its tools. */
export async function viewAgentType(name: string, options?: CallOptions): Promise<AgentTypeView> {
  checkArgument('viewAgentType', 'the name', name, NAME);
  checkOptions('viewAgentType', options, CALL);
  return (await import('./agent-types/child-view.ts')).viewAgentType(name, options);
}

/** The MCP servers that are set up here, in use or not. */
export async function listServers(options?: CallOptions): Promise<ServerListing> {
  checkOptions('listServers', options, CALL);
  return (await import('./mcp/manage-servers.ts')).describeServers(options);
}

const SCOPE = oneOf(['user', 'project', 'local']);

/** Writes a server down, as `.mcp.json` has it; `scope` is `local` when absent. Returns the file. */
export async function addServer(
  name: string,
  server: WrittenServer,
  options: CallOptions & { scope?: AddScope; force?: boolean } = {},
): Promise<string> {
  checkArgument('addServer', 'the name', name, NAME);
  checkArgument('addServer', 'the server', server, OBJECT);
  checkOptions('addServer', options, { ...CALL, scope: SCOPE, force: FLAG });
  const { scope = 'local', force, ...call } = options;
  return (await import('./mcp/manage-servers.ts')).addServer({ name, scope, server, force }, call);
}

/** Returns the files that it was in. */
export async function removeServer(
  name: string,
  options?: CallOptions & { scope?: AddScope },
): Promise<string[]> {
  checkArgument('removeServer', 'the name', name, NAME);
  checkOptions('removeServer', options, { ...CALL, scope: SCOPE });
  return (await import('./mcp/manage-servers.ts')).removeServer(name, options);
}

/** Starts servers and lists what they offer; all that are in use when none is named. */
export async function tryServers(
  names: readonly string[] = [],
  options?: CallOptions,
): Promise<TriedServer[]> {
  checkArgument('tryServers', 'the argument for names', names, NAMES);
  checkOptions('tryServers', options, CALL);
  return (await import('./mcp/manage-servers.ts')).tryServers(names, options);
}

/** Logs in to a server with a browser: `visit` gets the address to open. */
export async function logInToServer(
  name: string,
  options: CallOptions & { visit(url: string): void },
): Promise<'done' | 'not needed'> {
  checkArgument('logInToServer', 'the name', name, NAME);
  checkArgument('logInToServer', 'the argument for options', options, OBJECT);
  checkOptions('logInToServer', options, { ...CALL, visit: FUNCTION });
  checkArgument('logInToServer', 'the option visit', options.visit, FUNCTION);
  return (await import('./mcp/manage-servers.ts')).logInTo(name, options);
}
