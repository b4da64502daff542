/** Commands that carry out what a person has decided: a program of an agent does not get them. */
import type { Command } from 'commander';
import type { CommandIo } from './io.ts';

/** For no agent: they would give it more rights, or answer what people are asked. */
const DECISIONS = [
  ...['add', 'answer', 'approve', 'ask', 'pause', 'resume', 'retry', 'skip', 'start'].map(
    (name) => `operate ${name}`,
  ),
  ...['approve', 'attach', 'reject', 'resume', 'send', 'stop'].map((name) => `team ${name}`),
  ...['add', 'login', 'rm'].map((name) => `mcp ${name}`),
  ...['edit', 'token new', 'token revoke', 'undo'].map((name) => `memory ${name}`),
  'trust',
];

/** Not for agents with a worktree of their own: what they change outside of it belongs to others. */
const OUTSIDE = [
  'gc',
  'merge',
  'sessions rename',
  'sessions rm',
  'stop',
  'undo',
  'worktree gc',
  'worktree rm',
];

export function refuseAgentsIn(program: Command, { env }: Pick<CommandIo, 'env'>): void {
  program.hook('preAction', async (_, action) => {
    const name = nameOf(action);
    const isRefused =
      DECISIONS.includes(name) || (OUTSIDE.includes(name) && env.RAMET_WORKTREE !== undefined);
    if (!isRefused || (name === 'trust' && action.opts().show === true)) return;
    const { refuseAgents } = await import('../sdk/calls/calling-agent.ts');
    refuseAgents(`ramet ${name}`, env);
  });
}

/** Without the program's own. */
function nameOf(command: Command): string {
  const above = command.parent;
  return above === null || above.parent === null ? command.name() : `${nameOf(above)} ${command.name()}`;
}
