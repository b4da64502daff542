import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../test/fixtures/temporary.ts';
import { readingEnvironment } from '../../git/folder-guard.ts';
import { type GitOutcome, runGit } from '../../git/run-git.ts';
import { createWorktree } from '../../git/worktrees/create-worktree.ts';
import { openWorktreePlace } from '../../git/worktrees/worktree-place.ts';
import { changeTrust, trustOf } from './trust.ts';

/** A repository that its user trusts, with programs of its own in `.git/config`. */
interface Trusted {
  readonly root: string;
  readonly home: string;
  /** Is there once the text of an agent has run. */
  readonly mark: string;
  readonly evil: string;
  readonly env: Record<string, string>;
  git(...args: string[]): string;
  own(args: readonly string[], cwd?: string): Promise<GitOutcome>;
  trust(): void;
}

const FILES = {
  'a.txt': 'one\n',
  '.gitattributes': '*.txt filter=odd diff=odd merge=odd\n',
  'tools/x.sh': 'cat\n',
  'tools/conv.sh': 'cat "$1"\n',
  'tools/drive.sh': 'cat "$2" > "$1"\n',
  'tools/run.js': 'process.stdin.pipe(process.stdout);\n',
  'shared.config': '[color]\n\tui = auto\n',
};

function trusted(config: string, files: Record<string, string> = {}): Trusted {
  const root = temporaryRepository({ ...FILES, ...files });
  const base = temporaryDirectory();
  const [home, mark] = [join(base, 'ramet'), join(base, 'ran')];
  const env = { PATH: process.env.PATH ?? '', HOME: base, RAMET_HOME: home };
  chmodSync(join(root, 'tools/x.sh'), 0o755);
  appendFileSync(join(root, '.git/config'), `${config}\n`);
  const call = { cwd: root, env };
  changeTrust('trust', call);
  return {
    ...{ root, home, mark, env, evil: `touch ${mark}; cat "$1"\n` },
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
        ...{ cwd: root, encoding: 'utf8' },
      }),
    own: (args, cwd = root) => runGit(args, { cwd, env }),
    trust: () => void changeTrust('trust', call),
  };
}

const ADD = ['add', 'a.txt'];

/** What the configuration says, the file that an agent writes, and the git of Ramet's that would run it. */
const PROGRAMS: readonly (readonly [config: string, file: string, args: readonly string[]])[] = [
  ['[filter "odd"]\n\tclean = sh tools/x.sh', 'tools/x.sh', ADD],
  ['[filter "odd"]\n\tclean = ./tools/x.sh %f', 'tools/x.sh', ADD],
  ['[filter "odd"]\n\tclean = node tools/run', 'tools/run.js', ADD],
  ['[filter "odd"]\n\tclean = python3 -m stripout', 'stripout.py', ADD],
  ['[filter "odd"]\n\tclean = "sh -c \'. tools/x.sh\'"', 'tools/x.sh', ADD],
  [
    '[filter "odd"]\n\tsmudge = sh tools/x.sh\n\tclean = cat',
    'tools/x.sh',
    ['cat-file', '--filters', 'HEAD:a.txt'],
  ],
  ['[diff "odd"]\n\ttextconv = sh tools/conv.sh', 'tools/conv.sh', ['log', '-p', '-1']],
  ['[diff]\n\texternal = sh tools/conv.sh', 'tools/conv.sh', ['diff']],
  ['[diff "odd"]\n\tcommand = sh tools/conv.sh', 'tools/conv.sh', ['diff']],
  ['[include]\n\tpath = ../shared.config', 'shared.config', ADD],
];

describe('SEC-1: the git of Ramet runs programs of a trusted repository with the files that were trusted', () => {
  test.for(PROGRAMS)('%s', async ([config, file, args]) => {
    const { root, mark, evil, own } = trusted(config);
    writeFileSync(join(root, 'a.txt'), 'two\n');
    expect((await own(args)).code).toBe(0);
    const text = file.endsWith('.config')
      ? `[filter "odd"]\n\tclean = "touch ${mark}; cat"\n`
      : file.endsWith('.py')
        ? `open("${mark}", "w")\n`
        : file.endsWith('.js')
          ? `require("fs").writeFileSync("${mark}", "");process.stdin.pipe(process.stdout);\n`
          : evil;
    writeFiles(root, { [file]: text, 'a.txt': 'three\n' });
    await own(args).catch(() => null);
    expect(existsSync(mark)).toBe(false);
  });

  test('a filter whose file has changed is refused in one line that names the file; trusted again, it runs', async () => {
    const { root, env, own, trust } = trusted('[filter "odd"]\n\tclean = sh tools/x.sh\n\trequired = true');
    writeFiles(root, { 'tools/x.sh': 'tr a-z A-Z\n', 'a.txt': 'two\n' });
    await expect(own(ADD)).rejects.toMatchObject({
      code: 'folder_not_trusted',
      message: expect.stringMatching(
        /^files of \S+ need the filter "odd", which does not run: tools\/x\.sh is not what you trusted \(ramet trust --show shows the difference\)$/,
      ),
    });
    const { parts } = trustOf({ cwd: root, env });
    expect(parts).toMatchObject([
      { kind: 'git', source: '.git/config', state: 'changed', files: ['tools/x.sh'], unfollowed: [] },
    ]);
    trust();
    expect((await own(ADD)).code).toBe(0);
    expect((await own(['show', ':a.txt'])).stdout).toBe('TWO\n');
  });

  test.for(['sh tools/x.sh', 'python3 -m stripout'])('%s: nor the file of a worktree', async (clean) => {
    const { root, mark, evil, own, git } = trusted(`[filter "odd"]\n\tclean = ${clean}`);
    const tree = join(temporaryDirectory(), 'tree');
    git('worktree', 'add', '-q', '-b', 'work', tree);
    writeFileSync(join(tree, 'a.txt'), 'two\n');
    if (clean.startsWith('sh')) expect((await own(ADD, tree)).code).toBe(0);
    writeFiles(tree, { 'tools/x.sh': evil, 'stripout.py': `open("${mark}", "w")\n`, 'a.txt': 'three\n' });
    await expect(own(ADD, tree)).rejects.toMatchObject({ code: 'folder_not_trusted' });
    expect(existsSync(mark)).toBe(false);
    expect(readFileSync(join(root, 'tools/x.sh'), 'utf8')).toBe('cat\n');
  });

  test.for([
    ['sh tools/x.sh', 'tools/x.sh'],
    ['node tools/run', 'tools/run'],
    ['python3 -m stripout', 'stripout.py'],
    ['python3 -c "import json"', 'json.py'],
  ] as const)('%s: nor the %s of a commit that it is about to write', async ([smudge, file]) => {
    const { root, home, env, mark, git } = trusted(`[filter "odd"]\n\tsmudge = ${smudge}\n\tclean = cat`);
    git('checkout', '-q', '-b', 'agents');
    writeFiles(root, { [file]: `touch ${mark}; cat\n`, 'a.txt': 'two\n' });
    git('add', '.');
    git('commit', '-qm', 'of an agent');
    const tip = git('rev-parse', 'HEAD').trim();
    git('checkout', '-q', 'main');
    rmSync(mark, { force: true });
    using place = openWorktreePlace({ home, directory: root, env });
    const make = (name: string, base: string): Promise<unknown> =>
      createWorktree(place, { name, base, owner: null });
    await expect(make('agents', tip)).rejects.toMatchObject({ code: 'folder_not_trusted' });
    expect(existsSync(mark)).toBe(false);
    if (smudge.startsWith('python3')) return;
    await make('own', git('rev-parse', 'main').trim());
  });

  test('what names no file of the repository runs as before, also under a trust that was given earlier', async () => {
    const { root, own, home, env } = trusted('[filter "odd"]\n\tclean = tr a-z A-Z');
    expect(trustOf({ cwd: root, env }).parts).toEqual([]);
    for (const name of readdirSync(join(home, 'trusted')))
      if (name.endsWith('.json') && !name.includes('texts')) {
        const path = join(home, 'trusted', name);
        const { parts: _, ...entry } = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify(entry));
      }
    writeFileSync(join(root, 'a.txt'), 'two\n');
    expect((await own(ADD)).code).toBe(0);
    expect((await own(['show', ':a.txt'])).stdout).toBe('TWO\n');
  });

  test('one program that is refused leaves the others alone', async () => {
    const { root, own, evil } = trusted(
      '[filter "odd"]\n\tclean = tr a-z A-Z\n[diff "odd"]\n\ttextconv = sh tools/conv.sh',
    );
    writeFiles(root, { 'tools/conv.sh': evil, 'a.txt': 'two\n' });
    expect((await own(ADD)).code).toBe(0);
    expect((await own(['show', ':a.txt'])).stdout).toBe('TWO\n');
  });

  test('a folder of hooks in the checkout, as husky sets it up, is not asked about, and runs for no command that only reads', async () => {
    const { root, env, mark } = trusted('[core]\n\thooksPath = .husky/_\n\tfsmonitor = true', {
      '.husky/_/h': '#!/bin/sh\n',
    });
    expect(trustOf({ cwd: root, env }).parts).toEqual([]);
    writeFiles(root, {
      '.husky/_/post-index-change': `#!/bin/sh\ntouch ${mark}\n`,
      'a.txt': 'two\n',
    });
    chmodSync(join(root, '.husky/_/post-index-change'), 0o755);
    const { GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, ...more } = await readingEnvironment(root, env);
    expect([GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0]).toEqual(['1', 'core.hooksPath']);
    const reading = { ...env, ...more, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.hooksPath' };
    execFileSync('git', ['status'], { cwd: root, env: reading });
    expect(existsSync(mark)).toBe(false);
  });

  test('nor does a command that nobody was asked about', async () => {
    const { root, env, mark, evil } = trusted(
      '[core]\n\tfsmonitor = sh tools/conv.sh\n[diff "odd"]\n\ttextconv = sh tools/x.sh',
    );
    expect(await readingEnvironment(root, env)).not.toHaveProperty('GIT_CONFIG_COUNT');
    writeFiles(root, {
      ...{ 'tools/conv.sh': evil, 'tools/x.sh': evil, 'a.txt': 'two\n' },
    });
    const reading = { ...env, ...(await readingEnvironment(root, env)) };
    for (const args of [['status'], ['diff'], ['log', '-p']])
      execFileSync('git', args, { cwd: root, env: reading });
    expect(existsSync(mark)).toBe(false);
  });
});

/** Usual programs, which name no file of a repository. */
const USUAL = [
  'git-lfs clean -- %f',
  'git-lfs filter-process',
  'git-crypt clean',
  '\\"git-crypt\\" smudge',
  'nbstripout',
  '\\"/usr/bin/python3\\" -m nbstripout',
  "sed -e 's/a/b/' %f",
  'pandoc --to=plain',
  'jq --indent 2 .',
  'gpg --decrypt --quiet',
  'ansible-vault view',
  '/usr/local/bin/clean-it %f',
  '~/bin/clean-it %f',
  '$HOME/bin/clean-it %f',
  'ssh -i ~/.ssh/key',
  "perl -pe 's/x/y/'",
  'expand --tabs=4 --initial',
];

describe('SEC-1: usual programs of a configuration', () => {
  test.for(USUAL)('%s keeps running while agents edit files', async (program) => {
    const { root, env } = trusted(`[filter "odd"]\n\tclean = "${program}"`);
    writeFiles(root, { 'src/new.js': '1\n', 'a.txt': 'two\n', 'tools/x.sh': 'exit 1\n' });
    expect(await readingEnvironment(root, env)).not.toHaveProperty('GIT_CONFIG_COUNT');
  });
});
