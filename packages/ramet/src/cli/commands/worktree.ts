/** `ramet worktree`: what agents' worktrees there are, what they hold, and taking away what holds nothing (WORK-3). */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { systemCode, UserMistake } from '../../schema/errors.ts';
import { findWorktree, listed, openPlace } from '../../sdk/worktrees/open-place.ts';
import { worktreeDiff } from '../../sdk/worktrees/worktree-diff.ts';
import { refusedRemoval } from '../../views/refused-removal.ts';
import { printable, table } from '../../views/text/format.ts';
import { holdsText, sizeText, viewOf, viewsInTime, type WorktreeView } from '../../views/worktree-view.ts';
import { leftOutText } from '../../workspace/worktrees/add-all.ts';
import { collectGarbage } from '../../workspace/worktrees/collect-garbage.ts';
import { refuseUnfinished } from '../../workspace/worktrees/half-made.ts';
import { lostWorktrees, pruneLost } from '../../workspace/worktrees/lost-worktrees.ts';
import { staleLockNotes } from '../../workspace/worktrees/ref-locks.ts';
import { removeWorktree } from '../../workspace/worktrees/remove-worktree.ts';
import type { ManagedWorktree } from '../../workspace/worktrees/worktree.ts';
import { worktreeEnvironment } from '../../workspace/worktrees/worktree-environment.ts';
import type { WorktreePlace } from '../../workspace/worktrees/worktree-place.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandIo } from '../io.ts';

/** After its start: a list that takes longer is not looked at. */
const PATIENCE_MS = 330;
const LEAST_PATIENCE_MS = 50;

function patience(): AbortSignal {
  return AbortSignal.timeout(Math.max(LEAST_PATIENCE_MS, Math.round(PATIENCE_MS - performance.now())));
}

export async function listWorktrees(
  { json = false, all = false }: { json?: boolean; all?: boolean },
  io: CommandIo,
): Promise<void> {
  using opened = await openPlace(io);
  const { place } = opened;
  const views = await viewsInTime(place, listed(place, all), patience());
  if (json) io.out(`${JSON.stringify(views.map(jsonOf))}\n`);
  else if (views.length === 0) io.out('no worktrees of agents here\n');
  else io.out(printableTable([HEADINGS, ...views.map(rowOf)]));
  if (!json) io.out(poolLine(place));
  const lost = lostWorktrees(place).filter(({ isGone }) => isGone).length;
  if (lost > 0) io.note(`git knows ${lost} more whose directories are gone: ramet worktree gc removes them`);
}

/** What is kept ready, which nobody would look for by name. */
function poolLine({ registry }: WorktreePlace): string {
  const ready = registry.list().filter(({ state }) => state === 'ready');
  const bytes = ready.reduce((sum, { facts }) => sum + (facts.bytes ?? 0), 0);
  if (ready.length === 0) return '';
  return `${ready.length} kept ready for the next agents: ${sizeText(bytes)} (settings worktree.pool, worktree.poolMegabytes)\n`;
}

function jsonOf({ seenMsAgo, ...view }: WorktreeView): object {
  return { ...view, seen_ms_ago: seenMsAgo };
}

const HEADINGS = ['NAME', 'AGENT', 'BRANCH', 'BASE', 'SIZE', 'STATE', 'HOLDS'];

function rowOf(view: WorktreeView): string[] {
  const { name, agent, branch, base, bytes, state } = view;
  return [name, agent ?? '', branch ?? '', base.slice(0, 12), sizeText(bytes), state, holdsText(view)];
}

function printableTable(rows: readonly (readonly string[])[]): string {
  return table(rows.map((row) => row.map(printable)));
}

export async function showWorktree(
  wanted: string,
  { json = false }: { json?: boolean },
  io: CommandIo,
): Promise<void> {
  using opened = await openPlace(io);
  const view = await viewOf(opened.place, findWorktree(opened.place, wanted));
  if (json) {
    io.out(`${JSON.stringify(jsonOf(view))}\n`);
    return;
  }
  const { name, path, branch, base, agent, slot, bytes, state } = view;
  const fields = {
    name,
    path,
    branch,
    base,
    agent,
    slot,
    size: sizeText(bytes),
    state,
    holds: holdsText(view),
  };
  io.out(printableTable(Object.entries(fields).map(([field, value]) => [field, String(value ?? 'none')])));
}

export async function collect(
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
  io: CommandIo,
): Promise<void> {
  using opened = await openPlace(io);
  const { place, cleanupPeriodDays } = opened;
  if (!dryRun) refuseReadOnly(place);
  const collected = await collectGarbage(place, { dryRun, cleanupPeriodDays });
  const pruned = await pruneLost(place, dryRun);
  const shown = [...collected, ...pruned].map(({ worktree, action, reasons }) => ({
    name: worktree.name,
    path: worktree.path,
    action,
    reasons,
  }));
  const isMemory = collected.map(({ worktree, action }) => worktree.state === 'gone' && action === 'keep');
  const living = shown.filter((_, index) => isMemory[index] !== true);
  const memories = shown.length - living.length;
  if (json) io.out(`${JSON.stringify(shown)}\n`);
  else if (shown.length === 0) io.out('no worktrees of agents here\n');
  else {
    io.out(printableTable(living.map(({ action, name, reasons }) => [action, name, reasons.join('; ')])));
    if (memories > 0)
      io.out(`${memories} that are gone are remembered, so that their agents can be continued\n`);
  }
  for (const note of staleLockNotes(place)) io.note(printable(note));
  if (dryRun && !json) io.note('nothing was changed; without --dry-run it is done');
}

function refuseReadOnly({ repository: { commonDirectory } }: WorktreePlace): void {
  try {
    accessSync(commonDirectory, constants.W_OK);
  } catch (error) {
    throw new UserMistake(
      'read_only_repository',
      `${commonDirectory} cannot be written (${systemCode(error)}), so nothing is taken away: make it writable, or see with --dry-run what would go`,
    );
  }
}

/** What holds work stays unless a person insists, and then its files are kept on a ref first. */
export async function remove(
  names: readonly string[],
  { force = false }: { force?: boolean },
  io: CommandIo,
): Promise<number> {
  using opened = await openPlace(io);
  const { place } = opened;
  const worktrees = names.map((name) => findWorktree(place, name));
  let code: number = EXIT.done;
  for (const worktree of worktrees) {
    refuseGone(worktree);
    refuseUnfinished(place.project, worktree);
    const removal = await removeWorktree(place, worktree, { force });
    if (removal.removed) {
      const saved = removal.checkpoint?.commit ? `; its work is in ${removal.checkpoint.ref}` : '';
      const branch = worktree.branch === null ? '' : `; branch ${worktree.branch} ${removal.branch}`;
      const apart =
        removal.keptFolder === null ? '' : `; folders that no commit can hold are in ${removal.keptFolder}`;
      io.out(`${printable(`removed ${worktree.name}${branch}${saved}${apart}`)}\n`);
      continue;
    }
    code = EXIT.failed;
    io.note(printable(refusedRemoval(worktree, removal.reasons, force)));
  }
  return code;
}

function refuseGone({ state, name }: ManagedWorktree): void {
  if (state !== 'gone') return;
  throw new UserMistake(
    'worktree_gone',
    `the worktree ${name} is gone: its agent gets it back when it goes on`,
  );
}

/** Prints where it is, or starts a shell there. */
export async function open(
  wanted: string,
  { shell = false }: { shell?: boolean },
  io: CommandIo,
): Promise<number> {
  using opened = await openPlace(io);
  const worktree = findWorktree(opened.place, wanted);
  refuseGone(worktree);
  refuseUnfinished(opened.place.project, worktree);
  if (!shell) {
    io.out(`${worktree.path}\n`);
    return EXIT.done;
  }
  const env = { ...io.env, ...worktreeEnvironment(opened.place, worktree), PWD: worktree.path };
  const child = spawn(io.env.SHELL || 'bash', [], { cwd: worktree.path, env, stdio: 'inherit' });
  return new Promise((settle, fail) => {
    child.once('error', fail).once('close', (code) => settle(code ?? EXIT.failed));
  });
}

/** For an agent that has ended with work in its files. */
export async function commit(
  wanted: string,
  { message }: { message?: string },
  io: CommandIo,
): Promise<void> {
  using opened = await openPlace(io);
  const worktree = findWorktree(opened.place, wanted);
  refuseGone(worktree);
  const { commitWorktree } = await import('../../sdk/worktrees/commit-worktree.ts');
  const made = await commitWorktree(opened.place, worktree, message);
  const files = `${made.files} file${made.files === 1 ? '' : 's'}`;
  const branch = worktree.branch ?? made.commit;
  const next = `merge it with: ramet merge ${branch}`;
  for (const text of leftOutText(made.leftOut)) io.note(printable(text));
  io.out(`${printable(`committed ${files} as ${made.commit.slice(0, 10)} on ${branch}; ${next}`)}\n`);
}

/** Everything that it has beyond its base, committed or not, new files included. */
export async function diff(
  wanted: string,
  { stat = false }: { stat?: boolean },
  io: CommandIo,
): Promise<void> {
  using opened = await openPlace(io);
  const worktree = findWorktree(opened.place, wanted);
  refuseUnfinished(opened.place.project, worktree);
  io.out(await worktreeDiff(opened.place, worktree, { stat, color: io.isTerminal }));
}
