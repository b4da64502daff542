import { describe, expect, test } from 'vitest';
import { type AttemptRepository, attemptRepository, ENDED } from '../../../../test/fixtures/attempts.ts';
import { writeFiles } from '../../../../test/fixtures/temporary.ts';
import { git, OWNER } from '../../../../test/fixtures/worktrees.ts';
import { endedIn } from './attempt-agents.ts';
import type { AttemptPattern } from './attempt-pattern.ts';
import { worktreePattern } from './worktree-pattern.ts';

interface Tried extends AttemptRepository {
  path: string;
  /** Its agent ends, and its work is collected. */
  end(): Promise<{ found: Awaited<ReturnType<AttemptPattern['collect']>>; notes: readonly string[] }>;
}

async function working(): Promise<Tried> {
  const repository = attemptRepository();
  const { worktrees, workspaces, root, base } = repository;
  const workspace = await workspaces.create({ name: 'a-1', owner: OWNER, cwd: root, base });
  const end = async (): ReturnType<Tried['end']> => {
    const ended = endedIn(ENDED, { ...workspace.worktree, ...(await workspace.release()) });
    const order = repository.order('a');
    const pattern = worktreePattern(worktrees);
    const found = await pattern.collect(order, ended, async () => ended);
    return { found, notes: pattern.notes?.(order, ended) ?? [] };
  };
  return { ...repository, path: workspace.worktree.path, end };
}

function commit(path: string, file: string): string {
  writeFiles(path, { [file]: `${file}\n` });
  git(path, 'add', file);
  git(path, 'commit', '--quiet', `--message=${file}`);
  return git(path, 'rev-parse', 'HEAD');
}

/** What of the repository is theirs. A worktree that holds nothing goes meanwhile, with its branch. */
function ofUser(root: string): string[] {
  return [
    git(root, 'rev-parse', 'main', 'feature'),
    git(root, 'symbolic-ref', 'HEAD'),
    git(root, 'status', '--porcelain'),
  ];
}

type Leave = (path: string) => void;
const TAKEN: Record<string, { leave: Leave; files: string[]; note: string | null }> = {
  'files, on no branch': {
    leave: (path) => {
      writeFiles(path, { 'good.txt': 'good\n' });
      git(path, 'switch', '--quiet', '--detach');
    },
    ...{ files: ['good.txt'], note: 'its worktree was on no branch: ramet/a-1 has its work now' },
  },
  'a commit on its branch, then files on no branch': {
    leave: (path) => {
      commit(path, 'first.txt');
      git(path, 'switch', '--quiet', '--detach');
      writeFiles(path, { 'good.txt': 'good\n' });
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: 'its worktree was on no branch: ramet/a-1 has its work now',
    },
  },
  'commits on no branch': {
    leave: (path) => {
      commit(path, 'first.txt');
      git(path, 'switch', '--quiet', '--detach');
      commit(path, 'good.txt');
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: 'its worktree was on no branch: ramet/a-1 has its work now',
    },
  },
  'commits on a branch of its own': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'good.txt');
    },
    ...{ files: ['good.txt'], note: 'its work is on ramet/foo, not ramet/a-1, and was taken from there' },
  },
  'commits and files on a branch of its own': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'first.txt');
      writeFiles(path, { 'good.txt': 'good\n' });
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: 'its worktree was on ramet/foo: ramet/a-1 has its work now',
    },
  },
  'a commit that a tag and another branch lead to as well': {
    leave: (path) => {
      commit(path, 'good.txt');
      git(path, 'tag', 'v1');
      git(path, 'branch', 'ramet/foo');
    },
    ...{ files: ['good.txt'], note: null },
  },
  'a commit on its branch, and then a look at the target': {
    leave: (path) => {
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '--detach', 'main');
    },
    ...{ files: ['good.txt'], note: null },
  },
};

describe('OP-9: a task in a worktree whose agent left HEAD elsewhere', () => {
  test.each(Object.entries(TAKEN))('its work counts: %s', async (_, { leave, files, note }) => {
    const tried = await working();
    const { root, base } = tried;
    leave(tried.path);
    const before = ofUser(root);
    const { found, notes } = await tried.end();
    expect(found).toMatchObject({ files });
    if (found === null || !('commit' in found)) throw new Error('no work');
    // What is merged is what the ref leads to.
    expect(git(root, 'rev-parse', `${found.branch}^{commit}`)).toBe(found.commit);
    expect(git(root, 'diff', '--name-only', base, found.commit).split('\n')).toEqual(files);
    expect(notes).toEqual(note === null ? [] : [note]);
    expect(ofUser(root)).toEqual(before);
  });

  const REFUSED: Record<string, { leave: Leave; cause: string; message: RegExp }> = {
    'commits of its own on its branch, and others on none': {
      leave: (path) => {
        commit(path, 'first.txt');
        git(path, 'switch', '--quiet', '--detach', 'HEAD~1');
        commit(path, 'good.txt');
      },
      cause: 'diverged_work',
      message: /[0-9a-f]{12} on ramet\/a-1.*[0-9a-f]{12} on no branch/,
    },
    'a commit on its branch, and files on the commit before': {
      leave: (path) => {
        commit(path, 'first.txt');
        git(path, 'switch', '--quiet', '--create', 'ramet/foo', 'HEAD~1');
        writeFiles(path, { 'good.txt': 'good\n' });
      },
      cause: 'diverged_work',
      message: /[0-9a-f]{12} on ramet\/a-1.*[0-9a-f]{12} on no branch/,
    },
    'commits of the user': {
      leave: (path) => void git(path, 'switch', '--quiet', '--detach', 'feature'),
      ...{ cause: 'other_commits', message: /commits of other branches/ },
    },
    'commits on top of commits of the user': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--detach', 'feature');
        commit(path, 'good.txt');
      },
      ...{ cause: 'other_commits', message: /commits of other branches/ },
    },
    'commits on a new branch among those of the user': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--create', 'mine');
        commit(path, 'good.txt');
      },
      ...{ cause: 'other_commits', message: /commits of other branches.*[0-9a-f]{40} \(mine\)/ },
    },
  };

  test.each(Object.entries(REFUSED))('never done without its files: %s', async (_, refused) => {
    const tried = await working();
    const { root } = tried;
    refused.leave(tried.path);
    const head = git(tried.path, 'rev-parse', 'HEAD');
    const before = ofUser(root);
    const { found } = await tried.end();
    const { cause, message } = refused;
    expect(found).toMatchObject({ cause, message: expect.stringMatching(message) });
    expect(ofUser(root)).toEqual(before);
    expect(git(root, 'cat-file', '-t', head)).toBe('commit');
  });

  test('the branch of another worktree is not its own', async () => {
    const tried = await working();
    const { root, base, workspaces } = tried;
    const other = await workspaces.create({
      ...{ name: 'b-1', owner: { ...OWNER, agent: 'abcdefgh.2' }, cwd: root, base },
    });
    const theirs = commit(other.worktree.path, 'theirs.txt');
    git(tried.path, 'checkout', '--quiet', '--ignore-other-worktrees', 'ramet/b-1');
    writeFiles(tried.path, { 'good.txt': 'good\n' });
    const { found } = await tried.end();
    expect(found).toMatchObject({ cause: 'other_commits', message: expect.stringContaining('ramet/b-1') });
    expect(git(root, 'rev-parse', 'ramet/b-1', 'ramet/a-1').split('\n')).toEqual([theirs, base]);
  });
});
