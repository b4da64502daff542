/** Work that names a commit of a submodule which nobody else has: it is not taken, and a person is told how to give it to others. */
import {
  type ChangedPath,
  pushSteps,
  type SubmoduleSite,
  unsharedSubmodules,
} from '../../../git/left-work.ts';
import { operateCommand, resumeCommand } from '../../../operator/run/operate-command.ts';
import { SUBMODULE_CAUSE } from '../../../operator/run/operator-state.ts';
import type { AttemptOrder } from '../../../operator/run/ports.ts';
import type { AttemptObjection } from './attempt-pattern.ts';

interface NamingWork {
  commit: string;
  branch: string | null;
  changes: readonly ChangedPath[];
}

export async function submoduleObjection(
  { run, task, attempt }: AttemptOrder,
  { commit, branch, changes }: NamingWork,
  site: SubmoduleSite & { directory: string },
): Promise<AttemptObjection | null> {
  const unshared = await unsharedSubmodules(commit, changes, site);
  if (unshared.length === 0) return null;
  const names = unshared.map((one) => `${one.path} at ${one.commit.slice(0, 10)}`).join(', ');
  const commands = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  const steps = pushSteps(unshared, { directory: site.directory, branch: `ramet-${attempt.name}` });
  return {
    ...{ cause: SUBMODULE_CAUSE, final: true, branch },
    message: `it names a commit of a submodule that only ${site.directory} has, so nobody else could check it out: ${names}`,
    person: [
      'To give the commit to others and take the work as it is:',
      ...commands([...steps, resumeCommand(run)]),
      'Or let an agent do it again:',
      ...commands([operateCommand(run, 'retry', task.id), resumeCommand(run)]),
    ].join('\n'),
  };
}
