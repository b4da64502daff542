/** The pattern `team`: members of the session's team claim tasks from its list, each in a worktree that it keeps (OP-8). */
import type { AgentHandle } from '../../../engine/shapes.ts';
import { changedPaths, keepWork, putFiles, showCommit } from '../../../git/left-work.ts';
import {
  checkoutTrees,
  excludeSettings,
  isHeld,
  mendHead,
  settleWorktree,
  trustedGit,
} from '../../../git/managed-worktrees.ts';
import { gitText } from '../../../git/run-git.ts';
import type { WorktreePlace } from '../../../git/shapes.ts';
import type { AgentOverview } from '../../../journal/projections/status.ts';
import { memberNote } from '../../../operator/run/isolation.ts';
import { type OperatorState, tasksOf } from '../../../operator/run/operator-state.ts';
import type { AttemptOrder } from '../../../operator/run/ports.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { NO_USAGE, type Usage } from '../../../schema/usage.ts';
import type { LiveParts } from '../../session/live-parts.ts';
import type { TeamView } from '../../session/session-type.ts';
import { findWorktree } from '../../worktrees/open-place.ts';
import { endedIn } from './attempt-agents.ts';
import { type AttemptObjection, type AttemptPattern, type AttemptWork, workRef } from './attempt-pattern.ts';
import type { RecordedAgents } from './recorded-agents.ts';
import { TeamBoard } from './team-board.ts';
import { worktreePattern } from './worktree-pattern.ts';

/** More of them talk more than they work. */
export const MOST_MEMBERS = 5;

export interface TeamPlace {
  state: OperatorState;
  worktrees: WorktreePlace;
  recorded: RecordedAgents;
}

export interface TeamRun extends Disposable {
  readonly pattern: AttemptPattern;
  /** As many as can work at once; `note` is told if more were asked for. */
  addMembers(count: number, note?: (line: string) => void): Promise<void>;
  /** When the run is over: worktrees of members whose work is on the target go. */
  close(): Promise<void>;
}

/** What each try has cost its member, by the name of the try. */
type Bills = Map<string, { agent: string; costUsd: number | null; usage: Usage }>;

export function usesTeam(state: OperatorState): boolean {
  const asked = [state.run?.isolation, ...tasksOf(state).map(({ task }) => task.settings.isolation)];
  return asked.includes('team');
}

/** Installs itself between the session's agents and their team; null in a session without one. */
export function teamRun({ family, agent: lead, team }: LiveParts, place: TeamPlace): TeamRun | null {
  if (family.team === null || team === undefined) return null;
  const { view } = team;
  const { worktrees, state } = place;
  const bring = (agent: AgentId, order: AttemptOrder): Promise<void> =>
    // A git that was killed is no reason to give the task up.
    bringTo(worktrees, agent, order).catch(() => bringTo(worktrees, agent, order));
  const handleOf = (agent: AgentId): AgentHandle | undefined =>
    lead.children.running.find((handle) => handle.id === agent);
  const board = new TeamBoard({ family, lead: lead.spec.id, view, handleOf, bring }, family.team);
  return {
    pattern: teamPattern(place, board, billsOf(state)),
    async addMembers(count, note) {
      const asked = state.run?.parallel;
      if (typeof asked === 'number' && asked > count)
        note?.(`a team of ${count}, not ${asked}: three to five members pay for most work`);
      await board.addMembers(count);
    },
    close: () => settleMembers(worktrees, view),
    [Symbol.dispose]: () => board[Symbol.dispose](),
  };
}

function teamPattern(place: TeamPlace, board: TeamBoard, bills: Bills): AttemptPattern {
  const { worktrees, recorded } = place;
  const own = worktreePattern(worktrees, recorded);
  const taken = async (
    ...[order, ended, tell]: Parameters<AttemptPattern['collect']>
  ): ReturnType<AttemptPattern['collect']> =>
    (await earlierWork(order, worktrees)) ?? onRef(order, await own.collect(order, ended, tell), worktrees);
  return {
    isolation: 'team',
    prepare: () => Promise.reject(new Error('a member claims its task')),
    async hire(order, prompt, signal) {
      const listed = board.listed(order);
      // One that an earlier process left may have completed it before the run came so far, and be about to end its turn.
      const isEnded = listed !== undefined && !board.isInTurn(listed.number);
      const isOver = isEnded && (listed.status === 'completed' || listed.status === 'failed');
      const past = isOver && listed.owner !== null ? recorded.named(listed.owner) : undefined;
      if (past !== undefined)
        return endedIn(
          { id: past.id, isKept: past.worktree !== null, result: past },
          await recorded.worktreeOf(past.id),
        );
      return board.claimant(order, prompt, signal);
    },
    async siteOf(order, agent) {
      return { branch: null, path: (await own.siteOf(order, agent)).path };
    },
    async objection(order, { result }) {
      return result.status === 'done' ? notCompleted(order, board) : null;
    },
    async collect(order, ended, tell) {
      const listed = board.listed(order);
      const isGone = listed?.owner != null && board.hasMovedOn(listed.owner, listed.number);
      return isGone ? earlierWork(order, worktrees) : taken(order, ended, tell);
    },
    async abandon(order, ended) {
      const work = await taken(order, ended, async () => ended).catch(() => null);
      await board.giveUp(order, 'it did not pass');
      return { branch: (work !== null && 'branch' in work ? work.branch : null) ?? null };
    },
    bill(order, { id }) {
      const member = board.member(board.listed(order)?.owner ?? null)?.name;
      const total = member === undefined ? undefined : recorded.named(member);
      const others = [...bills].filter(([name, bill]) => name !== order.attempt.name && bill.agent === id);
      const bill = rest(
        total,
        others.map(([, one]) => one),
      );
      bills.set(order.attempt.name, { agent: id, ...bill });
      return bill;
    },
    notes(order, ended) {
      const by = board.listed(order)?.owner;
      return [...(by == null ? [] : [memberNote(by)]), ...(own.notes?.(order, ended) ?? [])];
    },
    over: (order) => board.over(order),
  };
}

function notCompleted(order: AttemptOrder, board: TeamBoard): AttemptObjection | null {
  const listed = board.listed(order);
  if (listed?.status === 'completed') return null;
  const { number = 0, owner = 'its member', note = null } = listed ?? {};
  if (listed?.status === 'failed')
    return { cause: 'given_up', message: `${owner} gave up: ${note ?? 'it does not say why'}` };
  return { cause: 'not_completed', message: `${owner} ended its turn without completing task ${number}` };
}

/** What an earlier process had taken when it was killed. */
async function earlierWork(order: AttemptOrder, place: WorktreePlace): Promise<AttemptWork | null> {
  const call = callOf(place);
  const ref = workRef(order.run, order.attempt.name);
  const commit = await gitText(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], call).catch(
    () => null,
  );
  if (commit === null || commit === '') return null;
  const changes = await changedPaths(baseOf(order), commit, call);
  return { commit, branch: ref, files: changes.map(({ path }) => path) };
}

/** Its branch is the member's, which moves on: a ref of the try keeps the work. */
async function onRef<Work extends object>(
  order: AttemptOrder,
  work: Work | null,
  place: WorktreePlace,
): Promise<Work | null> {
  if (work === null || !('commit' in work)) return work;
  const ref = workRef(order.run, order.attempt.name);
  await gitText(['update-ref', '--no-deref', '-m', 'ramet operate', ref, String(work.commit)], callOf(place));
  return { ...work, branch: ref };
}

/** In the middle of the call that claims: its agent waits for the answer. */
async function bringTo(place: WorktreePlace, agent: AgentId, order: AttemptOrder): Promise<void> {
  const worktree = findWorktree(place, agent);
  const call = callOf(place);
  const here = await trustedGit(place, worktree);
  mendHead(place, worktree);
  const to = baseOf(order);
  const settings = excludeSettings(place, worktree);
  const { files } = await checkoutTrees(here, { scratch: place.project, settings });
  const head = await gitText(['rev-parse', '--verify', `refs/heads/${worktree.branch}^{tree}`], call);
  if (files !== head) {
    // Of no task: it is kept, and not part of this one.
    const ref = workRef(order.run, `found-${order.attempt.name}`);
    await keepWork({ ref, base: to, tree: files, message: `Found before ${order.task.title}` }, call);
  }
  const { commonDirectory } = place.repository;
  const checkout = { gitDirectory: commonDirectory, commonDirectory };
  const changes = await changedPaths(files, `${to}^{tree}`, call);
  await putFiles(worktree.path, changes, { ...call, checkout }, place.project);
  await showCommit(place, { worktree, call, here }, to);
}

async function settleMembers(place: WorktreePlace, view: TeamView): Promise<void> {
  const agents = new Set(view.members().flatMap(({ agent }) => agent ?? []));
  for (const row of place.registry.list()) {
    const isMembers = row.owner !== null && agents.has(row.owner.agent as AgentId); // as the roster has it
    if (!isMembers || (row.state !== 'leased' && row.state !== 'released')) continue;
    if (!isHeld(place.project, row)) await settleWorktree(place, row, { pools: false });
  }
}

function billsOf(state: OperatorState): Bills {
  const attempts = tasksOf(state).flatMap((task) => task.attempts);
  return new Map(
    attempts.flatMap(({ name, agent, costUsd, usage, isolation }) =>
      agent === null || isolation !== 'team' ? [] : [[name, { agent, costUsd, usage }]],
    ),
  );
}

const COUNTS = [
  ...(['input_tokens', 'output_tokens', 'cache_read_input_tokens'] as const),
  ...(['cache_creation_input_tokens', 'cache_creation_1h_input_tokens'] as const),
];

/** What a member has spent that no other try has paid: also turns in which it was woken for nothing. */
function rest(
  total: Pick<AgentOverview, 'costUsd' | 'usage'> | undefined,
  others: readonly { costUsd: number | null; usage: Usage }[],
): { costUsd: number | null; usage: Usage } {
  if (total === undefined) return { costUsd: 0, usage: NO_USAGE };
  const usage = { ...total.usage };
  let { costUsd } = total;
  for (const other of others) {
    costUsd = costUsd === null || other.costUsd === null ? null : Math.max(0, costUsd - other.costUsd);
    for (const key of COUNTS) usage[key] = Math.max(0, usage[key] - other.usage[key]);
  }
  return { costUsd, usage };
}

function baseOf({ attempt, run }: AttemptOrder): string {
  return attempt.base ?? run.base;
}

function callOf({ repository, env }: WorktreePlace): { cwd: string; env: WorktreePlace['env'] } {
  return { cwd: repository.root, env };
}
