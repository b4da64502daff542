/** What works here and what does not, each with what to do; and saving what can be read of a damaged session. */

import { missingFiles } from '../../journal/missing-files.ts';
import { type RepairOutcome, repairSession } from '../../journal/repair-session.ts';
import { findSession, listSessions } from '../../journal/session-list.ts';
import { describeError } from '../../schema/errors.ts';
import type { SessionId } from '../../schema/ids.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { findPlace } from '../place.ts';
import { checkExtensions } from './extension-checks.ts';
import { type DoctorContext, type HealthCheck, missing } from './health-check.ts';
import { checkNetwork, checkProvider } from './model-checks.ts';
import {
  checkHome,
  checkJournal,
  checkOthers,
  checkProcesses,
  checkSettings,
  checkTrust,
} from './place-checks.ts';
import { checkGit, checkNode, checkRipgrep, checkSandbox } from './program-checks.ts';
import { checkServers } from './server-check.ts';
import { checkSessions } from './session-check.ts';

const CHECKS: Readonly<Record<string, (context: DoctorContext) => HealthCheck | Promise<HealthCheck>>> = {
  node: checkNode,
  git: checkGit,
  ripgrep: checkRipgrep,
  sandbox: checkSandbox,
  model: checkProvider,
  network: ({ caller }) => checkNetwork(caller.env),
  home: checkHome,
  journal: checkJournal,
  sessions: checkSessions,
  processes: checkProcesses,
  settings: checkSettings,
  others: checkOthers,
  extensions: checkExtensions,
  trust: checkTrust,
  mcp: checkServers,
};

export async function checkHealth(options: CallOptions = {}): Promise<HealthCheck[]> {
  const caller = callerOf(options);
  const context = { caller, place: findPlace(caller) };
  const checks: HealthCheck[] = [];
  // One after the other: `home` makes the directory that `journal` writes to.
  for (const [name, check] of Object.entries(CHECKS)) checks.push(await carriedOut(name, check, context));
  return checks;
}

/** A check that breaks is itself something that does not work. */
async function carriedOut(
  name: string,
  check: (context: DoctorContext) => HealthCheck | Promise<HealthCheck>,
  context: DoctorContext,
): Promise<HealthCheck> {
  try {
    return await check(context);
  } catch (error) {
    return missing(name, describeError(error), 'report this with the output of ramet doctor --json');
  }
}

/** `wanted` is its id or the beginning of it. */
export function repair(
  wanted: string,
  options: CallOptions = {},
): { session: SessionId; outcome: RepairOutcome } {
  const { project } = findPlace(callerOf(options));
  const session = missingSession(project, wanted) ?? findSession(project, wanted).session;
  return { session, outcome: repairSession({ project, session }) };
}

/** The one session whose file is missing that can be meant. */
function missingSession(project: string, wanted: string): SessionId | null {
  const isMeant = ({ session }: { session: SessionId }): boolean => session.startsWith(wanted);
  const [missing, ...others] = wanted === '' ? [] : missingFiles(project).filter(isMeant);
  return missing === undefined || others.length > 0 || listSessions(project).some(isMeant)
    ? null
    : missing.session;
}
