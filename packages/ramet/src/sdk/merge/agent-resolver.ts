/**
 * Lets an agent resolve a conflict in a worktree of its own, where the files stand with conflict markers. What it leaves
 * is proved before it counts: the agent says it is done, it changed something about each conflict, and no marker and no
 * name that git invented is left. Whether the result works is for the check to say.
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
import type {
  ConflictResolution,
  MergeConflict,
  MergeRepository,
  OpenConflict,
  Provenance,
} from '../../git/shapes.ts';
import { denyingBroker, type PermissionBroker } from '../../permission/broker.ts';
import { drain } from '../../schema/generators.ts';
import type { Usage } from '../../schema/usage.ts';
import type { Caller } from '../calls/caller.ts';
import type { OpenSession } from '../session/session-type.ts';

export interface ResolverPlace {
  repository: MergeRepository;
  project: string;
  caller: Caller;
  /** Opens the session of the agent. */
  open: OpenSession;
  /** What the agent may take; the settings' own where absent. */
  model?: string | undefined;
  /** On one conflict. */
  budgetUsd?: number | undefined;
  /** On all conflicts together. */
  maxBudgetUsd?: number | undefined;
  /** Told which session resolves it, before that spends anything. */
  onBegin?: ((branch: string, session: string) => void) | undefined;
  /** Told that an agent waits for its provider, or, with null, that it works or has ended. */
  onWait?: ((branch: string, agent: string, wait: ResolverWait | null) => void) | undefined;
  /** Told what each agent has spent. */
  onSpent?: ((branch: string, spent: { costUsd: number | null; usage: Usage }) => void) | undefined;
}

interface ResolverWait {
  /** `limit` or `provider`. */
  readonly cause: string;
  readonly until: number | null;
}

/** What no editing of text can decide. */
const UNDECIDABLE = /binary|submodule|modes|file\/directory|unrelated|unknown/;
/** Git's name for the file of one side where both cannot have theirs: `f~<commit>`. */
const INVENTED_NAME = /~[0-9a-f]{40,64}(?:_\d+)?$/;
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
  { caller, open, model, budgetUsd = Number.POSITIVE_INFINITY, onBegin, onWait, onSpent }: ResolverPlace,
  purse: Purse,
): Promise<{ failure: string | null; by: Provenance }> {
  const usd = Math.min(budgetUsd, purse.leftUsd);
  await using session = await open({
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
  onBegin?.(conflict.branch, session.id);
  caller.progress(`merge: agent ${by.agent} resolves ${conflict.branch}`);
  const unwatch = watchWaits(session, (agent, wait) => onWait?.(conflict.branch, agent, wait));
  const events = session.run(promptFor(conflict), { signal: caller.signal });
  const { status, message, costUsd, usage } = await drain(events, () => {}).finally(unwatch);
  onSpent?.(conflict.branch, { costUsd, usage });
  // What cannot be known may have been all of it.
  purse.leftUsd = costUsd === null ? unknownRest(purse) : purse.leftUsd - costUsd;
  return {
    failure: status === 'done' ? null : `it ended as ${status}${message ? `, ${message}` : ''}`,
    by,
  };
}

/** Returns the function that ends it. An agent that still waits counts as one that does not. */
function watchWaits(
  session: Awaited<ReturnType<OpenSession>>,
  tell: (agent: string, wait: ResolverWait | null) => void,
): () => void {
  const waiting = new Set<string>();
  const leave = session.subscribe((event) => {
    if (event.type !== 'status_changed') return;
    const { agentId, status, cause, until = null } = event;
    const isAway = status === 'waiting' && (cause === 'limit' || cause === 'provider');
    if (isAway) waiting.add(agentId);
    else if (!waiting.delete(agentId)) return;
    tell(agentId, isAway ? { cause, until } : null);
  });
  return () => {
    leave();
    for (const agent of waiting) tell(agent, null);
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

/** A sentence while something is not decided. */
async function provedTree(
  { conflicts, files, tree: given }: OpenConflict,
  directory: string,
  { repository }: ResolverPlace,
): Promise<{ tree: string } | string> {
  const call = { ...callIn(repository), cwd: directory };
  await gitText(['add', '--all'], call);
  const pathspecs = files.map((path) => `:(literal)${path}`);
  const markers = ['-e', '^<<<<<<< ', '-e', '^>>>>>>> ', '-e', '^||||||| '];
  const args = ['grep', '--cached', '--name-only', '-z', '--text', ...markers, '--', ...pathspecs];
  const { code, stdout } = await runGit(args, call);
  const left = partsOf(stdout);
  if (code !== 1) return `conflict markers are left${left.length === 0 ? '' : ` in ${left.join(', ')}`}`;
  const kept = partsOf(await gitText(['ls-files', '--cached', '-z', '--', ...pathspecs], call));
  const invented = kept.filter((path) => INVENTED_NAME.test(path));
  if (invented.length > 0) return `names that git invented are left: ${invented.join(', ')}`;
  const tree = requireObjectId(await gitText(['write-tree'], call), 'git write-tree');
  const diff = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', given, tree];
  const open = untouched(conflicts, partsOf(await gitText(diff, call)));
  return open.length === 0 ? { tree } : `it changed nothing about ${describeConflicts(open)}`;
}

/** The conflicts of which every path is as git left it. Most kinds have no markers that would show it. */
export function untouched(
  conflicts: readonly MergeConflict[],
  changed: readonly string[],
): readonly MergeConflict[] {
  const isChanged = (path: string) => changed.some((name) => name === path || name.startsWith(`${path}/`));
  return conflicts.filter(({ paths }) => !paths.some(isChanged));
}

function partsOf(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

function promptFor({ branch, target, ours, theirs, conflicts, files }: OpenConflict): string {
  return [
    `The branch ${branch} is being merged into ${target} and git could not decide: ${describeConflicts(conflicts)}.`,
    `You are in a checkout of the merge, where these files have conflicts, most with markers (<<<<<<<, =======, >>>>>>>): ${files.join(', ')}.`,
    `The side above ======= is ${target} (commit ${ours}), the side below is ${branch} (commit ${theirs}).`,
    'Read each file, find out what both sides want, and edit it so that both intentions are kept and no marker is left. A file that one side removed and the other changed, or that each side renamed, has no markers: edit it, or delete it with rm FILE. A conflict about which you change nothing is left to a person. Change nothing else, and do not commit.',
  ].join('\n');
}
