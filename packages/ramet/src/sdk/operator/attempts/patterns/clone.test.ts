import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type AttemptRepository,
  attemptRepository,
  ENDED,
  naming,
  SESSION,
} from '../../../../../test/fixtures/attempts.ts';
import { dyingGit } from '../../../../../test/fixtures/dying-git.ts';
import { LED_ENTRIES } from '../../../../../test/fixtures/led-checkouts.ts';
import {
  temporaryDirectory,
  temporaryRepository,
  writeFiles,
} from '../../../../../test/fixtures/temporary.ts';
import { checkoutBytes, git } from '../../../../../test/fixtures/worktrees.ts';
import type { AttemptOrder } from '../../../../operator/run/ports.ts';
import { type AttemptPattern, type AttemptWork, workRef } from './attempt-pattern.ts';
import { clonePattern } from './clone.ts';

interface Tried extends AttemptRepository {
  clone: AttemptPattern;
}

function cloning(): Tried {
  const repository = attemptRepository();
  return {
    ...repository,
    clone: clonePattern({
      worktrees: repository.worktrees,
      session: SESSION,
      witness: naming('ramet/pushed'),
    }),
  };
}

async function begin({ clone }: Tried, order: AttemptOrder): Promise<string> {
  const { workspace } = await clone.prepare(order, () => {});
  return workspace?.worktree.path ?? '';
}

const end = ({ clone }: Tried, order: AttemptOrder): ReturnType<AttemptPattern['collect']> =>
  clone.collect(order, ENDED, async () => ENDED);

const worked = (found: Awaited<ReturnType<AttemptPattern['collect']>>): AttemptWork => {
  if (found === null || !('commit' in found)) throw new Error(`no work: ${JSON.stringify(found)}`);
  return found;
};

const commitIn = (path: string, file: string): void => {
  writeFiles(path, { [file]: `${file}\n` });
  git(path, 'add', file);
  git(path, 'commit', '--quiet', `--message=${file}`);
};

describe('OP-9: a task in a clone', { timeout: 240_000 }, () => {
  test('its commits and what it left uncommitted come in, and the clone goes', async () => {
    const tried = cloning();
    const { root, base } = tried;
    const before = checkoutBytes(root);
    const order = tried.order('a');
    const path = await begin(tried, order);
    commitIn(path, 'one.txt');
    git(path, 'switch', '--quiet', '--create', 'its-own');
    commitIn(path, 'two.txt');
    git(path, 'gc', '--quiet');
    writeFiles(path, { 'three.txt': '3\n' });
    const { commit, files } = worked(await end(tried, order));
    expect(files).toEqual(['one.txt', 'three.txt', 'two.txt']);
    expect(git(root, 'log', '--reverse', '--format=%s', `${base}..${commit}`)).toBe('one.txt\ntwo.txt\ndo a');
    expect(tried.clone.notes?.(order, ENDED)).toEqual([]);
    expect([existsSync(path), checkoutBytes(root)]).toEqual([false, before]);
    git(root, 'fsck', '--strict', '--no-dangling');
  });

  const LED: Record<string, (path: string, tried: Tried) => void> = {
    'HEAD names a branch of the user': (path, { root }) => {
      const tip = git(root, 'rev-parse', 'feature');
      writeFileSync(join(path, '.git/refs/heads/feature'), `${tip}\n`);
      writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/feature\n');
    },
    'HEAD is a commit of the user': (path, { root }) =>
      writeFileSync(join(path, '.git/HEAD'), `${git(root, 'rev-parse', 'feature')}\n`),
    'HEAD has nothing to do with its base': (path) => {
      const lone = git(path, 'commit-tree', '-m', 'lone', git(path, 'write-tree'));
      writeFileSync(join(path, '.git/HEAD'), `${lone}\n`);
    },
    'HEAD names nothing': (path) => writeFileSync(join(path, '.git/HEAD'), 'ref: refs/../../x\n'),
    'refs are a link to those of the user': (path, { root }) => {
      renameSync(join(path, '.git/refs'), join(path, '.git/refs.away'));
      symlinkSync(join(root, '.git/refs'), join(path, '.git/refs'));
      writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/feature\n');
    },
    'objects are a link': (path, { root }) => {
      commitIn(path, 'own.txt');
      renameSync(join(path, '.git/objects'), join(path, '.git/objects.away'));
      symlinkSync(join(root, '.git/objects'), join(path, '.git/objects'));
    },
    'the alternates are those of another repository': (path) => {
      const other = temporaryRepository({ 'private.txt': 'p\n' });
      writeFileSync(join(path, '.git/objects/info/alternates'), `${other}/.git/objects\n`);
      writeFileSync(join(path, '.git/HEAD'), `${git(other, 'rev-parse', 'HEAD')}\n`);
    },
  };
  const entries = Object.entries(LED_ENTRIES).map(
    ([what, lead]): [string, (path: string, tried: Tried) => void] => [
      `.git is ${what}`,
      (path, { root }) =>
        lead({ path, root, admin: join(path, '.git'), other: join(root, '.git'), branch: null }),
    ],
  );

  test.each([
    ['a branch', ['branch', 'ramet/save'], 'ramet/save'],
    ['a tag', ['tag', 'save'], 'tags/save'],
    ['a ref of its own', ['update-ref', 'refs/remotes/mine/save', 'HEAD'], 'remotes/mine/save'],
  ])('a commit that only %s has after a reset is taken, and named', async (_, args, where) => {
    const tried = cloning();
    const { root, base } = tried;
    git(root, 'branch', 'passing', git(root, 'commit-tree', '-p', base, '-m', 'passing', `${base}^{tree}`));
    const order = tried.order('a');
    const path = await begin(tried, order);
    commitIn(path, 'saved.txt');
    git(path, ...args);
    git(path, 'reset', '--quiet', '--hard', 'HEAD~1');
    git(root, 'branch', '--quiet', '-D', 'passing');
    expect(worked(await end(tried, order)).files).toEqual(['saved.txt']);
    expect(tried.clone.notes?.(order, ENDED)).toEqual([
      `its commits on ${where} are taken, where its clone was not`,
    ]);
  });

  test.each(['clone', 'remote', 'checkout'])('is made again if git %s is killed', async (command) => {
    const tried = cloning();
    const { worktrees } = tried;
    const env = { ...worktrees.env, ...dyingGit(temporaryDirectory(), command) };
    const clone = clonePattern({ worktrees: { ...worktrees, env }, session: SESSION, witness: naming() });
    const order = tried.order('a');
    const path = await begin({ ...tried, clone }, order);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(tried.base);
    expect(git(path, 'status', '--porcelain')).toBe('');
  });

  test('a commit that it pushed to the repository, and then left, is taken, and what it was before an amend is not', async () => {
    const tried = cloning();
    const order = tried.order('a');
    const path = await begin(tried, order);
    commitIn(path, 'pushed.txt');
    git(path, 'branch', 'ramet/before');
    git(path, 'commit', '--quiet', '--amend', '--message=pushed');
    git(path, 'push', '--quiet', tried.root, 'HEAD:refs/heads/ramet/pushed');
    git(path, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(worked(await end(tried, order)).files).toEqual(['pushed.txt']);
    expect(tried.clone.notes?.(order, ENDED)).toEqual([
      'its commits on ramet/pushed are taken, where its clone was not',
    ]);
  });

  test('commits that it left on another branch or on none are taken; where no line has all, the clone stays', async () => {
    const tried = cloning();
    const { root } = tried;
    for (const [name, args] of [
      ['a', ['-c', 'ramet/foo']],
      ['b', ['--detach']],
    ] as const) {
      const order = tried.order(name);
      const path = await begin(tried, order);
      git(path, 'switch', '--quiet', ...args);
      commitIn(path, `${name}.txt`);
      git(path, 'switch', '--quiet', '-');
      const { commit } = worked(await end(tried, order));
      expect(git(root, 'show', `${commit}:${name}.txt`)).toBe(`${name}.txt`);
      expect(existsSync(path)).toBe(false);
    }
    for (const [name, ...last] of [
      ['picked', 'cherry-pick', 'ramet/foo'],
      ['deleted', 'branch', '--quiet', '-D', 'ramet/foo'],
    ] as const) {
      const order = tried.order(name);
      const path = await begin(tried, order);
      git(path, 'switch', '--quiet', '-c', 'ramet/foo');
      commitIn(path, 'left.txt');
      git(path, 'switch', '--quiet', '-');
      commitIn(path, 'own.txt');
      git(path, ...last);
      expect(worked(await end(tried, order)).files.includes('left.txt')).toBe(name === 'picked');
    }
    const order = tried.order('c');
    const path = await begin(tried, order);
    git(path, 'switch', '--quiet', '-c', 'ramet/foo');
    commitIn(path, 'c.txt');
    git(path, 'switch', '--quiet', '-');
    commitIn(path, 'd.txt');
    expect(await end(tried, order)).toMatchObject({
      ...{ cause: 'diverged_work', message: expect.stringMatching(/on ramet\/foo; both are in .* kept/) },
    });
    expect(existsSync(join(path, '.git'))).toBe(true);
  });

  test('whatever it made of its .git: its files are one commit on its base, nothing of the user lands, and it is told', async () => {
    const tried = cloning();
    const { root, base } = tried;
    const before = checkoutBytes(root);
    for (const [at, [what, lead]] of [...Object.entries(LED), ...entries].entries()) {
      const order = tried.order(`t${at}`);
      const path = await begin(tried, order);
      writeFiles(path, { 'work.txt': `${what}\n` });
      lead(path, tried);
      const { commit, files } = worked(await end(tried, order));
      expect(
        files.filter((file) => file !== 'own.txt'),
        what,
      ).toEqual(['work.txt']);
      expect(git(root, 'rev-parse', `${commit}^@`), what).toBe(base);
      expect(tried.clone.notes?.(order, ENDED).join(), what).toMatch(
        /its (?:clone|checkout).*: its files are taken as one commit$/,
      );
      expect([existsSync(path), checkoutBytes(root)], what).toEqual([false, before]);
    }
  });

  test('a removal that breaks off leaves nothing that the next process takes for work', async () => {
    const tried = cloning();
    const { root, worktrees } = tried;
    const order = tried.order('a');
    const path = await begin(tried, order);
    commitIn(path, 'one.txt');
    writeFiles(path, { 'two.txt': '2\n' });
    const killed = clonePattern({
      ...{ worktrees, session: SESSION, witness: naming() },
      deletion: (folder) => {
        if (!existsSync(folder)) return;
        for (const name of ['.git', 'README.md']) rmSync(join(folder, name), { recursive: true });
        throw new Error('killed');
      },
    });
    await expect(end({ ...tried, clone: killed }, order)).rejects.toThrow('killed');
    const { commit, files } = worked(await end(tried, { ...order, isResumed: true }));
    expect(files).toEqual(['one.txt', 'two.txt']);
    expect(git(root, 'ls-tree', '--name-only', commit)).toContain('README.md');
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  test('the commit of a process that was killed before it could say so is taken, and no second one is made', async () => {
    const tried = cloning();
    const { root, base } = tried;
    const order = tried.order('a');
    const path = await begin(tried, order);
    writeFiles(path, { 'one.txt': '1\n' });
    git(path, 'add', '-A');
    const tree = git(path, 'write-tree').trim();
    git(path, 'commit', '--quiet', '--message=x');
    git(root, 'fetch', '--quiet', path, 'HEAD');
    git(path, 'reset', '--quiet', '--mixed', base);
    const earlier = git(root, 'commit-tree', tree, '-p', base, '-m', 'do a').trim();
    git(root, 'update-ref', workRef(order.run, order.attempt.name), earlier);
    expect(worked(await end(tried, order)).commit).toBe(earlier);
    expect(existsSync(path)).toBe(false);
  });

  test('files that are missing beside a .git that is gone are no deletions: the try fails, and the clone stays', async () => {
    const tried = cloning();
    const order = tried.order('a');
    const path = await begin(tried, order);
    writeFiles(path, { 'work.txt': 'w\n' });
    for (const name of ['.git', 'README.md']) rmSync(join(path, name), { recursive: true });
    const found = await end(tried, order);
    expect(found).toMatchObject({
      cause: 'damaged_clone',
      message: expect.stringMatching(
        /^\.git of its clone was gone, and README\.md that it began with is missing/,
      ),
    });
    expect(await tried.clone.abandon?.(order, ENDED)).toEqual({ branch: null });
    expect(readFileSync(join(path, 'work.txt'), 'utf8')).toBe('w\n');
  });

  test('nothing that its configuration names runs', async () => {
    const tried = cloning();
    const order = tried.order('a');
    const path = await begin(tried, order);
    commitIn(path, 'one.txt');
    const mark = join(tried.worktrees.home, 'mark');
    const evil = `touch ${mark}; cat`;
    appendFileSync(
      join(path, '.git/config'),
      [
        `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${path}/hooks\n\tsshCommand = ${evil}\n\tworktree = ${tried.root}`,
        `\talternateRefsCommand = ${evil}\n[filter "x"]\n\tclean = ${evil}\n[uploadpack]\n\tpackObjectsHook = ${evil}`,
        `[remote "p"]\n\turl = file:///nowhere\n\tpromisor = true\n\tuploadpack = ${evil}\n[include]\n\tpath = more\n`,
      ].join('\n'),
    );
    writeFiles(path, {
      '.gitattributes': '* filter=x\n',
      'two.txt': '2\n',
      '.git/info/attributes': '* filter=x\n',
    });
    expect(worked(await end(tried, order)).files).toEqual(['.gitattributes', 'one.txt', 'two.txt']);
    expect(existsSync(mark)).toBe(false);
  });

  test.each([
    ['left there', false],
    ['committed', true],
  ])('a repository that it makes inside, %s, is refused, and kept', async (_, isCommitted) => {
    const tried = cloning();
    const order = tried.order('a');
    const path = await begin(tried, order);
    writeFiles(path, { 'a.txt': 'a\n', 'inner/f.txt': 'f\n' });
    git(join(path, 'inner'), 'init', '--quiet', '.');
    commitIn(join(path, 'inner'), 'g.txt');
    if (isCommitted) git(path, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all');
    if (isCommitted) git(path, 'commit', '--quiet', '--message=all');
    expect(await end(tried, order)).toMatchObject({
      cause: 'nested_repository',
      message: expect.stringMatching(/^inner is a repository of its own.* Moved to /),
    });
    const kept = join(tried.worktrees.home, 'kept');
    const [name = ''] = readdirSync(kept);
    expect(readFileSync(join(kept, name, 'inner/f.txt'), 'utf8')).toBe('f\n');
    expect(await tried.clone.abandon?.(order, ENDED)).toEqual({ branch: 'refs/ramet/attempts/abcdefgh/a-1' });
  });
});
