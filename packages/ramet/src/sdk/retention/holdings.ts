/** Everything that Ramet keeps for a repository, item by item: how old, how large, and whether it may go. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GONE_ALREADY, type Holding, type HoldingKind, type HoldingOptions } from './holding.ts';
import { keptFolders } from './kept-folders.ts';
import { removeSession } from './remove-session.ts';
import { DAY_MS, filesBelow, type SessionHolding, sessionHoldings } from './session-holdings.ts';
import { sessionsWithWorktrees } from './sessions-with-worktrees.ts';
import { wipRefs } from './wip-refs.ts';
import { worktreeHoldings } from './worktree-holdings.ts';

/** Worktrees first: a session whose agents have some stays. */
export async function holdingsOf(options: HoldingOptions): Promise<Holding[]> {
  const { place, now, days, interrupted } = options;
  const worktrees = await worktreeHoldings(options);
  const withWorktrees = sessionsWithWorktrees(place);
  const sessions = sessionHoldings(place.project, { now, days, interrupted, withWorktrees });
  return [
    ...worktrees,
    ...sessions.map((held) => sessionItem(place.project, held)),
    ...sessions.flatMap(({ usedAt, emptyOutputs, keep }) =>
      keep === null ? [] : emptyOutputs.map((path) => fileItem('empty output', path, usedAt, 0)),
    ),
    ...checkLogs(options),
    ...(await wipRefs(options)),
    ...keptFolders(options),
  ];
}

function sessionItem(project: string, held: SessionHolding): Holding {
  const { session, title, usedAt, written, bytes, keep } = held;
  return {
    kind: 'session',
    name: title === null ? session : `${session} ${title}`,
    usedAt,
    bytes: bytes.journal + bytes.originals + bytes.outputs,
    parts: bytes,
    keep: keep?.reason ?? null,
    young: keep?.young ?? false,
    async remove() {
      const removal = removeSession(project, session, written);
      if (removal === 'in use') return 'it is in use, or was used since it was listed';
      return removal === 'removed' ? null : GONE_ALREADY;
    },
  };
}

function checkLogs({ place, now, days }: HoldingOptions): Holding[] {
  return filesBelow(join(place.project, 'merge'))
    .filter(({ path }) => /\/merge\/[^/]+\/check-[0-9a-f]+\.log$/.test(path))
    .map(({ path, size, mtimeMs }) => {
      const young = now - mtimeMs < days * DAY_MS;
      return { ...fileItem('check log', path, mtimeMs, size), keep: young ? 'it is recent' : null, young };
    });
}

function fileItem(kind: HoldingKind, path: string, usedAt: number, bytes: number): Holding {
  const remove = async (): Promise<null | typeof GONE_ALREADY> => {
    if (!existsSync(path)) return GONE_ALREADY;
    rmSync(path, { force: true });
    return null;
  };
  return { kind, name: path, usedAt, bytes, parts: null, keep: null, young: false, remove };
}
