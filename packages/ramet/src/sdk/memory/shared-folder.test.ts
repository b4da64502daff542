import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { sharedFolder } from './shared-folder.ts';

/** A home with Ramet's in it, and two repositories. */
function machine(): { home: string; at(folder: string, cwd?: string, anyFolder?: boolean): () => string } {
  const top = temporaryDirectory();
  const home = join(top, 'home', 'ana');
  for (const folder of [
    '.ramet/projects/x/memory/team',
    '.ramet/projects/x/s1',
    '.ramet/memory-server',
    '.ssh',
    'notes',
  ])
    mkdirSync(join(home, folder), { recursive: true });
  for (const repository of ['src/app', 'src/lib']) {
    mkdirSync(join(home, repository, '.git', 'objects'), { recursive: true });
    mkdirSync(join(home, repository, '.git', 'refs'));
    mkdirSync(join(home, repository, 'docs'));
    writeFileSync(join(home, repository, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  }
  symlinkSync(home, join(home, 'notes', 'link'));
  const env = { HOME: home };
  return {
    home,
    at:
      (folder, cwd = 'notes', anyFolder = false) =>
      () =>
        sharedFolder(folder, { cwd: join(home, cwd), env, anyFolder }),
  };
}

describe('TEAM-6: the folder that ramet memory sync is given', () => {
  test.each(['', ' '])('is refused if it is empty (%j), with what to write instead', (folder) => {
    expect(machine().at(folder)).toThrow(
      'the folder is empty: leave it out for the team memory of this repository, or write . for the current folder',
    );
  });

  test.each([
    ['/', 'notes'],
    ['..', 'notes'],
    ['../..', 'notes'],
    ['.', '.'],
    ['link', 'notes'],
    ['../.ramet', 'notes'],
    ['../.ramet/projects', 'notes'],
    ['../.ramet/projects/x/s1', 'notes'],
    ['../.ramet/memory-server', 'notes'],
    ['.git', 'src/app'],
    ['src/app/.git/objects', '.'],
  ])('is refused if it has more than notes, whatever flag there is: %s in %s', (folder, cwd) => {
    for (const anyFolder of [false, true])
      expect(machine().at(folder, cwd, anyFolder)).toThrow(/: name a folder of notes$/);
  });

  test.each([
    ['.', 'src/app', 'is the root of a repository'],
    ['..', 'src/app/docs', 'is the root of a repository'],
    ['../src', 'notes', 'has a repository in it'],
    ['../..', 'src/app/docs', 'has a repository in it'],
    ['../.ssh', 'notes', 'has a name that begins with a point'],
    ['/etc', 'notes', 'is a folder of the whole machine'],
  ])('is refused without --any-folder: %s in %s', (folder, cwd, reason) => {
    const { at } = machine();
    expect(at(folder, cwd)).toThrow(reason);
    expect(at(folder, cwd)).toThrow(/name a folder of notes, or give --any-folder if you mean it$/);
    expect(at(folder, cwd, true)).not.toThrow();
  });

  test.each([
    ['.', 'notes'],
    ['../notes', 'notes'],
    ['new/folder', 'notes'],
    ['docs', 'src/app'],
    ['.', 'src/app/docs'],
    ['../.ramet/projects/x/memory', 'notes'],
    ['../.ramet/projects/x/memory/team', 'notes'],
  ])('is taken as it is: %s in %s', (folder, cwd) => {
    const { at, home } = machine();
    expect(at(folder, cwd)()).toBe(join(home, cwd, folder));
  });
});
