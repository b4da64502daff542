/** Where a command of an agent runs, once it may. */
import type { Confinement } from '../../permission/assessment.ts';
import { plainShell, type ShellDecision } from '../../sandbox/command-sandbox.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { Agent } from '../agent/agent.ts';
import type { Permit } from './permit.ts';

export interface HeldCall {
  readonly confinement: Confinement;
  /** Asks whether the call may run outside the wall that stopped it. */
  outside(stopped: string | null): Promise<Permit>;
}

/**
 * Where a command of an agent runs: behind the wall if it was judged to only read, within the bounds of its worktree if
 * the agent has one, and otherwise unconfined, since the user or a rule allowed it.
 */
export function agentShell(
  agent: Agent,
  { confinement, outside }: HeldCall,
  tell: (message: string) => void,
): Pick<ToolContext, 'shell' | 'outside'> {
  const shell = (command: string): Promise<ShellDecision> => shellFor(agent, confinement, command, tell);
  if (confinement !== 'wall') return { shell };
  return {
    shell,
    async outside(command, stopped) {
      const permit = await outside(stopped);
      if (permit.kind === 'refused') return { refusal: permit.reason };
      return shellFor(agent, permit.confinement, command, tell);
    },
  };
}

async function shellFor(
  { spec, runtime: { sandbox, childEnvironment }, directory }: Agent,
  confinement: Confinement,
  command: string,
  tell: (message: string) => void,
): Promise<ShellDecision> {
  const { cwd, workspace } = directory;
  const reading = (decision: ShellDecision): Promise<ShellDecision> =>
    asReading(decision, cwd, childEnvironment);
  if (confinement === 'wall') return reading(await sandbox.shell(command, cwd));
  const outside =
    workspace === null
      ? plainShell(command)
      : await sandbox.isolatedShell(command, cwd, workspace.bounds, tell);
  if (confinement === 'none') return outside;
  return reading(await sandbox.judgedShell(outside, spec.readOnly === true ? tell : null));
}

/** No one was asked, so nothing runs that the folder's own git configuration names (SEC-1). */
async function asReading(
  decision: ShellDecision,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<ShellDecision> {
  if ('refusal' in decision) return decision;
  const { readingEnvironment } = await import('../../git/folder-guard.ts');
  return { ...decision, environment: { ...decision.environment, ...(await readingEnvironment(cwd, env)) } };
}
