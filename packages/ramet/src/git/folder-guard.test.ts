import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { makeRepository, temporaryDirectory, temporaryRepository } from '../../test/fixtures/temporary.ts';
import { trust } from '../system/trust.ts';
import { checkProgramsBy, folderGuard } from './folder-guard.ts';
import { gitText, runGit } from './run-git.ts';
import { type CreatedWorktree, createWorktree } from './worktrees/create-worktree.ts';
import { openWorktreePlace } from './worktrees/worktree-place.ts';

// The files of programs are checked in a later room, and tested there.
beforeAll(() => {
  const before = checkProgramsBy(async () => new Map());
  return () => void checkProgramsBy(before);
});

interface Folder {
  root: string;
  home: string;
  mark: string;
  env: Record<string, string>;
  git(...args: string[]): string;
  /** Appends to the folder's own configuration. */
  configure(text: string): void;
}

function hostileFolder(files: Record<string, string> = {}): Folder {
  const root = temporaryRepository({
    'a.txt': 'one\n',
    '.gitattributes': '*.txt filter=odd diff=odd merge=odd\n',
    ...files,
  });
  const base = temporaryDirectory();
  const [home, mark] = [join(base, 'ramet'), join(base, 'ran')];
  const env = { PATH: process.env.PATH ?? '', HOME: base, RAMET_HOME: home, GIT_PAGER_IN_USE: '' };
  const git = (...args: string[]): string =>
    runSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: root,
    });
  const configure = (text: string): void =>
    appendFileSync(join(root, '.git/config'), `${text.replaceAll('EVIL', `touch ${mark}`)}\n`);
  return { root, home, mark, env, git, configure };
}

/** A touched file makes git compare contents, through the filter. */
function touch({ root }: Folder, seconds = 0): void {
  utimesSync(join(root, 'a.txt'), seconds, seconds);
}

/** As an agent's shell would run it. */
async function asAgent({ root, env }: Folder, words: readonly string[], cwd = root): Promise<number | null> {
  const guard = await folderGuard(cwd, { env, lenient: true });
  return spawnSync('git', words, {
    cwd,
    env: { ...env, ...guard.environment },
    input: 'protocol=https\nhost=example.invalid\n',
  }).status;
}

type Attack = [name: string, attack: (folder: Folder) => void, words: readonly string[]];

const ATTACKS: readonly Attack[] = [
  ['a file system monitor', ({ configure }) => configure('[core]\n\tfsmonitor = "EVIL; false"'), ['status']],
  [
    'one written on the line of its section',
    ({ configure }) => configure('[core] fsmonitor = "EVIL; false"'),
    ['status'],
  ],
  [
    'a hook in its git directory',
    (folder) => {
      touch(folder);
      const hook = join(folder.root, '.git/hooks/post-index-change');
      writeFileSync(hook, `#!/bin/sh\ntouch ${folder.mark}\n`);
      chmodSync(hook, 0o755);
    },
    ['status'],
  ],
  [
    'a hook in a directory of its own',
    (folder) => {
      touch(folder);
      mkdirSync(join(folder.root, 'tools'));
      const hook = join(folder.root, 'tools/post-index-change');
      writeFileSync(hook, `#!/bin/sh\ntouch ${folder.mark}\n`);
      chmodSync(hook, 0o755);
      folder.configure('[core]\n\thooksPath = tools');
    },
    ['status'],
  ],
  ['an external diff', (folder) => changed(folder).configure('[diff]\n\texternal = "EVIL; true"'), ['diff']],
  [
    'a diff driver',
    (folder) => changed(folder).configure('[diff "odd"]\n\tcommand = "EVIL; true"'),
    ['diff'],
  ],
  [
    'a text conversion',
    (folder) => changed(folder).configure('[diff "odd"]\n\ttextconv = "EVIL; cat"'),
    ['diff'],
  ],
  [
    'a text conversion in log',
    ({ configure }) => configure('[diff "odd"]\n\ttextconv = "EVIL; cat"'),
    ['log', '-p'],
  ],
  [
    'a clean filter',
    (folder) => changed(folder).configure('[filter "odd"]\n\tclean = "EVIL; cat"'),
    ['status'],
  ],
  [
    'a clean filter in blame',
    (folder) => changed(folder).configure('[filter "odd"]\n\tclean = "EVIL; cat"'),
    ['blame', 'a.txt'],
  ],
  [
    'a long-running filter',
    (folder) => changed(folder).configure('[filter "odd"]\n\tprocess = EVIL'),
    ['status'],
  ],
  [
    'a smudge filter',
    ({ configure }) => configure('[filter "odd"]\n\tsmudge = "EVIL; cat"'),
    ['cat-file', '--filters', 'HEAD:a.txt'],
  ],
  [
    'a signature program',
    (folder) => {
      folder.configure('[log]\n\tshowSignature = true');
      const program = join(folder.root, '.git/verify');
      writeFileSync(program, `#!/bin/sh\ntouch ${folder.mark}\n`);
      chmodSync(program, 0o755);
      folder.configure(`[gpg]\n\tprogram = ${program}`);
      const commit = folder
        .git('cat-file', 'commit', 'HEAD')
        .replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n');
      const signed = runSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
        cwd: folder.root,
        input: commit,
      });
      folder.git('update-ref', 'HEAD', signed.trim());
    },
    ['log'],
  ],
  [
    'a credential helper',
    ({ configure }) => configure('[credential]\n\thelper = "!EVIL; true"'),
    ['credential', 'fill'],
  ],
  [
    'what its configuration includes',
    (folder) => {
      changed(folder).configure('[include]\n\tpath = more');
      writeFileSync(
        join(folder.root, '.git/more'),
        `[filter "odd"]\n\tclean = "touch ${folder.mark}; cat"\n`,
      );
    },
    ['status'],
  ],
  [
    'the configuration of one worktree',
    (folder) => {
      changed(folder).configure('[extensions]\n\tworktreeConfig = true');
      writeFileSync(
        join(folder.root, '.git/config.worktree'),
        `[filter "odd"]\n\tclean = "touch ${folder.mark}; cat"\n`,
      );
    },
    ['status'],
  ],
  [
    'the configuration of another git directory that it says it is part of',
    (folder) => {
      changed(folder);
      const other = join(folder.root, 'other');
      runSync('cp', ['-r', join(folder.root, '.git'), other]);
      appendFileSync(join(other, 'config'), `[filter "odd"]\n\tclean = "touch ${folder.mark}; cat"\n`);
      writeFileSync(join(folder.root, '.git/commondir'), '../other\n');
    },
    ['status'],
  ],
  [
    'the configuration of a submodule that is to be looked into',
    (folder) => {
      const inner = join(folder.root, 'inner');
      mkdirSync(inner);
      makeRepository(inner, { 'a.txt': 'one\n', '.gitattributes': '* filter=other\n' });
      folder.git('add', 'inner');
      writeFileSync(
        join(folder.root, '.gitmodules'),
        '[submodule "in"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n',
      );
      appendFileSync(join(inner, '.git/config'), `[filter "other"]\n\tclean = "touch ${folder.mark}; cat"\n`);
      writeFileSync(join(inner, 'a.txt'), 'two\n');
    },
    ['status'],
  ],
];

function changed(folder: Folder): Folder {
  writeFileSync(join(folder.root, 'a.txt'), 'two\n');
  return folder;
}

describe('SEC-1: git in a folder that is not trusted runs nothing the folder names', () => {
  test.each(ATTACKS)('not %s', async (_, attack, words) => {
    const folder = hostileFolder();
    attack(folder);
    await asAgent(folder, words);
    expect(existsSync(folder.mark)).toBe(false);
    trust(folder);
    touch(folder, 1);
    await asAgent(folder, words);
    expect(existsSync(folder.mark)).toBe(true);
  });

  test('a committed bare repository is not entered, neither from its directory nor as the place to start', async () => {
    const folder = hostileFolder();
    const bare = join(folder.root, 'vendor/evil');
    runSync('git', ['clone', '-q', '--bare', folder.root, bare]);
    appendFileSync(
      join(bare, 'config'),
      `[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ${folder.mark}; false"\n`,
    );
    expect(await asAgent(folder, ['status'], bare)).toBe(128);
    expect((await runGit(['status'], { cwd: bare, env: folder.env })).code).toBe(128);
    expect(existsSync(folder.mark)).toBe(false);
  });

  test('a bare repository of its own is used, without the programs it names', async () => {
    const folder = hostileFolder();
    const bare = join(temporaryDirectory(), 'store.git');
    runSync('git', ['clone', '-q', '--bare', folder.root, bare]);
    appendFileSync(join(bare, 'config'), `[diff "odd"]\n\ttextconv = "touch ${folder.mark}; cat"\n`);
    expect(await gitText(['rev-parse', '--is-bare-repository'], { cwd: bare, env: folder.env })).toBe('true');
    expect(await asAgent(folder, ['log', '-p'], bare)).toBe(0);
    expect(existsSync(folder.mark)).toBe(false);
  });

  test('a pager and an editor are not those of the folder', async () => {
    const folder = hostileFolder();
    folder.configure('[core]\n\tpager = evil\n\teditor = evil');
    const { environment } = await folderGuard(folder.root, { env: folder.env });
    const words = ['config', '--get-regexp', '^core[.](pager|editor)'];
    const shown = runSync('git', words, {
      cwd: folder.root,
      env: { ...folder.env, ...environment },
    });
    expect(shown.trim().split('\n').slice(-2)).toEqual(['core.pager cat', 'core.editor true']);
  });

  test("a merge driver of the folder's is a conflict, not one side in silence", async () => {
    const folder = hostileFolder();
    folder.configure('[merge "odd"]\n\tdriver = "EVIL; true"');
    folder.git('checkout', '-q', '-b', 'other');
    writeFileSync(join(folder.root, 'a.txt'), 'other\n');
    folder.git('commit', '-qam', 'other');
    folder.git('checkout', '-q', 'main');
    writeFileSync(join(folder.root, 'a.txt'), 'main\n');
    folder.git('commit', '-qam', 'main');
    const merge = ['merge-tree', '--write-tree', 'main', 'other'];
    expect(await runGit(merge, { cwd: folder.root, env: folder.env })).toMatchObject({ code: 1 });
    expect(existsSync(folder.mark)).toBe(false);
  });
});

describe('SEC-1: what is the user’s keeps working', () => {
  test('the user’s own filter, text conversion and credential helper, also where the folder defines one of that name', async () => {
    const folder = hostileFolder();
    changed(folder);
    writeFileSync(
      join(folder.env.HOME ?? '', '.gitconfig'),
      '[filter "odd"]\n\tclean = sed s/two/one/\n\tsmudge = cat\n\trequired = true\n[diff "odd"]\n\ttextconv = sed s/one/user/\n[credential]\n\thelper = "!echo username=user; echo password=his; true"\n',
    );
    folder.configure(
      '[filter "odd"]\n\tclean = "EVIL; cat"\n[diff "odd"]\n\ttextconv = "EVIL; cat"\n[credential]\n\thelper = "!EVIL; true"',
    );
    const call = { cwd: folder.root, env: folder.env };
    expect(await gitText(['status', '--porcelain', '--', 'a.txt'], call)).toBe('');
    expect(await gitText(['show', 'HEAD', '--', 'a.txt'], call)).toContain('+user');
    const filled = await gitText(['credential', 'fill'], {
      ...call,
      input: 'protocol=https\nhost=example.invalid\n',
    });
    expect(filled).toContain('password=his');
    expect(existsSync(folder.mark)).toBe(false);
  });

  test('settings that he gave by variable', async () => {
    const folder = hostileFolder();
    const env = {
      ...folder.env,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_VALUE_0: 'He',
    };
    expect(await gitText(['config', 'user.name'], { cwd: folder.root, env })).toBe('He');
  });
});

describe('SEC-1: a file that needs a filter of the folder', () => {
  test('is refused in one line that asks for trust, and written after it', async () => {
    const folder = hostileFolder();
    folder.configure('[filter "odd"]\n\tsmudge = "EVIL; sed s/one/smudged/"\n\tclean = cat');
    const call = { cwd: folder.root, env: folder.env };
    const checkOut = ['checkout-index', '--force', '--prefix=out/', 'a.txt'];
    await expect(runGit(checkOut, call)).rejects.toMatchObject({
      code: 'folder_not_trusted',
      family: 'mistake',
      message: expect.stringMatching(/^files of \S+ need the filter "odd".*run ramet trust there$/),
    });
    expect(existsSync(folder.mark)).toBe(false);
    trust(folder);
    expect((await runGit(checkOut, call)).code).toBe(0);
    expect(readFileSync(join(folder.root, 'out/a.txt'), 'utf8')).toBe('smudged\n');
  });

  test('makes no worktree before trust, and leaves nothing of it behind; after trust it does', async () => {
    const folder = hostileFolder();
    folder.configure('[filter "odd"]\n\tsmudge = "EVIL; sed s/one/smudged/"\n\tclean = sed s/smudged/one/');
    const { root, home, env } = folder;
    using place = openWorktreePlace({ home, directory: root, env });
    const create = (): Promise<CreatedWorktree> => createWorktree(place, { name: 'fix', owner: null });
    await expect(create()).rejects.toMatchObject({ code: 'folder_not_trusted' });
    expect(existsSync(folder.mark)).toBe(false);
    expect(folder.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    trust(folder);
    const { worktree } = await create();
    expect(readFileSync(join(worktree.path, 'a.txt'), 'utf8')).toBe('smudged\n');
  });

  test('trust counts for every working tree of the repository, and for no other that claims one', async () => {
    const folder = hostileFolder();
    const linked = join(temporaryDirectory(), 'linked');
    folder.git('worktree', 'add', '-q', linked);
    const environment = async (cwd: string): Promise<unknown> =>
      (await folderGuard(cwd, { env: folder.env })).environment;
    trust({ home: folder.home, root: linked });
    expect(await environment(folder.root)).toEqual({});
    expect(await environment(linked)).toEqual({});
    const thief = hostileFolder();
    mkdirSync(join(thief.root, '.git/worktrees/x'), { recursive: true });
    writeFileSync(join(thief.root, '.git/worktrees/x/gitdir'), `${linked}/.git\n`);
    thief.configure(`[core]\n\tworktree = ${folder.root}`);
    expect(await environment(thief.root)).not.toEqual({});
  });
});
