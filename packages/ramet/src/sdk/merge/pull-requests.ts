/** `ramet merge --pr`: pushes branches and opens pull requests, both with the user's own programs and credentials. */
import { execFile } from 'node:child_process';
import { folderGuard } from '../../git/folder-guard.ts';
import {
  branchCommits,
  callIn,
  describeConflicts,
  mergeMessage,
  mergeTrees,
  resolveCommits,
} from '../../git/merges.ts';
import { runGit, withoutLocalVariables } from '../../git/run-git.ts';
import type { MergeRepository } from '../../git/shapes.ts';
import { describeError, RametError, systemCode, UserMistake } from '../../schema/errors.ts';
import { isModelKey } from '../../system/child-environment.ts';
import type { Caller } from '../calls/caller.ts';

export interface PullRequestOrder {
  target: string;
  branches: readonly string[];
  repository: MergeRepository;
  caller: Caller;
}

export interface OpenedPullRequest {
  branch: string;
  url: string;
}

export async function openPullRequests(order: PullRequestOrder): Promise<OpenedPullRequest[]> {
  const { target, branches, repository } = order;
  const [ground, ...tips] = await resolveCommits([target, ...branches], repository);
  const loose = tips.find(({ ref }) => ref === null);
  if (ground === undefined || loose !== undefined) throw notABranch(loose?.name ?? target);
  const opened: OpenedPullRequest[] = [];
  for (const { name, commit } of tips) {
    const commits = await branchCommits({ from: ground.commit, to: commit }, repository);
    if (commits.length === 0) throw nothingNew(name, target);
    const message = mergeMessage({ kind: 'squash', branch: name, target, commits, story: {} });
    const [title = name, ...body] = message.split('\n');
    const merged = await mergeTrees([ground.commit, commit], callIn(repository));
    const warning = merged.clean
      ? ''
      : `\nConflicts with ${target}: ${describeConflicts(merged.conflicts)}\n`;
    await push(name, order);
    const args = ['pr', 'create', '--base', target, '--head', name, '--title', title, '--body-file', '-'];
    const url = (await runUserProgram('gh', args, `${body.join('\n').trim()}\n${warning}`, order)).trim();
    opened.push({ branch: name, url: url.split('\n').at(-1) ?? '' });
  }
  return opened;
}

/** With the user's credentials, as by hand; with hooks and helpers of the folder when that is trusted. */
async function push(branch: string, order: PullRequestOrder): Promise<void> {
  const remote = await remoteOf(branch, order.repository);
  await runUserProgram('git', ['push', remote, `refs/heads/${branch}:refs/heads/${branch}`], '', order);
}

async function remoteOf(branch: string, repository: MergeRepository): Promise<string> {
  const call = callIn(repository);
  for (const key of [`branch.${branch}.pushRemote`, 'remote.pushDefault', `branch.${branch}.remote`]) {
    const { code, stdout } = await runGit(['config', '--get', key], call);
    if (code === 0 && stdout.trim() !== '') return stdout.trim();
  }
  const remotes = (await runGit(['remote'], call)).stdout.split('\n').filter((name) => name !== '');
  const only = remotes.includes('origin') ? 'origin' : remotes.length === 1 ? remotes[0] : undefined;
  if (only !== undefined) return only;
  throw new UserMistake(
    'no_remote',
    `it is not clear where to push ${branch}: set git config branch.${branch}.pushRemote`,
  );
}

/** Arguments and input go over as they are; no shell reads them. Keys that pay for models stay here. */
async function runUserProgram(
  program: string,
  args: readonly string[],
  input: string,
  { repository, caller }: PullRequestOrder,
): Promise<string> {
  const own = Object.entries(caller.env).filter(([name, value]) => value !== undefined && !isModelKey(name));
  const env = withoutLocalVariables(Object.fromEntries(own.map(([name, value = '']) => [name, value])));
  const { environment } = await folderGuard(repository.cwd, { env, reachesRemote: true });
  const options = {
    cwd: repository.cwd,
    env: { ...env, ...environment, GIT_TERMINAL_PROMPT: '0', GH_PROMPT_DISABLED: '1' },
    signal: caller.signal,
  };
  return new Promise((settle, fail) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) settle(stdout);
      else fail(programFailed(program, args, error, stderr));
    });
    child.stdin?.on('error', () => {}).end(input);
  });
}

function programFailed(program: string, args: readonly string[], error: Error, stderr: string): RametError {
  if (systemCode(error) === 'ENOENT') {
    const remedy =
      program === 'gh'
        ? 'install GitHub’s command line (gh) and run gh auth login, or open the pull request by hand: the branch is pushed'
        : 'install it';
    return new UserMistake('no_program', `${program} is not on the PATH: ${remedy}`);
  }
  const reason = describeError(stderr).slice(0, 500) || describeError(error);
  return new RametError(
    'program_failed',
    'terminal',
    `${program} ${args.slice(0, 2).join(' ')} failed: ${reason}`,
  );
}

function notABranch(name: string): UserMistake {
  return new UserMistake(
    'not_a_branch',
    `a pull request needs a branch, and ${JSON.stringify(name)} is none: make one with git branch`,
  );
}

function nothingNew(branch: string, target: string): UserMistake {
  return new UserMistake(
    'nothing_new',
    `${branch} has no commit that ${target} lacks: there is nothing to ask for`,
  );
}
