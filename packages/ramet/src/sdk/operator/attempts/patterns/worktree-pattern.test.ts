import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type AttemptRepository,
  attemptRepository,
  ENDED,
  naming,
} from '../../../../../test/fixtures/attempts.ts';
import { SPOILED_REGISTRATIONS } from '../../../../../test/fixtures/led-checkouts.ts';
import { runSync } from '../../../../../test/fixtures/run-sync.ts';
import { temporaryDirectory, writeFiles } from '../../../../../test/fixtures/temporary.ts';
import { git, gitVariables, OWNER } from '../../../../../test/fixtures/worktrees.ts';
import { endedIn } from '../attempt-agents.ts';
import type { AttemptPattern } from './attempt-pattern.ts';
import { worktreePattern } from './worktree-pattern.ts';

const NAMED = naming('ramet/made', 'made', 'mine/made');

interface Tried extends AttemptRepository {
  path: string;
  /** Its agent ends, and its work is collected. */
  end(): Promise<Collected>;
  /** As another process does it after a kill. */
  collectAgain(): Promise<Collected>;
}

interface Collected {
  found: Awaited<ReturnType<AttemptPattern['collect']>>;
  notes: readonly string[];
}

async function working(): Promise<Tried> {
  const repository = attemptRepository();
  const { worktrees, workspaces, root, base } = repository;
  const workspace = await workspaces.create({ name: 'a-1', owner: OWNER, cwd: root, base });
  let ended = ENDED;
  const end = async (): Promise<Collected> => {
    ended = endedIn(ENDED, { ...workspace.worktree, ...(await workspace.release()) });
    return collectAgain();
  };
  const collectAgain = async (): Promise<Collected> => {
    const order = repository.order('a');
    const pattern = worktreePattern(worktrees, NAMED);
    const found = await pattern.collect(order, ended, async () => ended);
    return { found, notes: pattern.notes?.(order, ended) ?? [] };
  };
  return { ...repository, path: workspace.worktree.path, end, collectAgain };
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

/** How an agent puts a commit on a ref, by the name that people are told. */
const REFS: Record<string, string[]> = {
  'ramet/made': ['branch', 'ramet/made'],
  'tags/made': ['tag', 'made'],
  'remotes/mine/made': ['update-ref', 'refs/remotes/mine/made'],
};

/** A commit that HEAD was never on. */
function unseen(path: string, file: string): string {
  writeFiles(path, { [file]: `${file}\n` });
  git(path, 'add', file);
  const made = git(path, 'commit-tree', '-p', 'HEAD', '-m', file, git(path, 'write-tree'));
  git(path, 'reset', '--quiet', '--hard');
  return made;
}

/** How it is told that work was found there, and how that is removed. */
function taken(where: string): string {
  const [kind, name] = where.startsWith('tags/') ? ['tag -d', 'made'] : ['branch -D', where];
  const remove = where.startsWith('remotes/') ? `git update-ref -d refs/${where}` : `git ${kind} ${name}`;
  return `its work is on ${where}, not ramet/a-1, and was taken from there; it stays: once the target has the work, ${remove} removes it`;
}

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
    ...{ files: ['good.txt'], note: taken('ramet/foo') },
  },
  'commits and files on a branch of its own': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'first.txt');
      writeFiles(path, { 'good.txt': 'good\n' });
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: 'its worktree was on ramet/foo: ramet/a-1 has its work now; it stays: once the target has the work, git branch -D ramet/foo removes it',
    },
  },
  'commits on a branch of its own that it has left': {
    leave: (path) => {
      commit(path, 'first.txt');
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '-');
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: taken('ramet/foo'),
    },
  },
  'nothing but commits on a branch of its own that it has left': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '-');
    },
    ...{ files: ['good.txt'], note: taken('ramet/foo') },
  },
  'nothing but commits on no branch, which it has left': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--detach');
      commit(path, 'first.txt');
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '-');
    },
    ...{
      files: ['first.txt', 'good.txt'],
      note: 'its work is on no branch, not ramet/a-1, and was taken from there',
    },
  },
  'commits on a branch of its own that it has left and given another name': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '-');
      git(path, 'branch', '--move', 'ramet/foo', 'ramet/bar');
    },
    ...{ files: ['good.txt'], note: taken('ramet/bar') },
  },
  'a file, after a branch that it has deleted': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'tried.txt');
      git(path, 'switch', '--quiet', '-');
      git(path, 'branch', '-D', 'ramet/foo');
      writeFiles(path, { 'good.txt': 'good\n' });
    },
    ...{
      files: ['good.txt'],
      note: expect.stringMatching(/^it deleted ramet\/foo with commit [0-9a-f]{40}, which/),
    },
  },
  'commits of a rebase that it gave up': {
    leave: (path) => {
      commit(path, 'first.txt');
      commit(path, 'good.txt');
      const stop = ['rebase', '--quiet', '--force-rebase', '--exec', 'false', 'HEAD~2'];
      expect(() => runSync('git', stop, { cwd: path, env: gitVariables() })).toThrow();
      git(path, 'rebase', '--quit');
      git(path, 'switch', '--quiet', 'ramet/a-1');
    },
    ...{ files: ['first.txt', 'good.txt'], note: null },
  },
  'commits of a branch of its own that it has picked': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--create', 'ramet/foo');
      commit(path, 'good.txt');
      git(path, 'switch', '--quiet', '-');
      commit(path, 'first.txt');
      git(path, 'cherry-pick', 'ramet/foo');
    },
    ...{ files: ['first.txt', 'good.txt'], note: null },
  },
  'a commit that a tag and another branch lead to as well': {
    leave: (path) => {
      commit(path, 'good.txt');
      git(path, 'tag', 'v1');
      git(path, 'branch', 'ramet/foo');
    },
    ...{ files: ['good.txt'], note: null },
  },
  ...Object.fromEntries(
    Object.entries(REFS).map(([where, args]) => [
      `a commit that only ${where} has after a reset`,
      {
        leave: (path: string) => {
          commit(path, 'good.txt');
          git(path, ...args, 'HEAD');
          git(path, 'reset', '--quiet', '--hard', 'HEAD~1');
        },
        ...{
          files: ['good.txt'],
          note: taken(where),
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(REFS).map(([where, args]) => [
      `a commit that was never on its HEAD, put on ${where}`,
      {
        leave: (path: string) => void git(path, ...args, unseen(path, 'good.txt')),
        ...{
          files: ['good.txt'],
          note: taken(where),
        },
      },
    ]),
  ),
  'a commit that its own clone has pushed': {
    leave: (path) => {
      const own = join(temporaryDirectory(), 'clone');
      git(path, 'clone', '--quiet', '.', own);
      git(own, 'switch', '--quiet', '--create', 'ramet/made');
      commit(own, 'good.txt');
      git(own, 'push', '--quiet', 'origin', 'ramet/made');
    },
    ...{ files: ['good.txt'], note: taken('ramet/made') },
  },
  'a commit in a worktree that it made': {
    leave: (path) => {
      const own = join(temporaryDirectory(), 'own');
      git(path, 'worktree', 'add', '--quiet', '-b', 'ramet/made', own);
      commit(own, 'good.txt');
    },
    ...{ files: ['good.txt'], note: taken('ramet/made') },
  },
  'a commit on no branch that it gave a tag, and left': {
    leave: (path) => {
      git(path, 'switch', '--quiet', '--detach');
      commit(path, 'good.txt');
      git(path, 'tag', 'unnamed');
      git(path, 'switch', '--quiet', '-');
    },
    ...{ files: ['good.txt'], note: 'its work is on no branch, not ramet/a-1, and was taken from there' },
  },
  'a commit that it amended and rebased, with what it was before on branches': {
    leave: (path) => {
      commit(path, 'first.txt');
      git(path, 'branch', 'ramet/before');
      writeFiles(path, { 'first.txt': 'other\n' });
      git(path, 'commit', '--quiet', '--all', '--amend', '--message=amended');
      git(path, 'branch', 'ramet/made');
      commit(path, 'good.txt');
      git(path, 'tag', 'before-rebase');
      git(path, 'rebase', '--quiet', '--force-rebase', 'HEAD~2');
    },
    ...{ files: ['first.txt', 'good.txt'], note: null },
  },
  'a file, while a person and another agent work': {
    leave: (path) => {
      writeFiles(path, { 'good.txt': 'good\n' });
      const root =
        git(path, 'worktree', 'list', '--porcelain').split('\n')[0]?.slice('worktree '.length) ?? '';
      const person = join(temporaryDirectory(), 'person');
      git(root, 'branch', 'made', 'main');
      git(root, 'worktree', 'add', '--quiet', person, 'made');
      utimesSync(join(git(person, 'rev-parse', '--absolute-git-dir'), 'commondir'), 0, 0);
      commit(person, 'theirs.txt');
      git(person, 'tag', 'theirs');
      git(person, 'switch', '--quiet', '--detach', 'main');
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

  test.each(Object.entries(REFS))(
    'what was put on %s beside other work is no part of it',
    async (_, args) => {
      const tried = await working();
      const made = unseen(tried.path, 'other.txt');
      git(tried.path, ...args, made);
      commit(tried.path, 'good.txt');
      const { found } = await tried.end();
      expect(found).toMatchObject({
        ...{ cause: 'diverged_work', message: expect.stringContaining(made.slice(0, 12)) },
      });
    },
  );

  test('a ref of nobody knows whom is named, and the task is done as its files say', async () => {
    const tried = await working();
    const made = unseen(tried.path, 'other.txt');
    git(tried.path, 'tag', 'whose', made);
    const { found, notes } = await tried.end();
    expect(found).toBe(null);
    expect(notes).toEqual([
      `while it ran, tags/whose appeared with commit ${made.slice(0, 12)}, which is in no task's work; who made it is not known: see git show tags/whose`,
    ]);
  });

  test('what it changed again after a reset is its work, and the earlier commit is named', async () => {
    const tried = await working();
    const early = commit(tried.path, 'good.txt');
    git(tried.path, 'branch', 'ramet/made');
    git(tried.path, 'reset', '--quiet', '--hard', 'HEAD~1');
    writeFiles(tried.path, { 'good.txt': 'better\n' });
    const { found, notes } = await tried.end();
    expect(found).toMatchObject({ files: ['good.txt'] });
    expect(notes).toEqual([
      `it left commit ${early} on ramet/made, and has changed the same files since: not taken`,
    ]);
  });

  test('what was put right is told again by a process that resumes after a kill', async () => {
    const tried = await working();
    writeFiles(tried.path, { 'good.txt': 'good\n' });
    git(tried.path, 'switch', '--quiet', '--detach');
    const first = await tried.end();
    expect(first.notes).toEqual(['its worktree was on no branch: ramet/a-1 has its work now']);
    expect(await tried.collectAgain()).toEqual(first);
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
    'commits on its branch, and others on one that it has left': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--create', 'ramet/foo');
        commit(path, 'good.txt');
        git(path, 'switch', '--quiet', '-');
        commit(path, 'first.txt');
      },
      cause: 'diverged_work',
      message: /[0-9a-f]{12} on ramet\/a-1.*[0-9a-f]{12} on ramet\/foo; both are kept/,
    },
    'files on its branch, and commits on no branch that it has left': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--detach');
        commit(path, 'good.txt');
        git(path, 'switch', '--quiet', '-');
        writeFiles(path, { 'dirty.txt': 'd\n' });
      },
      cause: 'diverged_work',
      message: /[0-9a-f]{12} on ramet\/a-1.*[0-9a-f]{12} on no branch; both are kept/,
    },
    'files on its branch, and commits on one that has another name now': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--create', 'ramet/foo');
        commit(path, 'good.txt');
        git(path, 'switch', '--quiet', '-');
        git(path, 'branch', '--move', 'ramet/foo', 'ramet/bar');
        writeFiles(path, { 'dirty.txt': 'd\n' });
      },
      cause: 'diverged_work',
      message: /[0-9a-f]{12} on ramet\/a-1.*[0-9a-f]{12} on ramet\/bar; both are kept/,
    },
    'commits on a new branch among those of the user that it has left': {
      leave: (path) => {
        git(path, 'switch', '--quiet', '--create', 'mine');
        commit(path, 'good.txt');
        git(path, 'switch', '--quiet', '-');
      },
      ...{
        cause: 'other_commits',
        message: /\(mine\); look at it with git log .* ramet merge mine --into main$/,
      },
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

type Spoil = (place: { path: string; admin: string; common: string; ref: string; content: string }) => void;

/** In the place of the object that git will make of its file. */
const inObject =
  (put: (object: string) => void): Spoil =>
  ({ path, common, content }) => {
    const id = runSync('git', ['hash-object', '--stdin'], { cwd: path, input: content }).toString();
    const folder = join(common, 'objects', id.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    put(join(folder, id.slice(2).trim()));
  };
const leads = (common: string, ref: string): void => {
  rmSync(join(common, ref), { force: true });
  writeFileSync(join(common, ref), 'ref: refs/heads/feature\n');
};

const SPOILED: Record<string, Spoil> = {
  ...Object.fromEntries(
    Object.entries(SPOILED_REGISTRATIONS).map(([what, spoil]): [string, Spoil] => [
      what,
      ({ path, admin }) => spoil({ path, admin, root: '', other: '', branch: null }),
    ]),
  ),
  'a branch that leads to one of the user': ({ common, ref }) => leads(common, ref),
  'a branch that led there when it committed': ({ path, common, ref }) => {
    leads(common, ref);
    git(path, 'add', '--all');
    git(path, 'commit', '--quiet', '--message=through');
  },
  'a branch that led there after it had committed': ({ path, common, ref }) => {
    commit(path, 'first.txt');
    leads(common, ref);
  },
  'a branch that names no commit': ({ common, ref }) => writeFileSync(join(common, ref), 'junk\n'),
  'a FIFO as an object': inObject((object) => runSync('mkfifo', [object])),
  'a folder as an object': inObject((object) => mkdirSync(object)),
  'a link as an object': inObject((object) => symlinkSync('/dev/null', object)),
  'a huge list of other objects': ({ common }) => {
    writeFileSync(join(common, 'objects/info/alternates'), '');
    truncateSync(join(common, 'objects/info/alternates'), 2 ** 35);
  },
  'a huge branch of its own': ({ common }) => {
    writeFileSync(join(common, 'refs/heads/ramet/zz'), '');
    truncateSync(join(common, 'refs/heads/ramet/zz'), 2 ** 35);
  },
};

test('OP-9: whatever git cannot read or would follow is put right, and the work is taken without commits of the user', async () => {
  const { worktrees, workspaces, root, base, order } = attemptRepository();
  const { commonDirectory: common, root: cwd } = worktrees.repository;
  const pattern = worktreePattern(worktrees, naming());
  for (const [at, [what, spoil]] of Object.entries(SPOILED).entries()) {
    const workspace = await workspaces.create({ name: `t${at}`, owner: OWNER, cwd, base });
    const { path, branch } = workspace.worktree;
    const admin = git(path, 'rev-parse', '--absolute-git-dir');
    const content = `${what}\n`;
    writeFiles(path, { 'good.txt': content });
    spoil({ path, admin, common, ref: `refs/heads/${branch}`, content });
    const ended = endedIn(ENDED, { ...workspace.worktree, ...(await workspace.release()) });
    const found = await pattern.collect(order('a'), ended, async () => ended);
    if (found === null || !('commit' in found)) throw new Error(`${what}: ${JSON.stringify(found)}`);
    expect(found.files, what).toContain('good.txt');
    expect(git(root, 'show', `${found.commit}:good.txt`), what).toBe(what);
    expect(git(root, 'diff', '--name-only', base, found.commit), what).not.toContain('secret.txt');
    expect(git(root, 'log', '--format=%s', `${base}..${found.commit}`), what).not.toContain('not merged');
    expect(git(root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/feature');
    expect(pattern.notes?.(order('a'), ended).join('\n'), what).toMatch(/put right|was put on/);
    const left = [worktrees.project, admin].flatMap((folder) =>
      existsSync(folder) ? readdirSync(folder) : [],
    );
    expect(left.filter((name) => name.startsWith('ramet-index-'))).toEqual([]);
  }
  expect(git(root, 'fsck', '--no-dangling', '--no-progress')).toBe('');
}, 120_000);

test('OP-9: a worktree that cannot be given back is in use by nobody when its agent has ended', async () => {
  const tried = await working();
  // Nothing can be moved there.
  writeFileSync(join(tried.worktrees.home, 'kept'), '');
  rmSync(join(tried.path, '.git'));
  git(tried.path, 'init', '--quiet', '.');
  await expect(tried.end()).rejects.toMatchObject({ code: 'worktree_git' });
});
