/** Work that names a commit of a submodule which nobody else has: it is not taken, and a person is told how to give it to others. */
import {
  type ChangedPath,
  fetchSteps,
  pushSteps,
  type SubmoduleSite,
  type UnsharedSubmodule,
  unsharedSubmodules,
} from '../../../../git/left-work.ts';
import { operateCommand, resumeCommand } from '../../../../operator/run/operate-command.ts';
import { SUBMODULE_CAUSE } from '../../../../operator/run/operator-state.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { AttemptObjection } from './attempt-pattern.ts';

interface NamingWork {
  commit: string;
  branch: string | null;
  changes: readonly ChangedPath[];
}

export async function submoduleObjection(
  order: AttemptOrder,
  { commit, branch, changes }: NamingWork,
  site: SubmoduleSite,
): Promise<AttemptObjection | null> {
  const unshared = await unsharedSubmodules(commit, changes, site);
  if (unshared.length === 0) return null;
  const { run, task } = order;
  const missing = unshared.filter(({ isHere }) => !isHere);
  const here = unshared.filter(({ isHere }) => isHere);
  const commands = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return {
    ...{ cause: SUBMODULE_CAUSE, final: true, branch },
    message: [
      ...(here.length === 0
        ? []
        : [`it names a commit of a submodule that only ${site.directory} has, ${NOBODY}: ${named(here)}`]),
      ...(missing.length === 0
        ? []
        : [`it names a commit of a submodule that is nowhere here, ${NOBODY}: ${named(missing)}`]),
    ].join('; '),
    person: [
      missing.length === 0
        ? 'To give the commit to others and take the work as it is:'
        : 'If the remote of the submodule has the commit, to bring it here and take the work as it is:',
      ...commands([...stepsFor(order, { here, missing, site }), resumeCommand(run)]),
      'Or let an agent do it again:',
      ...commands([operateCommand(run, 'retry', task.id), resumeCommand(run)]),
    ].join('\n'),
  };
}

const NOBODY = 'so nobody else could check it out';

function named(commits: readonly UnsharedSubmodule[]): string {
  return commits.map(({ path, commit }) => `${path} at ${commit.slice(0, 10)}`).join(', ');
}

interface Found {
  here: readonly UnsharedSubmodule[];
  missing: readonly UnsharedSubmodule[];
  site: SubmoduleSite;
}

function stepsFor({ attempt }: AttemptOrder, { here, missing, site: { directory } }: Found): string[] {
  const pushed = directory === null ? [] : pushSteps(here, { directory, branch: `ramet-${attempt.name}` });
  return [...pushed, ...fetchSteps(missing)];
}
