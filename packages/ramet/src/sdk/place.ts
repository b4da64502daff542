/** Where a session works and where its files are kept. */

import { existsSync, realpathSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkProgramsBy } from '../git/folder-guard.ts';
import { findRepository } from '../git/repository.ts';
import type { Repository } from '../git/shapes.ts';
import { systemCode, UserMistake } from '../schema/errors.ts';
import type { SessionId } from '../schema/ids.ts';
import type { CheckSlots } from '../system/check-slots.ts';
import { SLOT_VARIABLE } from '../system/child-environment.ts';
import { projectDirectory, rametHome } from '../system/home.ts';

// Loaded with the first repository that is trusted and names programs.
checkProgramsBy(async (question) => {
  const { untrustedPrograms } = await import('../extensions/trust/folder-programs.ts');
  return untrustedPrograms(question);
});

export interface Place {
  cwd: string;
  repository: Repository | null;
  home: string;
  project: string;
}

export function findPlace({ cwd: wanted, env }: { cwd: string; env: NodeJS.ProcessEnv }): Place {
  const cwd = realDirectory(wanted);
  const repository = findRepository(cwd);
  const home = rametHome(env);
  const root = repository?.root ?? cwd;
  const project = projectDirectory(home, { root, commonDirectory: repository?.commonDirectory ?? null });
  return { cwd, repository, home, project };
}

function realDirectory(path: string): string {
  let why = 'it is no directory';
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    why = systemCode(error) ?? 'it cannot be read';
  }
  throw new UserMistake('no_directory', `cannot work in ${path}: ${why}`);
}

/** A session as its files are found. */
export interface OperatorPlace {
  project: string;
  session: SessionId;
}

/** Where an operator's session keeps what is no event: requests, answers, its report. */
export function operatorDirectory({ project, session }: OperatorPlace): string {
  return join(project, session, 'operator');
}

/** How a session is resumed: a run of tasks by the operator, any other by itself. */
export function resumeCommand(place: OperatorPlace): string {
  const isRun = existsSync(operatorDirectory(place));
  return `ramet ${isRun ? 'operate --resume' : 'resume'} ${place.session}`;
}

/**
 * The places that heavy commands of agents and checks of merges share on this machine. `wanted` is how many, where that is said.
 * Their folder is their own: see `check-slots.ts`.
 */
export function heavySlots(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  wanted: number | undefined,
): CheckSlots {
  return {
    directory: join(home, 'places'),
    count: wanted ?? Math.max(1, availableParallelism()),
    within: env[SLOT_VARIABLE],
  };
}
