/**
 * `ramet worktree`: lists the worktrees of agents with what they contain, and removes those without changes (WORK-3).
 */
import { spawn } from 'node:child_process';
import {
  collectWorktrees,
  commitWorktree,
  diffWorktree,
  enterWorktree,
  type RemovedWorktree,
  showWorktree as readWorktree,
  listWorktrees as readWorktrees,
  removeWorktrees,
  type WorktreeList,
} from '../../sdk/worktrees/worktrees.ts';
import { printable, table } from '../../views/text/format.ts';
import { branchText, holdsText, sizeText, type WorktreeView } from '../../views/worktree-view.ts';
import { type CommandIo, callFrom, EXIT } from '../io.ts';
import { paintDiff, paintFields, paintFirst, paintTable, styleFor } from '../output/painted.ts';

/** After its start: a list that takes longer is not looked at. */
const PATIENCE_MS = 330;
const LEAST_PATIENCE_MS = 50;

/** Begins with the process: what was spent before the list is asked for counts. */
function patience(): AbortSignal {
  return AbortSignal.timeout(Math.max(LEAST_PATIENCE_MS, Math.round(PATIENCE_MS - performance.now())));
}

export async function listWorktrees(
  { json = false, all = false }: { json?: boolean; all?: boolean },
  io: CommandIo,
): Promise<void> {
  const { worktrees, ready, lost, notes } = await readWorktrees({
    ...callFrom(io),
    all,
    patience: patience(),
  });
  if (json) io.out(`${JSON.stringify(worktrees.map(jsonOf))}\n`);
  else if (worktrees.length === 0) io.out('no worktrees of agents here\n');
  else io.out(paintTable(printableTable([HEADINGS, ...worktrees.map(rowOf)]), styleFor(io)));
  if (!json) io.out(poolLine(ready));
  for (const note of notes) io.note(printable(note));
  if (lost > 0) io.note(`git knows ${lost} more whose directories are gone: ramet worktree gc removes them`);
}

/** What is kept ready, which nobody would look for by name. */
function poolLine({ count, bytes }: WorktreeList['ready']): string {
  if (count === 0) return '';
  return `${count} kept ready for the next agents: ${sizeText(bytes)} (settings worktree.pool, worktree.poolMegabytes)\n`;
}

function jsonOf({ seenMsAgo, ...view }: WorktreeView): object {
  return { ...view, seen_ms_ago: seenMsAgo };
}

const HEADINGS = ['NAME', 'AGENT', 'BRANCH', 'BASE', 'SIZE', 'STATE', 'HOLDS'];

function rowOf(view: WorktreeView): string[] {
  const { name, agent, base, bytes, state } = view;
  const branch = branchText(view) ?? '';
  return [name, agent ?? '', branch, base.slice(0, 12), sizeText(bytes), state, holdsText(view)];
}

function printableTable(rows: readonly (readonly string[])[]): string {
  return table(rows.map((row) => row.map(printable)));
}

export async function showWorktree(
  wanted: string,
  { json = false }: { json?: boolean },
  io: CommandIo,
): Promise<void> {
  const view = await readWorktree(wanted, callFrom(io));
  if (json) {
    io.out(`${JSON.stringify(jsonOf(view))}\n`);
    return;
  }
  const { name, path, base, agent, slot, bytes, state } = view;
  const fields = {
    name,
    path,
    branch: branchText(view),
    base,
    agent,
    slot,
    size: sizeText(bytes),
    state,
    holds: holdsText(view),
  };
  const rows = Object.entries(fields).map(([field, value]) => [field, String(value ?? 'none')]);
  io.out(paintFields(printableTable(rows), styleFor(io)));
}

export async function collect(
  { dryRun = false, json = false }: { dryRun?: boolean; json?: boolean },
  io: CommandIo,
): Promise<void> {
  const { worktrees, notes } = await collectWorktrees({ ...callFrom(io), dryRun });
  const living = worktrees.filter(({ isMemory }) => !isMemory);
  const memories = worktrees.length - living.length;
  if (json) io.out(`${JSON.stringify(worktrees.map(({ isMemory, ...shown }) => shown))}\n`);
  else if (worktrees.length === 0) io.out('no worktrees of agents here\n');
  else {
    const rows = living.map(({ action, name, reasons }) => [action, name, reasons.join('; ')]);
    io.out(paintFirst(printableTable(rows), styleFor(io)));
    if (memories > 0)
      io.out(`remembered, so that their agents can be continued: ${memories} removed earlier\n`);
  }
  for (const note of notes) io.note(printable(note));
  if (dryRun && !json) io.note('nothing was changed; without --dry-run it is done');
}

/** A worktree with changes stays unless a person insists, and then its files are kept on a ref first. */
export async function remove(
  names: readonly string[],
  { force = false }: { force?: boolean },
  io: CommandIo,
): Promise<number> {
  let code: number = EXIT.done;
  for await (const worktree of removeWorktrees(names, { ...callFrom(io), force })) {
    if (worktree.removed) io.out(`${printable(removedText(worktree))}\n`);
    else {
      code = EXIT.failed;
      io.note(printable(worktree.refusal));
    }
  }
  return code;
}

function removedText({
  name,
  branch,
  savedRef,
  keptFolder,
}: Extract<RemovedWorktree, { removed: true }>): string {
  const saved = savedRef === null ? '' : `; its work is in ${savedRef}`;
  const where = branch === null ? '' : `; branch ${branch.name} ${branch.state}`;
  const apart = keptFolder === null ? '' : `; folders that no commit can hold are in ${keptFolder}`;
  return `removed ${name}${where}${saved}${apart}`;
}

/** Prints where it is, or starts a shell there. */
export async function open(
  wanted: string,
  { shell = false }: { shell?: boolean },
  io: CommandIo,
): Promise<number> {
  const { path, env } = await enterWorktree(wanted, callFrom(io));
  if (!shell) {
    io.out(`${path}\n`);
    return EXIT.done;
  }
  const child = spawn(io.env.SHELL || 'bash', [], {
    cwd: path,
    env: { ...io.env, ...env, PWD: path },
    stdio: 'inherit',
  });
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
  const made = await commitWorktree(wanted, { ...callFrom(io), message });
  const files = `${made.files} file${made.files === 1 ? '' : 's'}`;
  const branch = made.branch ?? 'no branch';
  const next = `merge it with: ramet merge ${made.branch ?? made.commit}`;
  for (const text of made.leftOut) io.note(printable(text));
  io.out(`${printable(`committed ${files} as ${made.commit.slice(0, 10)} on ${branch}; ${next}`)}\n`);
}

/** Everything that it has beyond its base, committed or not, new files included. */
export async function diff(
  wanted: string,
  { stat = false, json = false }: { stat?: boolean; json?: boolean },
  io: CommandIo,
): Promise<void> {
  const text = await diffWorktree(wanted, { ...callFrom(io), stat });
  if (json) io.out(`${JSON.stringify({ worktree: wanted, diff: text })}\n`);
  else io.out(io.isTerminal ? paintDiff(printable(text), styleFor(io)) : text);
}
