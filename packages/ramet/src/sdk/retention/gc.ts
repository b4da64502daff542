/** What Ramet keeps for a repository, by age and size, and the removal of what is no longer needed. */
import { indexPath } from '../../journal/session-index.ts';
import { childEnvironment } from '../../system/child-environment.ts';
import { writeTrouble } from '../../system/sqlite/sqlite-failure.ts';
import { type CallOptions, callerOf } from '../calls/caller.ts';
import { finishAdoptions } from '../leftovers.ts';
import { findPlace } from '../place.ts';
import { sessionSettings } from '../session/setup/session-settings.ts';
import { GONE_ALREADY, type Holding } from './holding.ts';
import { holdingsOf } from './holdings.ts';

export interface GarbageQuestion extends CallOptions {
  /** Days; those of the settings when absent, else 30. */
  olderThan?: number;
  /** Also sessions that were interrupted and could be resumed. */
  interrupted?: boolean;
  /** Also work of agents that nothing else has. */
  work?: boolean;
  /** Only look. Otherwise what killed sessions were adopting is finished before. */
  dryRun?: boolean;
}

export interface HeldItems {
  /** The oldest first. One whose `keep` is null may go. */
  items: Holding[];
  /** What counts as young. */
  days: number;
  /** What was finished before: files that moved into the checkout. */
  notices: string[];
}

const DEFAULT_DAYS = 30;

export async function listHeld(options: GarbageQuestion = {}): Promise<HeldItems> {
  const { cwd, env } = callerOf(options);
  const { settings } = await sessionSettings({ cwd, env });
  const days = options.olderThan ?? settings.retention?.days ?? DEFAULT_DAYS;
  const place = findPlace({ cwd, env });
  // First: what one of the sessions was adopting can be finished only while it is there.
  const notices = options.dryRun === true ? [] : await finishAdoptions(place);
  const held = await holdingsOf({
    place,
    env: childEnvironment(env, settings.env?.childVariables),
    days,
    now: Date.now(),
    interrupted: options.interrupted ?? false,
    work: options.work ?? false,
    worktree: settings.worktree,
  });
  const items = held.toSorted((one, other) => one.usedAt - other.usedAt || other.bytes - one.bytes);
  return { items, days, notices };
}

/** Something that Ramet keeps. */
export type HeldItem = Omit<Holding, 'remove'>;

export interface CollectedGarbage extends HeldRemoval {
  /** Everything that is kept here as it was, the oldest first. One whose `keep` is null may go. */
  items: HeldItem[];
  /** What counts as young. */
  days: number;
  /** What was finished before: a line for each killed session whose files moved into the checkout. */
  notices: string[];
  /** What could not be removed. */
  stayed: { item: HeldItem; reason: string }[];
}

export async function collectGarbage(options: GarbageQuestion = {}): Promise<CollectedGarbage> {
  const { items, days, notices } = await listHeld(options);
  const stayed: CollectedGarbage['stayed'] = [];
  const going = options.dryRun ? [] : items.filter(({ keep }) => keep === null);
  const onStay = (item: Holding, reason: string): void => void stayed.push({ item: plainItem(item), reason });
  return {
    items: items.map(plainItem),
    days,
    notices,
    ...(await removeHeld(going, onStay, options)),
    stayed,
  };
}

function plainItem({ remove: _, ...item }: Holding): HeldItem {
  return item;
}

export interface HeldRemoval {
  removed: number;
  /** Another process was faster. */
  gone: number;
  freedBytes: number;
}

/** `onStay` hears of each that could not be removed, and why. */
export async function removeHeld(
  items: readonly Holding[],
  onStay: (item: Holding, reason: string) => void,
  options: CallOptions = {},
): Promise<HeldRemoval> {
  const { project } = findPlace(callerOf(options));
  const done = { removed: 0, gone: 0, freedBytes: 0 };
  for (const item of inOrder(items)) {
    const reason = await item.remove().catch((error: unknown) => writeTrouble(indexPath(project), error));
    if (reason === null) {
      done.freedBytes += item.bytes;
      done.removed += 1;
    } else if (reason === GONE_ALREADY) done.gone += 1;
    else onStay(item, reason);
  }
  return done;
}

/** Worktrees last: removing one writes to the index, and on a full disk only the others make room for that. */
function inOrder(items: readonly Holding[]): Holding[] {
  const isWorktree = ({ kind }: Holding): boolean => kind === 'worktree';
  return [...items.filter((one) => !isWorktree(one)), ...items.filter(isWorktree)];
}
