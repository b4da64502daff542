/** `ramet diff`: what a branch adds to where it came from, or what an agent changed through Write and Edit. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { type AttributedChange, fileChanges } from '../../journal/file-changes.ts';
import { UserMistake } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { childEnvironment } from '../../workspace/child-environment.ts';
import { gitText, runGit } from '../../workspace/git/run-git.ts';
import {
  callIn,
  findMergeRepository,
  lookUpCommits,
  type MergeRepository,
} from '../../workspace/merge/merge-repository.ts';
import type { FileContents } from '../../workspace/provenance/file-contents.ts';
import { printable } from '../format.ts';
import type { CommandIo } from '../io.ts';
import { recordedContents } from '../merge/recorded-contents.ts';
import { viewAgents } from '../session-target.ts';
import type { SessionView } from '../session-view.ts';

const AGENT = /^\w*\.\d+$/;
const FORMAT = ['--no-ext-diff', '--no-textconv', '--no-color'];

export async function diff(wanted: string, options: { base?: string }, io: CommandIo): Promise<void> {
  const repository = findMergeRepository(io.cwd, childEnvironment(io.env), io.signal);
  const [found = null] = await lookUpCommits([wanted], repository);
  // A branch may be called anything; what no branch is called and looks like an agent is one.
  const branch = found?.ref !== null || !AGENT.test(wanted) ? found : null;
  const text =
    branch === null
      ? await agentDiff(wanted, repository, io)
      : await branchDiff(branch.commit, options.base ?? 'HEAD', repository);
  io.out(io.isTerminal ? printable(text) : text);
}

/** From where the two parted: what came to the base since is not the branch's doing. */
async function branchDiff(commit: string, base: string, repository: MergeRepository): Promise<string> {
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
async function agentDiff(wanted: string, repository: MergeRepository, io: CommandIo): Promise<string> {
  using view = viewAgents(wanted, io);
  const { project, entry, agent } = view;
  const worktree = agent === null ? null : await worktreeDiff(view, agent, repository);
  if (worktree !== null) return worktree;
  const changes = fileChanges(project, { session: entry.session, agent });
  const stretches = stretchesOf(changes);
  if (stretches.length === 0)
    io.note('it changed nothing through Write and Edit; what Bash changed is not known');
  const contents = recordedContents(project, changes);
  const parts: string[] = [];
  for (const stretch of stretches) parts.push(await stretchDiff(stretch, contents, repository));
  return parts.join('');
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
    const inside = name.startsWith('..') ? change.path.slice(1) : name;
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
    return (await runGit(args, { ...callIn(repository), cwd: directory })).stdout;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Git shows what was made or removed against the empty file. */
function pathOf(side: string, version: string | null, inside: string): string {
  return version === null ? '/dev/null' : join(side, inside);
}

function put(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}
