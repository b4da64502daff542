/**
 * What has changed in a checkout while an agent worked in a worktree of it, and nobody known did it (WORK-9). Known are
 * the merge queue, by its line in the reflog, and agents, by the trailers of their commits. Whether it was a person or
 * the agent itself, Ramet cannot tell, and says so.
 *
 * Where nothing has changed no process is started.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTrailers } from '../provenance/trailers.ts';
import { type Repository, readOrNull } from '../repository.ts';
import { type GitCall, runGit } from '../run-git.ts';
import { type CheckoutState, closeCheckoutState, headRefOf, readCheckoutState } from './checkout-state.ts';
import { indexChanges } from './index-changes.ts';
import { setupChanges } from './setup-changes.ts';
import { fileChanges, logChanges, stashChanges } from './side-files.ts';

export interface ChangeWatch {
  repository: Repository;
  env: Readonly<Record<string, string>>;
  /** The agent that worked in the worktree. */
  agent: string | null;
  /** Branches that hooks have made for worktrees of agents, and that go with them. */
  ofHooks: () => readonly string[];
  /** Whether a hook is at work that may be making one. */
  isHookAtWork: () => boolean;
  /** Other agents that work in the checkout itself. */
  others: () => readonly string[];
}

/** One line each, such as `refs/heads/main moved from 1a2b3c4 to 5d6e7f8 (commit: fix)`. */
export async function checkoutChanges(before: CheckoutState, watch: ChangeWatch): Promise<string[]> {
  const after = readCheckoutState(watch.repository, before);
  if (after === null)
    return [`its refs are no longer where they were in ${watch.repository.commonDirectory}`];
  try {
    const moves = [...refMoves(before, after, watch.repository), ...headMoves(before, after)];
    const known = await knownMoves(moves, watch);
    const unknown = moves.filter((move) => !known.has(move));
    const setup = await setupChanges(before.setup, after.setup, callIn(watch), watch.ofHooks);
    const files = fileChanges(before.side, after.side, false);
    const hasOthers = (): boolean => watch.others().length > 0;
    const side = files.length > 0 && hasOthers() ? fileChanges(before.side, after.side, true) : files;
    const isIndexKnown = before.index?.identity === after.index?.identity || hasOthers();
    const index = isIndexKnown ? [] : await indexChanges(before, after, callIn(watch));
    const own = headRefOf(before);
    const [here = [], elsewhere = []] = [true, false].map((isHere) =>
      unknown.filter(({ ref, text }) => isHere === (ref === own || text.startsWith('HEAD went '))),
    );
    // The dangerous kinds first: a reader may see only the beginning.
    const texts = (list: readonly Move[]): string[] => list.map(({ text }) => text);
    return [
      ...new Set([
        ...setup,
        ...texts(here),
        ...side,
        ...index,
        ...lost(before, after, watch),
        ...texts(elsewhere),
      ]),
    ];
  } finally {
    closeCheckoutState(after);
  }
}

/** Stashes, and what reflogs held. */
function lost(before: CheckoutState, after: CheckoutState, { repository }: ChangeWatch): string[] {
  const top = before.refs.get('refs/stash');
  const named = top === after.refs.get('refs/stash') ? undefined : top;
  return [
    ...stashChanges(before.side, after.side, named),
    ...logChanges(before.side, after.side, after.refs, repository.commonDirectory),
  ];
}

interface Move {
  text: string;
  /** The commit that it led to; null for what was deleted. */
  to: string | null;
  /** Its line in the reflog. */
  reason: string;
  ref: string;
  /** It was not there before, or is not any more. */
  isWhole?: boolean;
}

const ID_LENGTH = 10;

function refMoves(before: CheckoutState, after: CheckoutState, { commonDirectory }: Repository): Move[] {
  const names = [...new Set([...before.refs.keys(), ...after.refs.keys()])];
  return names.flatMap((ref): Move[] => {
    const [from = null, to = null] = [before.refs.get(ref), after.refs.get(ref)];
    if (from === to) return [];
    const log = readOrNull(join(commonDirectory, 'logs', ref)) ?? '';
    const reason = log.trimEnd().split('\n').at(-1)?.split('\t')[1] ?? '';
    const short = (id: string): string => id.slice(0, ID_LENGTH);
    const what =
      from === null
        ? `was made at ${short(to ?? '')}`
        : to === null
          ? `was deleted (it was ${short(from)})`
          : `moved from ${short(from)} to ${short(to)}`;
    return [
      {
        text: `${ref} ${what}${reason === '' || to === null ? '' : ` (${reason})`}`,
        to,
        reason,
        ref,
        isWhole: from === null || to === null,
      },
    ];
  });
}

/** HEAD itself, and what its reflog says that no ref shows any more, such as there and back. */
function headMoves(before: CheckoutState, after: CheckoutState): Move[] {
  const name = (text: string | null): string => text?.trim().replace(/^ref: refs\/heads\//, '') ?? 'nothing';
  const moves: Move[] = [];
  if (before.head !== after.head) {
    const text = `HEAD went from ${name(before.head)} to ${name(after.head)}`;
    moves.push({ text, to: null, reason: '', ref: 'HEAD' });
  }
  if (after.headLog === before.headLog) return moves;
  if (after.headLog < before.headLog)
    return [...moves, { text: 'the reflog of HEAD was cut', to: null, reason: '', ref: 'HEAD' }];
  const log = readFileSync(join(after.gitDirectory, 'logs', 'HEAD'))
    .subarray(before.headLog)
    .toString();
  for (const line of log.split('\n').filter((text) => text !== '')) {
    const [ids = '', reason = ''] = line.split('\t');
    const to = ids.split(' ')[1] ?? null;
    moves.push({
      text: `HEAD: ${reason || 'moved'}, to ${to?.slice(0, ID_LENGTH)}`,
      to,
      reason,
      ref: 'HEAD',
    });
  }
  return moves;
}

async function knownMoves(moves: readonly Move[], watch: ChangeWatch): Promise<ReadonlySet<Move>> {
  const isOwnWork = ({ reason, ref }: Move): boolean =>
    reason.startsWith('ramet merge') || (ref.startsWith('refs/remotes/') && /^(?:fetch|pull)\b/.test(reason));
  const whole = moves.filter(({ isWhole }) => isWhole === true);
  const ofHooks = new Set(whole.length === 0 ? [] : watch.ofHooks().map((branch) => `refs/heads/${branch}`));
  const isMaking = whole.some(({ to }) => to !== null) && watch.isHookAtWork();
  const isOfHook = ({ ref, to }: Move): boolean =>
    ofHooks.has(ref) || (isMaking && to !== null && ref.startsWith('refs/heads/'));
  const known = new Set([...moves.filter(isOwnWork), ...whole.filter(isOfHook)]);
  const open = moves.filter((move) => !known.has(move) && move.to !== null && /^commit/.test(move.reason));
  const makers = await makersOf([...new Set(open.flatMap(({ to }) => to ?? []))], watch);
  for (const move of open) {
    const maker = makers.get(move.to ?? '');
    // The agent itself has no business in this checkout.
    if (maker !== undefined && maker !== watch.agent) known.add(move);
  }
  return known;
}

async function makersOf(
  commits: readonly string[],
  watch: ChangeWatch,
): Promise<ReadonlyMap<string, string>> {
  if (commits.length === 0) return new Map();
  const input = commits.map((id) => `${id}\n`).join('');
  const args = ['log', '--no-walk=unsorted', '--stdin', '-z', '--format=%H%x01%B', '--no-show-signature'];
  const { stdout } = await runGit(args, { ...callIn(watch), input });
  return new Map(
    stdout.split('\0').flatMap((record): [string, string][] => {
      const [id = '', ...message] = record.split('\u0001');
      const { agent } = parseTrailers(message.join('\u0001'));
      return agent === undefined ? [] : [[id.trim(), agent]];
    }),
  );
}

function callIn({ repository, env }: ChangeWatch): GitCall {
  return { cwd: repository.root, env };
}
