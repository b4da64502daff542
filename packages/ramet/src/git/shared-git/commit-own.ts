/**
 * `git commit` beside other agents: a commit of exactly the agent's own paths (WORK-1). What others have put into the
 * index, agents or a person, is neither committed nor lost: the commit is made from a copy of the index in which their
 * entries are HEAD's, as git itself does for `git commit PATH`.
 */
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Claims } from './claims.ts';
import type { GitView } from './git-view.ts';
import { commandWords } from './git-words.ts';
import { leftOut, type PathChoice, stagePaths, takePaths } from './take-paths.ts';

const VALUED = [
  ...['m', 'F', 'C', 'c', 't'],
  ...[
    '--message',
    '--file',
    '--author',
    '--date',
    '--reuse-message',
    '--reedit-message',
    '--fixup',
    '--squash',
  ],
  ...['--template', '--cleanup', '--trailer', '--pathspec-from-file'],
];
const INTERACTIVE = ['-p', '--patch', '--interactive', '--pathspec-from-file'];

export interface CommitChoice extends PathChoice {
  /** The git directory of the checkout. */
  gitDirectory: string;
  agent: string;
  /** Where the copy of the index is made. */
  scratch: string;
}

export function commitOwn(
  choice: CommitChoice,
  rest: readonly string[],
  tell: (line: string) => void,
): number {
  const { view, claims, gitDirectory, agent } = choice;
  const { options, flags, operands, paths } = commandWords(rest, VALUED);
  if (flags.has('--dry-run')) return view.run(['commit', ...rest]);
  if (INTERACTIVE.some((flag) => flags.has(flag))) {
    tell('ramet: refused beside other agents: name the paths to commit instead');
    return 1;
  }
  // What a merge brought in is committed as a whole, or not at all.
  if (['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => existsSync(join(gitDirectory, name))))
    return settled(choice, () => view.run(['commit', ...rest]));
  if (flags.has('--amend') && view.head !== null && claims.committer(view.head) !== agent) {
    tell(`ramet: refused: ${describeHead(view, claims)}, not your commit to amend. Make a new commit.`);
    return 1;
  }
  const index = join(choice.scratch, `index.${process.pid}`);
  try {
    return commitFromCopy(
      choice,
      { index, pathspecs: [...operands, ...(paths ?? [])], flags, options },
      tell,
    );
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  }
}

interface CommitOrder {
  /** Where the copy of the index is made. */
  index: string;
  pathspecs: readonly string[];
  flags: ReadonlySet<string>;
  options: readonly string[];
}

/** Whatever a person stages meanwhile goes to the real index, and so into no commit of an agent's. */
function commitFromCopy(choice: CommitChoice, order: CommitOrder, tell: (line: string) => void): number {
  const { view } = choice;
  const { index, flags } = order;
  const chosen = choosePaths(choice, order);
  if (typeof chosen === 'string') {
    tell(chosen);
    return 1;
  }
  const empty = flags.has('--amend') || flags.has('--allow-empty');
  if (chosen.own.length === 0 && !empty) return nothingLeft(choice, chosen.left, tell);
  const env = { GIT_INDEX_FILE: index };
  const undo = view.head === null ? ['rm', '-q', '--cached'] : ['reset', '-q'];
  const complaint = view.onPaths(undo, chosen.foreign, env);
  if (complaint !== null) {
    tell(complaint);
    return 128;
  }
  const code = settled(choice, () => view.run(['commit', ...plainOptions(order.options)], env));
  if (code !== 0) return code;
  takeOver(view, index);
  const note = leftOut(chosen.left);
  if (note !== null) tell(note);
  return 0;
}

interface ChosenPaths {
  /** To be committed; their entries are in the index. */
  own: string[];
  /** Others' entries in the index. */
  foreign: string[];
  left: string[];
}

/** Copies the index once everything is in it. A text is the reason why nothing is done. */
function choosePaths(choice: CommitChoice, { index, pathspecs, flags }: CommitOrder): ChosenPaths | string {
  const { view, claims, gitDirectory } = choice;
  const sweeps = flags.has('-a') || flags.has('--all');
  let left: string[] = [];
  let taken: string[] = [];
  if (sweeps || pathspecs.length > 0) {
    const found = takePaths(choice, view.dirty(pathspecs, 'no'), pathspecs);
    if (found.refused.length > 0)
      return `ramet: not committed: ${found.refused.join(', ')}. They commit it themselves.`;
    const complaint = stagePaths(choice, found.taken);
    if (complaint !== null) return complaint;
    ({ left, taken } = found);
  }
  const only = pathspecs.length > 0 && !flags.has('-i') && !flags.has('--include');
  if (existsSync(join(gitDirectory, 'index'))) copyFileSync(join(gitDirectory, 'index'), index);
  const own: string[] = [];
  const foreign: string[] = [];
  for (const [path, entry] of view.staged([], { GIT_INDEX_FILE: index })) {
    const isOwn = only ? taken.includes(path) : claims.hasStaged(view.absolute(path), entry);
    (isOwn ? own : foreign).push(path);
    if (!isOwn && !only) left.push(describeForeign(claims, view, path, entry));
  }
  return { own, foreign, left: [...new Set(left)] };
}

function describeForeign(claims: Claims, view: GitView, path: string, entry: string): string {
  const stagers = claims.stagedByOthers(view.absolute(path), entry);
  return stagers.length === 0
    ? `${path} (staged by someone else; name it to take it)`
    : `${path} (staged by agent ${stagers.join(', ')})`;
}

/** A hook may have put more into the copy; the real index then still has what was there before. */
function takeOver(view: GitView, copy: string): void {
  const committed = new Set(committedPaths(view));
  const behind = [...view.staged().keys()].filter((path) => committed.has(path));
  if (behind.length === 0) return;
  const kept = view.ask(['-C', view.root, 'ls-files', '-s', '-z', '--', ...behind], {
    env: { GIT_INDEX_FILE: copy, GIT_LITERAL_PATHSPECS: '1' },
  }).stdout;
  const present = new Set(kept.split('\0').map((entry) => entry.slice(entry.indexOf('\t') + 1)));
  const gone = behind.filter((path) => !present.has(path)).map((path) => `0 ${'0'.repeat(40)}\t${path}\0`);
  view.ask(['-C', view.root, 'update-index', '-z', '--index-info'], { input: kept + gone.join('') });
}

function committedPaths(view: GitView): string[] {
  const words = ['diff-tree', '--root', '--no-commit-id', '--name-only', '--no-renames', '-r', '-z', 'HEAD'];
  return view
    .ask(words)
    .stdout.split('\0')
    .filter((path) => path !== '');
}

/** Notes what the commit settles. */
function settled({ view, claims }: CommitChoice, run: () => number): number {
  const begun = Date.now();
  const code = run();
  if (code !== 0) return code;
  const commit = view.ask(['rev-parse', 'HEAD']).stdout.trim();
  const paths = committedPaths(view).map((path) => view.absolute(path));
  claims.settle(paths, commit, begun);
  return code;
}

function nothingLeft(
  { view, claims }: CommitChoice,
  left: readonly string[],
  tell: (line: string) => void,
): number {
  const dirty = new Set(view.dirty([], 'all').map((path) => view.absolute(path)));
  const gone = claims.settledByOthers().filter(({ path }) => !dirty.has(path));
  for (const { path, commit, agent } of gone.slice(0, 5)) {
    const who = agent === null ? 'someone else' : `agent ${agent}`;
    const subject = view.ask(['log', '-1', '--format=%h "%s"', commit]).stdout.trim();
    tell(`ramet: ${path.slice(view.root.length + 1)} is already committed, by ${who}: ${subject || commit}`);
  }
  tell('nothing of yours to commit');
  const note = leftOut(left);
  if (note !== null) tell(note);
  return 1;
}

function describeHead(view: GitView, claims: Claims): string {
  const agent = view.head === null ? null : claims.committer(view.head);
  return `HEAD is ${view.head?.slice(0, 10)} by ${agent === null ? 'someone else' : `agent ${agent}`}`;
}

/** Without what says which paths: those are in the index by now. */
function plainOptions(options: readonly string[]): string[] {
  const plain: string[] = [];
  let isValue = false;
  for (const word of options) {
    if (isValue || word.startsWith('--')) {
      if (isValue || !['--all', '--only', '--include'].includes(word)) plain.push(word);
      isValue = !isValue && word.startsWith('--') && !word.includes('=') && VALUED.includes(word);
      continue;
    }
    const value = /[mFCctSu]/.exec(word.slice(1));
    const letters = value === null ? word.slice(1) : word.slice(1, value.index + 1);
    const kept = letters.replaceAll(/[aoi]/g, '') + (value === null ? '' : word.slice(value.index + 1));
    if (kept !== '') plain.push(`-${kept}`);
    isValue = value !== null && VALUED.includes(value[0]) && value.index + 2 === word.length;
  }
  return plain;
}
