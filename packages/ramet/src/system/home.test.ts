import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UserMistake } from '../schema/errors.ts';
import {
  makePrivateDirectory,
  managedFolders,
  movedPaths,
  noteProject,
  projectDirectory,
  rametHome,
} from './home.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-home-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('the home', () => {
  test('is RAMET_HOME', () => {
    expect(rametHome({ RAMET_HOME: '/srv/../srv/ramet', HOME: '/home/ada' })).toBe('/srv/ramet');
  });

  test.for(['here', './.ramet', '~/.ramet', '..'])(
    'is never in the current directory: RAMET_HOME=%s',
    (path) => {
      expect(() => rametHome({ RAMET_HOME: path, HOME: '/home/ada' })).toThrow(UserMistake);
      expect(() => rametHome({ RAMET_HOME: path })).toThrow(/no absolute path/);
    },
  );

  test.for(['', '.', 'here'])(
    'is that of the user when HOME leads into the current directory: HOME=%s',
    (HOME) => {
      expect(rametHome({ HOME })).toBe(join(userInfo().homedir, '.ramet'));
    },
  );

  test('is .ramet in the home directory when RAMET_HOME is absent or empty', () => {
    expect(rametHome({ HOME: '/home/ada' })).toBe('/home/ada/.ramet');
    expect(rametHome({ RAMET_HOME: '', HOME: '/home/ada' })).toBe('/home/ada/.ramet');
    expect(rametHome({})).toBe(join(userInfo().homedir, '.ramet'));
  });
});

describe('the folder of managed policy', () => {
  test('is the one of the machine, and another that is named only where the machine has none', () => {
    const [fixed, none] = [join(root, 'etc'), join(root, 'none')];
    mkdirSync(fixed);
    const env = { RAMET_MANAGED_DIR: '/srv/policy' };
    expect(managedFolders(env, none)).toEqual(['/srv/policy']);
    expect(managedFolders(env, fixed)).toEqual([fixed]);
    expect(managedFolders({}, none)).toEqual([none]);
  });
});

describe('LOG-1: the directory of a project', () => {
  test('is one for all worktrees of a repository', () => {
    const commonDirectory = '/srv/app/.git';
    const main = projectDirectory('/h', { root: '/srv/app', commonDirectory });
    const worktree = projectDirectory('/h', { root: '/elsewhere/app-fix', commonDirectory });
    expect(main).toMatch(/^\/h\/projects\/app-[0-9a-f]{8}$/);
    expect(worktree).toBe(main);
  });

  test('differs for two repositories of one name', () => {
    const first = projectDirectory('/h', { root: '/a/app', commonDirectory: '/a/app/.git' });
    const second = projectDirectory('/h', { root: '/b/app', commonDirectory: '/b/app/.git' });
    expect(first).not.toBe(second);
  });

  test.each([
    ['/srv/app.git', 'app'],
    ['/srv/app/.git/modules/lib', 'lib'],
    ['/srv/my app; rm/.git', 'my-app-rm'],
    ['/srv/../.git', 'root'],
    ['/.git', 'root'],
  ])('has a plain name for the repository at %s', (commonDirectory, name) => {
    const directory = basename(projectDirectory('/h', { root: '/x', commonDirectory }));
    expect(directory.slice(0, -9)).toBe(name);
  });

  test('follows a repository that is renamed, used there, and renamed back', () => {
    const base = mkdtempSync(join(root, 'moves-'));
    const [first, second, other] = ['one', 'two', 'three'].map((name) => join(base, name)) as [
      ...[string, string, string],
    ];
    const find = (at: string): string => {
      return projectDirectory(join(base, 'h'), { root: at, commonDirectory: join(at, '.git') });
    };
    mkdirSync(join(first, '.git'), { recursive: true });
    const project = find(first);
    makePrivateDirectory(project);
    noteProject(project, join(first, '.git'));
    const move = (from: string, to: string): void => {
      renameSync(from, to);
      expect(find(to)).toBe(project);
      for (const path of [first, second, to])
        expect(movedPaths(project)(join(path, 'a'))).toBe(join(to, 'a'));
    };
    move(first, second);
    move(second, first);
    move(first, other);
    move(other, first);
    move(first, second);
    // Another repository where the first one was has a project of its own, and changes nothing of this one.
    mkdirSync(join(first, '.git'), { recursive: true });
    expect(find(first)).not.toBe(project);
    expect(movedPaths(project)(join(first, 'a'))).toBe(join(second, 'a'));
    // One that takes its place after it was deleted continues its sessions.
    rmSync(second, { recursive: true });
    expect(find(first)).toBe(project);
    expect(movedPaths(project)(join(second, 'a'))).toBe(join(first, 'a'));
  });

  test('is named after the root outside git', () => {
    expect(projectDirectory('/h', { root: '/tmp/notes', commonDirectory: null })).toMatch(
      /\/notes-[0-9a-f]{8}$/,
    );
  });

  test('is made for this user alone, with its parents', () => {
    const directory = join(root, 'made/projects/app');
    makePrivateDirectory(directory);
    makePrivateDirectory(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'made')).mode & 0o777).toBe(0o700);
  });
});

describe('a home that cannot be used', () => {
  test('says in one line that a file is in its place', () => {
    writeFileSync(join(root, 'file'), '');
    const make = () => makePrivateDirectory(join(root, 'file/projects/app'));
    expect(make).toThrow(UserMistake);
    expect(make).toThrow(
      `cannot keep sessions in ${root}/file/projects/app: ${root}/file is a file, not a directory; ` +
        'set RAMET_HOME to a directory you can write to',
    );
  });

  test('is told in one line where nothing can be made at all', () => {
    expect(() => makePrivateDirectory('/proc/ramet-test/projects')).toThrow(
      /cannot keep sessions in .*ENOENT/,
    );
  });

  test('is told in one line when it is not writable', () => {
    const locked = join(root, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o555);
    chmodSync(root, 0o755);
    expect(makeAsAnotherUser(join(locked, 'projects'))).toBe(
      `cannot keep sessions in ${locked}/projects: no permission to write there (EACCES); ` +
        'set RAMET_HOME to a directory you can write to',
    );
  });
});

/** Root may write anywhere, so another user tries. */
function makeAsAnotherUser(directory: string): string {
  const program = `import(${JSON.stringify(join(import.meta.dirname, 'home.ts'))}).then(({ makePrivateDirectory }) => {
    if (process.getuid() === 0) process.setuid(65534);
    makePrivateDirectory(${JSON.stringify(directory)});
  }).catch((error) => console.log(error.message))`;
  return spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout.trim();
}
