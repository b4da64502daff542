/** Who wrote what: the lines of a file with their agents, and what an agent or a branch changed. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { findMergeRepository, lookUpCommits } from '../../git/merges.ts';
import type { BlamedLine } from '../../git/shapes.ts';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { childEnvironment } from '../../system/child-environment.ts';
import { agentDiff, branchDiff } from '../../views/provenance/agent-diff.ts';
import { blameFile } from '../../views/provenance/blame.ts';
import { findPlace } from '../place.ts';
import { type CallOptions, callerOf } from './caller.ts';

export async function blame(file: string, options: CallOptions = {}): Promise<BlamedLine[]> {
  const { cwd, env, signal, note } = callerOf(options);
  const path = realFile(resolve(cwd, file));
  const repository = findMergeRepository(cwd, childEnvironment(env), signal);
  return blameFile(path, { repository, project: findPlace({ cwd, env }).project, note });
}

const AGENT = /^\w*\.\d+$/;

export interface DiffOptions extends CallOptions {
  /** What a branch is compared with, from where they parted; HEAD when absent. */
  base?: string;
}

/** In git's format. `wanted` is a branch, or a session (`abcd1234`), or an agent of it (`abcd1234.2`). */
export async function diff(wanted: string, options: DiffOptions = {}): Promise<string> {
  const { cwd, env, signal, note } = callerOf(options);
  const repository = findMergeRepository(cwd, childEnvironment(env), signal);
  const [found = null] = await lookUpCommits([wanted], repository);
  // A branch may be called anything; what no branch is called and looks like an agent is one.
  const branch = found?.ref !== null || !AGENT.test(wanted) ? found : null;
  return branch === null
    ? agentDiff(wanted, { repository, project: findPlace({ cwd, env }).project, note })
    : branchDiff(branch.commit, options.base ?? 'HEAD', repository);
}

function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new UserMistake(
      'no_file',
      `cannot read ${JSON.stringify(path)}: ${systemCode(error) ?? 'it cannot be read'}`,
    );
  }
}
