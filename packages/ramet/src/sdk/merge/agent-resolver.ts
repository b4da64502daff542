/**
 * Lets an agent resolve a conflict in a worktree of its own, where the files stand with conflict markers. What it leaves
 * is proved before it counts: the agent says it is done and no marker is left in any file that had a conflict. Whether
 * the result works is for the check to say.
 */
import { join } from 'node:path';
import {
  callIn,
  describeConflicts,
  openPrivateWorktree,
  removePrivateWorktree,
  requireObjectId,
  writeScratchCommit,
} from '../../git/merges.ts';
import { gitText, runGit } from '../../git/run-git.ts';
import type { ConflictResolution, MergeRepository, OpenConflict, Provenance } from '../../git/shapes.ts';
import { denyingBroker, type PermissionBroker } from '../../permission/broker.ts';
import { drain } from '../../schema/drain.ts';
import type { Caller } from '../calls/caller.ts';
import { openSession } from '../session/session.ts';

export interface ResolverPlace {
  repository: MergeRepository;
  project: string;
  caller: Caller;
  /** What the agent may take; the settings' own where absent. */
  model?: string | undefined;
  /** On one conflict. */
  budgetUsd?: number | undefined;
  /** On all conflicts together. */
  maxBudgetUsd?: number | undefined;
}

/** What no editing of text can decide. */
const UNDECIDABLE = /binary|submodule|modes|unrelated|unknown/;
/** An agent that has not resolved a conflict by then goes in circles. */
const MOST_TURNS = 50;

export function agentResolver(place: ResolverPlace): (conflict: OpenConflict) => Promise<ConflictResolution> {
  const purse: Purse = { leftUsd: place.maxBudgetUsd ?? Number.POSITIVE_INFINITY };
  return async (conflict) => {
    if (conflict.conflicts.some(({ kind }) => UNDECIDABLE.test(kind)))
      return { tree: null, tried: 'no agent was asked: this cannot be decided by editing text' };
    if (purse.leftUsd <= 0) return { tree: null, tried: 'no agent was asked: --max-budget-usd is spent' };
    const { repository, project } = place;
    const directory = join(project, 'merge', `resolve-${conflict.theirs.slice(0, 12)}`);
    const marked = await writeScratchCommit(conflict.tree, [conflict.ours, conflict.theirs], repository);
    try {
      await openPrivateWorktree(directory, marked, repository);
      const { failure, by } = await askAgent(conflict, directory, place, purse);
      const outcome = failure ?? (await provedTree(conflict, directory, place));
      if (typeof outcome !== 'string') return { tree: outcome.tree, by };
      return { tree: null, tried: `agent ${by.agent} tried: ${outcome} (ramet show ${by.session})` };
    } finally {
      await removePrivateWorktree(directory, repository);
    }
  };
}

/** What is left for the conflicts to come. */
interface Purse {
  leftUsd: number;
}

/** `failure` is null when the agent says that it is done. */
async function askAgent(
  conflict: OpenConflict,
  directory: string,
  { caller, model, budgetUsd = Number.POSITIVE_INFINITY }: ResolverPlace,
  purse: Purse,
): Promise<{ failure: string | null; by: Provenance }> {
  const usd = Math.min(budgetUsd, purse.leftUsd);
  await using session = await openSession({
    cwd: directory,
    env: caller.env,
    title: `resolve the merge of ${conflict.branch}`,
    permissionMode: 'acceptEdits',
    maxTurns: MOST_TURNS,
    broker: deletingBroker(conflict.files, directory),
    ...(model !== undefined && { model }),
    ...(Number.isFinite(usd) && { budget: { usd } }),
  });
  const by = {
    agent: session.agent.id,
    session: session.id,
    task: `resolve the conflicts of ${conflict.branch} with ${conflict.target}`,
  };
  caller.progress(`merge: agent ${by.agent} resolves ${conflict.branch}`);
  const events = session.run(promptFor(conflict), { signal: caller.signal });
  const { status, message, costUsd } = await drain(events, () => {});
  // What cannot be known may have been all of it.
  purse.leftUsd = costUsd === null ? unknownRest(purse) : purse.leftUsd - costUsd;
  return {
    failure: status === 'done' ? null : `it ended as ${status}${message ? `, ${message}` : ''}`,
    by,
  };
}

function unknownRest({ leftUsd }: Purse): number {
  return Number.isFinite(leftUsd) ? 0 : leftUsd;
}

/** Nobody is asked, and besides editing one thing is allowed: to remove files that have a conflict, named one by one. */
export function deletingBroker(files: readonly string[], directory: string): PermissionBroker {
  // The name of a file may be anything, also what a shell would run.
  const plain = files.filter((file) => /^\w[\w./@+-]*$/.test(file));
  const own = new Set(plain.flatMap((file) => [file, `./${file}`, join(directory, file)]));
  return {
    async ask(question, signal) {
      const words = (question.command ?? '').trim().split(/ +/);
      const operands = /^(?:git rm|rm)(?: -f| --)* /.test(`${words.join(' ')} `)
        ? words.slice(words[0] === 'git' ? 2 : 1).filter((word) => word !== '-f' && word !== '--')
        : [];
      const isRemoval = operands.length > 0 && operands.every((word) => own.has(word));
      return isRemoval ? { kind: 'once' } : denyingBroker.ask(question, signal);
    },
  };
}

/** A sentence while a marker is left. */
async function provedTree(
  { files }: OpenConflict,
  directory: string,
  { repository }: ResolverPlace,
): Promise<{ tree: string } | string> {
  const call = { ...callIn(repository), cwd: directory };
  await gitText(['add', '--all'], call);
  const pathspecs = files.map((path) => `:(literal)${path}`);
  const markers = ['-e', '^<<<<<<< ', '-e', '^>>>>>>> ', '-e', '^||||||| '];
  const args = ['grep', '--cached', '--name-only', '-z', '--text', ...markers, '--', ...pathspecs];
  const { code, stdout } = await runGit(args, call);
  const left = stdout.split('\0').filter((path) => path !== '');
  if (code !== 1) return `conflict markers are left${left.length === 0 ? '' : ` in ${left.join(', ')}`}`;
  return { tree: requireObjectId(await gitText(['write-tree'], call), 'git write-tree') };
}

function promptFor({ branch, target, ours, theirs, conflicts, files }: OpenConflict): string {
  return [
    `The branch ${branch} is being merged into ${target} and git could not decide: ${describeConflicts(conflicts)}.`,
    `You are in a checkout of the merge, where these files hold conflict markers (<<<<<<<, =======, >>>>>>>): ${files.join(', ')}.`,
    `The side above ======= is ${target} (commit ${ours}), the side below is ${branch} (commit ${theirs}).`,
    'Read each file, find out what both sides want, and edit it so that both intentions are kept and no marker is left. A file that one side removed and the other changed is yours to keep, or to delete with rm FILE. Change nothing else, and do not commit.',
  ].join('\n');
}
