/** What must hold when a run has ended, however often it was killed. Each check says in a line what is wrong. */
import type { Evidence, SavedWork } from './evidence.ts';
import { taskIds } from './plan.ts';

export interface Compared {
  /** The tree of an undisturbed run. */
  tree: string;
  /** Work that was there at some kill. */
  saved: SavedWork;
}

type Check = (evidence: Evidence, compared: Compared) => string[];

export const CHECKS: Readonly<Record<string, Check>> = {
  'the last process ends well': endsWell,
  'the target has the tree of an undisturbed run': ({ tree }, compared) =>
    tree === compared.tree ? [] : [`${tree}, not ${compared.tree}`],
  'nothing lands twice': landedOnce,
  'no commit and no file is lost': nothingLost,
  'the repository is sound': ({ fsck }) => (fsck === '' ? [] : [fsck]),
  'no lock is left': ({ locks }) => locks,
  'the marks are right': ({ taskFile, plan }) =>
    taskFile === plan.tasks.replaceAll('[ ]', '[x]') ? [] : [JSON.stringify(taskFile)],
  'the journal tells the same': journalTells,
  'nothing is left running or lying about': ({ processes, temporary }) => [...processes, ...temporary],
  'worktrees are known, and whole': worktreesKnown,
  'the checkout is as git has it': ({ checkout }) => (checkout === '' ? [] : [JSON.stringify(checkout)]),
};

export function problemsOf(evidence: Evidence, compared: Compared): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    check(evidence, compared).map((problem) => `${name}: ${problem}`),
  );
}

function endsWell({ end }: Evidence): string[] {
  if (end === null) return [];
  if (end.hung) return [`it hangs; it had said ${JSON.stringify(end.stdout + end.stderr)}`];
  return end.code === 0
    ? []
    : [`code ${end.code}, ${end.signal}, ${JSON.stringify(end.stdout)}, ${JSON.stringify(end.stderr)}`];
}

function landedOnce({ landed }: Evidence): string[] {
  const merges = landed.filter(({ parents, task }) => parents > 1 && task !== '').map(({ task }) => task);
  const commits = landed.filter(({ parents }) => parents === 1).map(({ subject }) => subject);
  return [...twice(merges), ...twice(commits)];
}

function twice(names: readonly string[]): string[] {
  return [...Map.groupBy(names, (name) => name)].flatMap(([name, all]) =>
    all.length > 1 ? [`${name} ${all.length} times`] : [],
  );
}

function nothingLost({ reachable, files }: Evidence, { saved }: Compared): string[] {
  const onDisk = new Set(files.map(({ blob }) => blob));
  return [
    ...saved.commits
      .filter(({ commit }) => !reachable.has(commit))
      .map(({ commit, ref }) => `the commit ${commit} of ${ref}`),
    ...saved.files
      .filter(({ blob }) => !reachable.has(blob) && !onDisk.has(blob))
      .map(({ path }) => `what was in ${path}`),
  ];
}

function journalTells({ status, views, plan }: Evidence): string[] {
  if (status.code !== 0 || views.some((code) => code !== 0))
    return [`the views end with ${[status.code, ...views].join(', ')}: ${status.text}`];
  const { tasks, status: run }: { tasks: { id: string; status: string }[]; status: string } = JSON.parse(
    status.text,
  );
  const found = [`run ${run}`, ...tasks.map((task) => `${task.id} ${task.status}`)].join(', ');
  const wanted = ['run ended', ...taskIds(plan).map((id) => `${id} done`)].join(', ');
  return found === wanted ? [] : [found];
}

function worktreesKnown({ worktrees: { known, folders } }: Evidence): string[] {
  return [
    ...(known.includes('prunable') ? [known] : []),
    ...folders
      .filter((folder) => !known.includes(`worktree ${folder}\n`))
      .map((folder) => `${folder} is not known`),
  ];
}
