/** The pattern `team`: members of the session's team claim tasks from its list, each in a worktree that it keeps (OP-8). */
import type { AgentHandle } from '../../../../engine/shapes.ts';
import { changedPaths, keepWork, putFiles, showCommit } from '../../../../git/left-work.ts';
import { checkoutTrees, excludeSettings, mendHead, trustedGit } from '../../../../git/managed-worktrees.ts';
import { gitText } from '../../../../git/run-git.ts';
import type { WorktreePlace } from '../../../../git/shapes.ts';
import { memberNote } from '../../../../operator/run/isolation.ts';
import { type OperatorState, tasksOf } from '../../../../operator/run/operator-state.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import type { LiveParts } from '../../../session/live-parts.ts';
import type { TeamView } from '../../../session/session-type.ts';
import { findWorktree, settleWorktreesOf } from '../../../worktrees/open-place.ts';
import { endedIn } from '../attempt-agents.ts';
import {
  type AttemptObjection,
  type AttemptPattern,
  type AttemptWork,
  type EndedAgent,
  type NotHired,
  workRef,
} from '../patterns/attempt-pattern.ts';
import { worktreePattern } from '../patterns/worktree-pattern.ts';
import type { RecordedAgents } from '../recorded-agents.ts';
import { MemberBills, type TryBill } from './member-bills.ts';
import { openOrders, type RestoredWork, restoreWork } from './restored-work.ts';
import { type RefusedOffer, TeamBoard } from './team-board.ts';
import { refuseUnread } from './unread-lead.ts';

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
  /** Takes what members had completed when an earlier process was killed. Before any of them resumes. */
  restore(): Promise<void>;
  /** When the run is over: worktrees of members whose work is on the target go. */
  close(): Promise<void>;
}

export function usesTeam(state: OperatorState): boolean {
  const asked = [state.run?.isolation, ...tasksOf(state).map(({ task }) => task.settings.isolation)];
  return asked.includes('team');
}

/** Installs itself between the session's agents and their team; null in a session without one. */
export function teamRun({ family, agent: lead, team }: LiveParts, place: TeamPlace): TeamRun | null {
  if (family.team === null || team === undefined) return null;
  const { view } = team;
  const { worktrees, state, recorded } = place;
  const bring = (agent: AgentId, order: AttemptOrder): Promise<void> =>
    // A git that was killed is no reason to give the task up.
    bringTo(worktrees, agent, order).catch(() => bringTo(worktrees, agent, order));
  const handleOf = (agent: AgentId): AgentHandle | undefined =>
    lead.children.running.find((handle) => handle.id === agent);
  const isClosing = (): boolean => team.isClosing;
  const board = new TeamBoard(
    { ...{ family, lead: lead.spec.id, view, handleOf, bring, isClosing }, reopen: () => team.reopen() },
    family.team,
  );
  refuseUnread(family, lead);
  const { pattern, restore } = teamPattern(place, board, {
    ...{ bills: new MemberBills(state, (read) => recorded.read(read)) },
    written: () => lead.runtime.journal.commit('written'),
  });
  return {
    ...{ pattern, restore },
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

function teamPattern(
  place: TeamPlace,
  board: TeamBoard,
  { bills, written }: { bills: MemberBills; written(): Promise<void> },
): { pattern: AttemptPattern; restore(): Promise<void> } {
  const { worktrees, recorded } = place;
  let restored: ReadonlyMap<string, RestoredWork> = new Map();
  const own = worktreePattern(worktrees, recorded);
  const take = async (order: AttemptOrder, ended: EndedAgent): ReturnType<AttemptPattern['collect']> =>
    (await earlierWork(order, worktrees)) ??
    onRef(order, await own.collect(order, ended, async () => ended), worktrees);
  const taken: typeof take = (order, ended) => restored.get(order.attempt.name)?.work ?? take(order, ended);
  const bill = async ({ task, attempt }: AttemptOrder): Promise<TryBill> => {
    // The last request of its member may be on its way to the disk.
    await written();
    return bills.of(task.id, attempt.number);
  };
  const pattern: AttemptPattern = {
    isolation: 'team',
    prepare: () => Promise.reject(new Error('a member claims its task')),
    async hire(order, prompt, signal) {
      const known = restored.get(order.attempt.name);
      if (known !== undefined) return known.ended;
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
      const found = await board.claimant(order, prompt, signal);
      return found !== null && 'refused' in found ? { ...notClaimed(found), ...(await bill(order)) } : found;
    },
    async siteOf(order, agent) {
      return { branch: null, path: (await own.siteOf(order, agent)).path };
    },
    async objection(order, { result }) {
      return result.status === 'done' ? notCompleted(order, board) : null;
    },
    collect: taken,
    async abandon(order, ended) {
      const work = await taken(order, ended).catch(() => null);
      await board.giveUp(order, 'it did not pass');
      return { branch: (work !== null && 'branch' in work ? work.branch : null) ?? null };
    },
    bill,
    notes(order, ended) {
      const by = board.listed(order)?.owner;
      return [...(by == null ? [] : [memberNote(by)]), ...(own.notes?.(order, ended) ?? [])];
    },
    over: (order) => board.over(order),
  };
  const parts = { state: place.state, recorded, take, tasks: () => board.tasks() };
  return {
    pattern,
    async restore() {
      board.withdrawBut(new Set(openOrders(place.state).map(({ attempt }) => attempt.name)));
      const earlier = (order: AttemptOrder): ReturnType<typeof take> => earlierWork(order, worktrees);
      restored = await restoreWork({ ...parts, earlier, listed: (order) => board.listed(order) });
    },
  };
}

/** A provider that refuses every member is the reason, where it is one. */
function notClaimed({ refused }: RefusedOffer): Pick<NotHired, 'notHired' | 'cause' | 'message'> {
  const { status, cause, message } = refused ?? {};
  if (status === undefined || status === 'done')
    return { notHired: 'failed', cause: 'not_claimed', message: 'no member of the team claimed it' };
  const notHired = status === 'interrupted' ? status : 'failed';
  return { notHired, cause: cause ?? status, message: message ?? null };
}

function notCompleted(order: AttemptOrder, board: TeamBoard): AttemptObjection | null {
  const listed = board.listed(order);
  if (listed?.status === 'completed') return null;
  const { number = 0, owner = 'its member', note = null } = listed ?? {};
  if (listed?.status === 'failed')
    return {
      cause: 'given_up',
      message: note === null ? `${owner} marked it failed without a reason` : `${owner} gave up: ${note}`,
    };
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
  const tip = `refs/heads/${worktree.branch}`;
  const head = await gitText(['rev-parse', '--verify', `${tip}^{tree}`], call);
  const loose = await gitText(['rev-list', '--max-count=1', tip, '--not', to, '--glob=refs/ramet'], call);
  if (files !== head || loose !== '') {
    // Of no task: it is kept, and not part of this one.
    const ref = workRef(order.run, `found-${order.attempt.name}`);
    const base = loose === '' ? to : tip;
    await keepWork({ ref, base, tree: files, message: `Found before ${order.task.title}` }, call);
  }
  const { commonDirectory } = place.repository;
  const checkout = { gitDirectory: commonDirectory, commonDirectory };
  const changes = await changedPaths(files, `${to}^{tree}`, call);
  await putFiles(worktree.path, changes, { ...call, checkout }, place.project);
  await showCommit(place, { worktree, call, here }, to);
}

async function settleMembers(place: WorktreePlace, view: TeamView): Promise<void> {
  await settleWorktreesOf(place, new Set(view.members().flatMap(({ agent }) => agent ?? [])));
}

function baseOf({ attempt, run }: AttemptOrder): string {
  return attempt.base ?? run.base;
}

function callOf({ repository, env }: WorktreePlace): { cwd: string; env: WorktreePlace['env'] } {
  return { cwd: repository.root, env };
}
