/**
 * Puts the result of a run on its target. A target that was set back, or whose commits were rewritten, has moved: what the run
 * did since is done again on top of it, and what a person has removed stays removed.
 */
import { callIn, mergeTrees, writeCommit, writeScratchCommit } from '../../git/merges.ts';
import { gitText, runGit } from '../../git/run-git.ts';
import type { LandingReport } from '../../operator/run/ports.ts';
import { RametError } from '../../schema/errors.ts';
import type { OperatorRun } from '../../schema/operator-events.ts';
import type { OpenTarget } from '../merge/open-target.ts';
import { targetGone } from './merge-offers.ts';

type Repository = OpenTarget['repository'];

export interface TargetLanding {
  /** Where the target was when the run began, or when it moved it last. */
  readonly known: string;
  land(run: OperatorRun, commit: string): Promise<LandingReport>;
}

/** Whatever git refuses is a landing that failed: the result stays on the private ref, and the run can be resumed. */
export async function landOnTarget(
  run: OperatorRun,
  commit: string,
  { known, land }: TargetLanding,
  repository: Repository,
): Promise<LandingReport> {
  const failed = (message: string): LandingReport => ({
    ...{ state: 'failed', before: null, after: null, commit, message },
  });
  try {
    const tip = await tipOf(run.target, repository);
    if (tip === null) return targetGone(run, commit);
    if (await isIn(known, tip, repository)) return await land(run, commit);
    const again = await replayed({ from: known, to: commit, onto: tip }, repository);
    const what = `${run.target} no longer has ${known.slice(0, 10)}, which it had before`;
    if ('files' in again)
      return failed(
        `${what}, and what was done since does not fit (${again.files.join(', ')}): take it with git merge ${commit}`,
      );
    const report = await land(run, again.commit);
    return {
      ...report,
      message: [`${what}: what was done since is on top of ${tip.slice(0, 10)}`, report.message]
        .filter((text) => text !== null)
        .join('; '),
    };
  } catch (error) {
    if (error instanceof RametError) return failed(error.message);
    throw error;
  }
}

async function tipOf(branch: string, repository: Repository): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  const { code, stdout } = await runGit(args, callIn(repository));
  return code === 0 ? stdout.trim() : null;
}

async function isIn(commit: string, tip: string, repository: Repository): Promise<boolean> {
  if (commit === tip) return true;
  const { code } = await runGit(['merge-base', '--is-ancestor', commit, tip], callIn(repository));
  return code === 0;
}

/** The commits between two, one after the other, on top of a third. A commit of scratch gives each merge its base. */
async function replayed(
  { from, to, onto }: { from: string; to: string; onto: string },
  repository: Repository,
): Promise<{ commit: string } | { files: readonly string[] }> {
  const call = callIn(repository);
  const range = ['rev-list', '--first-parent', '--reverse', '--parents', `${from}..${to}`];
  const lines = (await gitText(range, call)).split('\n').filter((line) => line !== '');
  let tip = onto;
  for (const line of lines) {
    const [commit = '', parent = ''] = line.split(' ');
    const tree = await gitText(['rev-parse', `${tip}^{tree}`], call);
    const scratch = await writeScratchCommit(tree, [parent], repository);
    const merged = await mergeTrees([scratch, commit], call);
    if (!merged.clean) return { files: merged.files };
    if (merged.tree === tree) continue;
    const [name = '', email = '', date = '', ...message] = (
      await gitText(['show', '--no-patch', '--format=%an%n%ae%n%ad%n%B', '--date=raw', commit], call)
    ).split('\n');
    const author = { name, email, date: `@${date}` };
    tip = await writeCommit(
      { tree: merged.tree, parents: [tip], message: message.join('\n'), author },
      repository,
    );
  }
  return { commit: tip };
}
