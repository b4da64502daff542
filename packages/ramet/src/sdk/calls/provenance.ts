/** Who wrote what: the lines of a file with their agents, and what an agent or a branch changed. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { findMergeRepository, lookUpCommits } from '../../git/merges.ts';
import type { BlamedLine } from '../../git/shapes.ts';
import { describeError, systemCode, UserMistake } from '../../schema/errors.ts';
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
  if (branch !== null) return branchDiff(branch.commit, options.base ?? 'HEAD', repository);
  try {
    return await agentDiff(wanted, { repository, project: findPlace({ cwd, env }).project, note });
  } catch (error) {
    // Most people mean a branch by a name that looks like no agent.
    if (!(error instanceof UserMistake && error.code === 'session_unknown') || AGENT.test(wanted))
      throw error;
    throw new UserMistake(
      'nothing_named',
      `there is no branch ${JSON.stringify(wanted)}, and ${error.message}`,
    );
  }
}

function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = systemCode(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new UserMistake(
      'no_file',
      isMissing
        ? `there is no file ${JSON.stringify(path)}: give a path from the current directory`
        : `cannot read ${JSON.stringify(path)}: ${describeError(error)}`,
    );
  }
}
