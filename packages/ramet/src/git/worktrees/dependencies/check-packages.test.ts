import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MergePlace, mergePlace } from '../../../../test/fixtures/merge-repository.ts';
import { temporaryDirectory, writeFiles } from '../../../../test/fixtures/temporary.ts';
import type { MergeReport } from '../../merge/merge-request.ts';
import { checkPackages } from './check-packages.ts';

const PROJECT = {
  'package.json': '{"devDependencies": {"runner": "1"}}',
  'package-lock.json': '{"runner": 1}',
  '.gitignore': 'node_modules\n',
};

function checked(place: MergePlace, home: string, branch: string): Promise<MergeReport> {
  const { repository } = place;
  return place.queue(
    {
      branches: [branch],
      check: { command: 'echo run >> ../runs; sh node_modules/runner/run.sh', timeoutMs: 60_000 },
    },
    { prepareCheck: checkPackages({ home, repository, settings: undefined }) },
  );
}

describe('WORK-5: the packages of a check', () => {
  test('are those of the checkout, and those of the lock file when that changes', async () => {
    const place = mergePlace(PROJECT);
    const home = temporaryDirectory();
    writeFiles(place.directory, { 'node_modules/runner/run.sh': 'exit 0\n' });
    place.branch('one', { 'a.txt': '1' });
    expect(place.states(await checked(place, home, 'one'))).toEqual(['one: landed']);
    place.branch('two', { 'b.txt': '1' });
    expect(place.states(await checked(place, home, 'two'))).toEqual(['two: landed']);
    place.branch('three', { 'package-lock.json': '{"runner": 2}' });
    const report = await checked(place, home, 'three');
    expect(place.states(report)).toEqual(['three: failed']);
    expect(report.entries[0]?.reason).toContain(
      'the worktree lacks node_modules (this commit asks for other packages than the checkout has)',
    );
    expect(readFileSync(join(place.directory, 'node_modules/runner/run.sh'), 'utf8')).toBe('exit 0\n');
  });

  test('are those of the checkout again when an agent has changed them in place', async () => {
    const place = mergePlace(PROJECT);
    const home = temporaryDirectory();
    writeFiles(place.directory, { 'node_modules/runner/run.sh': 'exit 0\n' });
    place.branch('one', { 'a.txt': '1' });
    expect(place.states(await checked(place, home, 'one'))).toEqual(['one: landed']);
    const [template = ''] = readdirSync(join(home, 'dependencies'));
    const shared = join(home, 'dependencies', template, 'tree/runner/run.sh');
    chmodSync(shared, 0o644);
    writeFileSync(shared, 'exit 1 # poison\n');
    place.branch('two', { 'b.txt': '1' });
    expect(place.states(await checked(place, home, 'two'))).toEqual(['two: landed']);
    expect(readFileSync(shared, 'utf8')).toBe('exit 0\n');
  });

  test('are brought again when they are gone, also where git does not ignore them', async () => {
    const place = mergePlace({ ...PROJECT, '.gitignore': '' });
    const home = temporaryDirectory();
    writeFiles(place.directory, { 'node_modules/runner/run.sh': 'rm -rf node_modules\n' });
    for (const name of ['one', 'two']) {
      place.git('stash', '-q', '--include-untracked');
      place.branch(name, { [name]: '1' });
      place.git('stash', 'pop', '-q');
      expect(place.states(await checked(place, home, name))).toEqual([`${name}: landed`]);
    }
  });

  test('that nobody has are named with the command when the check fails', async () => {
    const place = mergePlace(PROJECT);
    const home = temporaryDirectory();
    place.branch('one', { 'a.txt': '1' });
    rmSync(join(place.directory, 'node_modules'), { recursive: true, force: true });
    const { entries } = await checked(place, home, 'one');
    expect(entries[0]?.reason).toContain(
      `(the checkout has none either): run \`npm ci\` in ${place.directory}`,
    );
    expect(existsSync(join(home, 'dependencies'))).toBe(false);
  });

  test('are installed once for a lock file where the folder is trusted', async () => {
    const place = mergePlace(PROJECT);
    const home = temporaryDirectory();
    const bin = temporaryDirectory();
    const count = join(bin, 'count');
    const npm = `#!/bin/sh\necho "$@" >> ${count}\nmkdir -p node_modules/runner\necho 'exit 0' > node_modules/runner/run.sh\n`;
    writeFiles(bin, { npm });
    chmodSync(join(bin, 'npm'), 0o755);
    const env = { ...place.repository.env, PATH: `${bin}:${place.repository.env.PATH}` };
    const repository = { ...place.repository, env };
    const told: string[] = [];
    const merge = async (
      branch: string,
      extra: { isTrusted: boolean; install?: boolean },
    ): Promise<string[]> => {
      const settings = extra.install === undefined ? undefined : { install: extra.install };
      const { isTrusted } = extra;
      const onInstall = (command: string): void => void told.push(command);
      const check = { command: 'sh node_modules/runner/run.sh', timeoutMs: 60_000 };
      const prepareCheck = checkPackages({ home, repository, settings, isTrusted, onInstall });
      return place.states(await place.queue({ branches: [branch], check }, { repository, prepareCheck }));
    };
    place.branch('one', { 'a.txt': '1' });
    expect(await merge('one', { isTrusted: false })).toEqual(['one: waiting']);
    expect(await merge('one', { isTrusted: true, install: false })).toEqual(['one: waiting']);
    expect(existsSync(count)).toBe(false);
    expect(await merge('one', { isTrusted: true })).toEqual(['one: landed']);
    place.branch('two', { 'b.txt': '1' });
    expect(await merge('two', { isTrusted: true })).toEqual(['two: landed']);
    expect(readFileSync(count, 'utf8')).toBe('ci\n');
    expect(readdirSync(join(home, 'dependencies'))).toHaveLength(1);
    place.branch('three', { 'package-lock.json': '{"runner": 3}' });
    expect(await merge('three', { isTrusted: true })).toEqual(['three: landed']);
    expect(readFileSync(count, 'utf8')).toBe('ci\nci\n');
    expect(told).toEqual(['npm ci', 'npm ci']);
    expect(existsSync(join(place.directory, 'node_modules'))).toBe(false);
  });

  test('that were half installed are not taken for whole, and what a check left makes no template', async () => {
    const place = mergePlace(PROJECT);
    const home = temporaryDirectory();
    const tree = join(temporaryDirectory(), 'tree');
    writeFiles(tree, PROJECT);
    const { repository } = place;
    const prepare = checkPackages({ home, repository, settings: undefined, isTrusted: true });
    const halfway = async (): Promise<never> => {
      writeFiles(tree, { 'node_modules/runner/half.sh': '' });
      throw new Error('killed');
    };
    await expect(prepare(tree, halfway)).rejects.toThrow('killed');
    const none = async () => ({ passed: false, ending: 'exit code 1' });
    await prepare(tree, none);
    expect(existsSync(join(tree, 'node_modules'))).toBe(false);
    writeFiles(tree, { 'node_modules/runner/run.sh': 'changed by a check\n' });
    writeFileSync(`${tree}.packages.json`, '[]');
    await prepare(tree, none);
    expect(existsSync(join(home, 'dependencies'))).toBe(false);
  });

  test('of members of a workspace come with those of the top, for another target and after another lock file', async () => {
    const place = mergePlace(WORKSPACE);
    const { merge, installs } = installing(place, MEMBER_INSTALL);
    place.branch('one', { 'a.txt': '1' });
    place.branch('other', { 'b.txt': '1' });
    place.git('branch', 'release');
    expect(await merge('one')).toEqual(['one: landed']);
    expect(await merge('other', 'release')).toEqual(['other: landed']);
    expect(installs()).toBe(1);
    place.branch('bump', { 'package-lock.json': '{"runner": 2}' });
    // Its lock file installs nothing in the member, so its check fails, and that of the target alone does not.
    expect(await merge('bump')).toEqual(['bump: failed']);
    expect(installs()).toBe(2);
  });

  test('of a member that was changed in place are installed again with all others', async () => {
    const place = mergePlace(WORKSPACE);
    const { home, merge, installs } = installing(place, MEMBER_INSTALL);
    place.branch('one', { 'a.txt': '1' });
    expect(await merge('one')).toEqual(['one: landed']);
    for (const template of readdirSync(join(home, 'dependencies'))) {
      const own = join(home, 'dependencies', template, 'tree/own/run.sh');
      if (!existsSync(own)) continue;
      chmodSync(own, 0o644);
      writeFileSync(own, 'exit 1 # poison\n');
    }
    place.branch('two', { 'b.txt': '1' });
    expect(await merge('two')).toEqual(['two: landed']);
    expect(installs()).toBe(2);
  });

  test('of members go with those of the top when the installation fails', async () => {
    const place = mergePlace(WORKSPACE);
    const { merge } = installing(place, `${MEMBER_INSTALL}exit 1\n`);
    place.branch('one', { 'a.txt': '1' });
    expect(await merge('one')).toEqual(['one: waiting']);
    const left = readdirSync(place.project, { recursive: true }).map(String);
    expect(left.filter((path) => path.endsWith('node_modules'))).toEqual([]);
    expect(left.filter((path) => path.endsWith('packages/a'))).toHaveLength(1);
  });

  test('are installed without trust where the check itself runs scripts of the package manager', async () => {
    const place = mergePlace(PROJECT);
    const { home, env, installs } = installing(place, 'mkdir -p node_modules/runner\n');
    const repository = { ...place.repository, env };
    const merge = async (command: string): Promise<string> => {
      const prepareCheck = checkPackages({ home, repository, settings: undefined, check: command });
      const check = { command, timeoutMs: 60_000 };
      const report = await place.queue({ branches: ['one'], check }, { repository, prepareCheck });
      return `${place.states(report)} ${report.entries[0]?.reason}`;
    };
    place.branch('one', { 'a.txt': '1' });
    const refused = await merge('ls node_modules/runner');
    expect(refused).toContain('one: waiting');
    expect(refused).toContain('or run `ramet trust`, and the check installs them');
    expect(installs()).toBe(0);
    expect(await merge('npm test')).toContain('one: landed');
    expect(installs()).toBe(1);
  });
});

const WORKSPACE = {
  'package.json': '{"workspaces": ["packages/*"], "devDependencies": {"runner": "1"}}',
  'package-lock.json': '{"runner": 1}',
  'packages/a/package.json': '{"dependencies": {"own": "1"}}',
  '.gitignore': 'node_modules\n',
};

/** As npm does: what was there goes first. Only the first lock file asks for a package in the member. */
const MEMBER_INSTALL = `rm -rf node_modules packages/a/node_modules
mkdir -p node_modules/runner
if grep -q '"runner": 1' package-lock.json; then
  mkdir -p packages/a/node_modules/own
  echo 'exit 0' > packages/a/node_modules/own/run.sh
fi
`;

interface Installing {
  home: string;
  env: Record<string, string>;
  /** How often packages were installed. */
  installs(): number;
  merge(branch: string, target?: string): Promise<string[]>;
}

/** A package manager of our own, in a trusted folder. `npm test` passes with it. */
function installing(place: MergePlace, install: string): Installing {
  const home = temporaryDirectory();
  const bin = temporaryDirectory();
  const count = join(bin, 'count');
  writeFiles(bin, { npm: `#!/bin/sh\n[ "$1" = ci ] || exit 0\necho "$@" >> ${count}\n${install}` });
  chmodSync(join(bin, 'npm'), 0o755);
  const env = { ...place.repository.env, PATH: `${bin}:${place.repository.env.PATH}` };
  const repository = { ...place.repository, env };
  const prepareCheck = checkPackages({ home, repository, settings: undefined, isTrusted: true });
  const check = { command: 'sh packages/a/node_modules/own/run.sh', timeoutMs: 60_000 };
  return {
    home,
    env,
    installs: () => (existsSync(count) ? readFileSync(count, 'utf8').trim().split('\n').length : 0),
    merge: async (branch, target = 'main') =>
      place.states(await place.queue({ target, branches: [branch], check }, { repository, prepareCheck })),
  };
}
