/**
 * Which agent's command this process is. What a person decides is not for an agent to say, so commands that carry such a decision
 * ask here first. A sandbox is what holds an agent. Without one, this holds as long as the agent hides nothing.
 *
 * An agent counts in the `$RAMET_HOME` that has its session: programs that it starts with another one, as tests do, are not meant.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sessionPath } from '../../journal/session-file.ts';
import { UserMistake } from '../../schema/errors.ts';
import { isSessionId } from '../../schema/ids.ts';
import { rametHome } from '../../system/home.ts';
import { parentOf } from '../../system/processes/process-identity.ts';
import { AGENT_VARIABLE } from '../../system/processes/process-register.ts';
import { environmentOf } from '../../system/processes/process-table.ts';

/** `what` is the command as it is typed. */
export function refuseAgents(what: string, env: NodeJS.ProcessEnv): void {
  const agent = callingAgent(env);
  if (agent === null) return;
  throw new UserMistake(
    'for_a_person',
    `${what} is for a person, and this is a command of agent ${agent}: ask the person who runs it, in your report`,
  );
}

/** The id of the agent; null for a person. The environment of a process above counts too: a command can change its own. */
export function callingAgent(env: NodeJS.ProcessEnv, pid: number = process.pid): string | null {
  const named = [env[AGENT_VARIABLE], ...namedAbove(pid)].filter((name) => name !== undefined);
  if (named.length === 0) return null;
  const home = rametHome(env);
  return named.find((name) => hasSession(home, name)) ?? null;
}

const MOST_ABOVE = 50;

function namedAbove(pid: number): string[] {
  const found: string[] = [];
  let above = parentOf(pid);
  for (let count = 0; above !== null && above > 1 && count < MOST_ABOVE; count++, above = parentOf(above)) {
    const name = variableOf(above);
    if (name !== null) found.push(name);
  }
  return found;
}

function variableOf(pid: number): string | null {
  const mark = `${AGENT_VARIABLE}=`;
  return (
    environmentOf(pid)
      ?.find((text) => text.startsWith(mark))
      ?.slice(mark.length) ?? null
  );
}

function hasSession(home: string, agent: string): boolean {
  const session = agent.split('.', 1)[0] ?? '';
  if (!isSessionId(session)) return false;
  const projects = join(home, 'projects');
  const names = existsSync(projects) ? readdirSync(projects) : [];
  return names.some((name) => existsSync(sessionPath(join(projects, name), session)));
}
