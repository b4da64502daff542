import { describeError, RametError } from '../schema/errors.ts';
import type { GitOutcome } from './run-git.ts';

/** An end of git that was not expected, with git's own reason. */
export function gitFailed(args: readonly string[], { code, stderr }: GitOutcome): RametError {
  const reason = describeError(stderr).slice(0, 500) || `it exited with ${code}`;
  return new RametError('git_failed', 'terminal', `git ${args[0]} failed: ${reason}`);
}
