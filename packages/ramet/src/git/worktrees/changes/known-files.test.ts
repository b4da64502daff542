import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory, temporaryRepository, writeFiles } from '../../../../test/fixtures/temporary.ts';
import { knownFiles } from './known-files.ts';

const env = { PATH: process.env.PATH ?? '' };

interface Place {
  root: string;
  git(...args: string[]): void;
  files: ReturnType<typeof knownFiles>;
  folder: string;
}

function newPlace(): Place {
  const root = temporaryRepository({ 'a.txt': 'x\n', 'b.txt': 'x\n', 'deep/c.txt': 'x\n' });
  const folder = temporaryDirectory();
  const git = (...args: string[]): void =>
    void execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'protocol.file.allow=always', ...args],
      { cwd: root, stdio: 'pipe' },
    );
  return { root, git, folder, files: knownFiles(() => join(root, 'deep'), { env, folder }) };
}

const put = ({ root }: Place, text = 'y\n'): void => writeFileSync(join(root, 'b.txt'), text);

const CHANGES: readonly [string, (place: Place) => void][] = [
  ['is written', put],
  ['is written and committed', (place) => (put(place), place.git('commit', '-qam', 'second'))],
  ['is gone', ({ root }) => rmSync(join(root, 'b.txt'))],
  ['may be run now', ({ root }) => chmodSync(join(root, 'b.txt'), 0o755)],
  ['is a link', ({ root }) => (rmSync(join(root, 'b.txt')), symlinkSync('a.txt', join(root, 'b.txt')))],
  [
    'is a pipe',
    ({ root }) => (rmSync(join(root, 'b.txt')), void execFileSync('mkfifo', [join(root, 'b.txt')])),
  ],
  [
    'is one that git is told not to look at',
    (place) => (place.git('update-index', '--assume-unchanged', 'b.txt'), put(place)),
  ],
  [
    'has the time that it had',
    (place) => (
      place.git('config', 'core.checkStat', 'minimal'),
      put(place),
      utimesSync(join(place.root, 'b.txt'), 1, 1)
    ),
  ],
  [
    'is the same to a filter of git',
    (place) => (
      writeFiles(place.root, { '.git/info/attributes': '* filter=f' }),
      place.git('config', 'filter.f.clean', 'echo x'),
      put(place)
    ),
  ],
  [
    'has other ends of lines',
    (place) => (place.git('config', 'core.autocrlf', 'input'), put(place, 'x\r\n')),
  ],
  [
    'is in a repository that was moved away',
    (place) => (put(place), renameSync(join(place.root, '.git'), join(place.root, '.gitx'))),
  ],
  [
    'is in a repository that is damaged',
    (place) => (put(place), writeFiles(place.root, { '.git/index': 'junk', '.git/HEAD': 'junk' })),
  ],
];

describe('COORD-1: files that git knows', () => {
  test.for(CHANGES)('one has changed if it %s', async ([, change]) => {
    const place = newPlace();
    const list = await place.files.list();
    change(place);
    expect(await place.files.changedSince(list ?? '')).toEqual(['b.txt']);
    expect(readdirSync(place.folder)).toEqual([]);
  });

  test('none has changed where files are new, the same text was written again, or times are others', async () => {
    const place = newPlace();
    const list = await place.files.list();
    put(place, 'x\n');
    utimesSync(join(place.root, 'a.txt'), 1, 1);
    chmodSync(join(place.root, 'a.txt'), 0o600);
    writeFiles(place.root, { 'new.txt': 'x', 'deep/log': 'x' });
    place.git('add', '.');
    expect(await place.files.changedSince(list ?? '')).toEqual([]);
  });

  test('one that was changed before, one of a submodule, and one with a strange name count', async () => {
    const place = newPlace();
    const inner = temporaryRepository({ 's.txt': 'x' });
    place.git('submodule', 'add', '-q', inner, 'sub');
    writeFiles(place.root, { 'é "ü"\n.txt': 'x', __proto__: 'x' });
    place.git('add', '.');
    put(place, 'before');
    const list = await place.files.list();
    writeFiles(place.root, { 'sub/s.txt': 'y', 'é "ü"\n.txt': 'y' });
    put(place);
    expect(await place.files.changedSince(list ?? '')).toEqual(['b.txt', 'sub/s.txt', 'é "ü"\n.txt'].sort());
  });

  test('outside of a repository there is no list; one that is gone says that nobody knows', async () => {
    const folder = temporaryDirectory();
    expect(await knownFiles(() => folder, { env, folder }).list()).toBeNull();
    const { files } = newPlace();
    expect(await files.changedSince('verified-1')).toEqual([
      expect.stringMatching(/^any file \(what was there before/),
    ]);
  });
});
