/** The user's command that makes a new worktree ready for use (`worktree.setup`). Its failure is told, not hidden. */
import { spawn } from 'node:child_process';
import { forTrustedCommand } from '../../system/child-environment.ts';
import type { ManagedWorktree } from './worktree.ts';
import { worktreeEnvironment } from './worktree-environment.ts';
import type { WorktreePlace } from './worktree-place.ts';

export interface SetupOutcome {
  command: string;
  /** Null when it was ended by a signal. */
  code: number | null;
  /** The last part of both outputs. */
  output: string;
  /** Why it did not run at all. */
  refused?: string;
}

const KEPT_CHARACTERS = 4_000;

/** Null where nothing is to be run. */
export async function runSetup(
  place: WorktreePlace,
  worktree: ManagedWorktree,
  signal?: AbortSignal,
): Promise<SetupOutcome | null> {
  const command = place.settings.setup?.trim() ?? '';
  if (command === '') return null;
  const refusal = place.settings.whyNoSetup?.(worktree.path) ?? null;
  if (refusal !== null)
    return { command, code: null, output: `it did not run: ${refusal}`, refused: refusal };
  const env = forTrustedCommand(place.env);
  const shell = spawn('bash', ['-c', command], {
    cwd: worktree.path,
    env: { ...env, ...worktreeEnvironment({ ...place, env }, worktree), PWD: worktree.path },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal !== undefined && { signal }),
    killSignal: 'SIGKILL',
  });
  let output = '';
  const take = (text: string): void => {
    output = (output + text).slice(-KEPT_CHARACTERS);
  };
  shell.stdout.setEncoding('utf8').on('data', take);
  shell.stderr.setEncoding('utf8').on('data', take);
  const code = await new Promise<number | null>((settle, fail) => {
    shell.once('error', fail).once('close', settle);
  });
  return { command, code, output };
}
