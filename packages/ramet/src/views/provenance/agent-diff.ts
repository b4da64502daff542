/** What a branch adds to where it came from, or what an agent changed through Write and Edit: in git's format. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { callIn, lookUpCommits } from '../../git/merges.ts';
import { gitText, runGit } from '../../git/run-git.ts';
import type { FileContents, MergeRepository } from '../../git/shapes.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { pathInside } from '../../system/landing-path.ts';
import { type TargetView, viewAgents } from '../session-target.ts';
import { type SessionView, tellDamage } from '../session-view.ts';
import { printable } from '../text/format.ts';
import type { BlamePlace } from './blame.ts';
import { type AttributedChange, fileChanges } from './file-changes.ts';
import { recordedContents } from './recorded-contents.ts';

const FORMAT = ['--no-ext-diff', '--no-textconv', '--no-color'];

/** From where the two parted: what came to the base since is not the branch's doing. */
export async function branchDiff(commit: string, base: string, repository: MergeRepository): Promise<string> {
  const [ground] = await lookUpCommits([base], repository);
  if (ground === null || ground === undefined)
    throw new UserMistake(
      'no_base',
      `${JSON.stringify(base)} is no branch or commit here: name another with --base`,
    );
  const call = callIn(repository);
  const { code, stdout } = await runGit(['merge-base', ground.commit, commit], call);
  const from = code === 0 ? stdout.trim() : ground.commit;
  const output = await gitText(['diff', ...FORMAT, from, commit], call);
  return output === '' ? '' : `${output}\n`;
}

/** Each stretch of changes that nobody else's came between is shown as one. */
export async function agentDiff(wanted: string, place: BlamePlace): Promise<string> {
  const { repository, project } = place;
  using view = viewAgents(wanted, project);
  const { entry, agent } = view;
  const worktrees = await worktreeDiffs(view, repository);
  const own = agent === null ? undefined : worktrees.get(agent);
  if (own !== undefined) {
    tellDamage(view, place);
    return own;
  }
  const changes = fileChanges(project, { session: entry.session, agent }).filter(
    (change) => !worktrees.has(change.agent),
  );
  const stretches = stretchesOf(changes);
  const found = agent === null ? [...worktrees].filter(([, text]) => text !== '') : [];
  if (stretches.length + found.length === 0)
    place.note('it changed nothing through Write and Edit; what Bash changed is not known');
  tellUndone(view, stretches, place);
  const contents = recordedContents(project, changes);
  const parts: string[] = [];
  for (const stretch of stretches) parts.push(await stretchDiff(stretch, contents, repository));
  // Git takes lines like this for the beginning of a letter, and skips them.
  for (const [id, text] of found) parts.push(`# agent ${id}, in a worktree of its own\n${text}`);
  tellDamage(view, place);
  return parts.join('');
}

/** A diff of what an agent did is the same after `ramet undo`, with a note. */
function tellUndone(
  { reader }: SessionView,
  stretches: readonly AttributedChange[],
  { repository, note }: BlamePlace,
): void {
  const undone = new Set<string>();
  for (const { event } of reader.events({ types: ['files.restored'] })) {
    if (event.type !== 'files.restored') continue;
    for (const { path } of event.files) {
      if (event.kind === 'undo') undone.add(path);
      else undone.delete(path);
    }
  }
  const paths = [...new Set(stretches.map(({ path }) => path))].filter((path) => undone.has(path));
  if (paths.length === 0) return;
  const names = paths.map((path) => relative(repository.cwd, path)).join(', ');
  note(`ramet undo has put back since: ${printable(names)}`);
}

/** By agent, for all that had a worktree. */
async function worktreeDiffs(
  view: TargetView,
  repository: MergeRepository,
): Promise<ReadonlyMap<AgentId, string>> {
  const diffs = new Map<AgentId, string>();
  for (const { id } of view.agents) {
    if (view.agent !== null && view.agent !== id) continue;
    const text = await worktreeDiff(view, id, repository);
    if (text !== null) diffs.set(id, text);
  }
  return diffs;
}

/** Of an agent in a worktree, from its base to its last checkpoint: commands included. Null when it had none. */
async function worktreeDiff(
  { reader }: SessionView,
  agent: AgentId,
  repository: MergeRepository,
): Promise<string | null> {
  let base: string | null = null;
  let tip: string | null = null;
  for (const { event } of reader.events({ agent, types: ['worktree.created', 'worktree.checkpointed'] })) {
    if (event.type === 'worktree.created') base = event.base;
    if (event.type === 'worktree.checkpointed') tip = event.commit;
  }
  if (base === null || tip === null) return null;
  const [from, to] = await lookUpCommits([base, tip], repository);
  if (!from || !to) return null;
  const output = await gitText(['diff', ...FORMAT, from.commit, to.commit], callIn(repository));
  return output === '' ? '' : `${output}\n`;
}

function stretchesOf(changes: readonly AttributedChange[]): AttributedChange[] {
  const stretches: AttributedChange[] = [];
  for (const change of changes) {
    const last = stretches.findLastIndex(({ path }) => path === change.path);
    const before = stretches[last];
    if (before === undefined || before.after !== change.before) stretches.push(change);
    else stretches[last] = { ...before, after: change.after };
  }
  return stretches.filter(({ before, after }) => before !== after);
}

async function stretchDiff(
  change: AttributedChange,
  contents: FileContents,
  repository: MergeRepository,
): Promise<string> {
  const name = relative(repository.cwd, change.path);
  const [before, after] = [change.before, change.after].map((version) =>
    version === null ? Buffer.alloc(0) : contents.read(version, change.path),
  );
  if (!before || !after) {
    const lost = before ? 'what it wrote' : 'what was there before';
    return `# ${name}: changed by ${change.agent}, but ${lost} is not kept\n`;
  }
  const directory = mkdtempSync(join(tmpdir(), 'ramet-diff-'));
  try {
    const inside = pathInside(change.path, repository.cwd) ?? change.path.slice(1);
    if (change.before !== null) put(join(directory, 'a', inside), before);
    if (change.after !== null) put(join(directory, 'b', inside), after);
    const args = [
      'diff',
      '--no-index',
      '--no-prefix',
      ...FORMAT,
      '--',
      pathOf('a', change.before, inside),
      pathOf('b', change.after, inside),
    ];
    return headedAsGit((await runGit(args, { ...callIn(repository), cwd: directory })).stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Against the empty file git names the same side twice; in a repository it names both. */
function headedAsGit(text: string): string {
  const [, names = ''] = /^diff --git (.*)$/m.exec(text) ?? [];
  const name = names.slice(0, (names.length - 1) / 2);
  if (name === '' || names !== `${name} ${name}`) return text;
  const quote = name.startsWith('"') ? '"' : '';
  const inner = name.slice(quote.length + 'a/'.length);
  return text.replace(names, () => `${quote}a/${inner} ${quote}b/${inner}`);
}

/** Git shows what was made or removed against the empty file. */
function pathOf(side: string, version: string | null, inside: string): string {
  return version === null ? '/dev/null' : join(side, inside);
}

function put(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}
