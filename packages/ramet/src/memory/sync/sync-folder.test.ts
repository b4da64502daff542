import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newToken, servedMemory } from '../../../test/fixtures/memory-server.ts';
import { BASE62, seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { changesOf, SyncedFolder as Folder, twoFolders } from '../../../test/fixtures/synced-folder.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { openMemoryDatabase } from '../server/key-store.ts';
import { TeamTokens } from '../server/team-tokens.ts';
import { mergeNotes } from './merge-notes.ts';
import { planKey } from './plan-key.ts';
import { syncFolder } from './sync-folder.ts';

function canRead(folder: string): boolean {
  try {
    return readdirSync(folder).length >= 0;
  } catch {
    return false;
  }
}

describe('TEAM-6: the sync of a folder', () => {
  test('carries new, changed and deleted files from one folder to another', async () => {
    const [one, two] = await twoFolders();
    one.write('notes/build.md', 'one\n');
    one.write('other.md', 'x\n');
    expect(changesOf(await one.sync())).toEqual(['sent notes/build.md', 'sent other.md']);
    expect(changesOf(await two.sync())).toEqual(['pulled notes/build.md', 'pulled other.md']);
    two.write('notes/build.md', 'two\n');
    two.remove('other.md');
    expect(changesOf(await two.sync())).toEqual(['sent notes/build.md', 'deleted there other.md']);
    expect(changesOf(await one.sync())).toEqual(['pulled notes/build.md', 'deleted here other.md']);
    expect([one.read('notes/build.md'), one.files()]).toEqual(['two\n', ['notes']]);
    expect(changesOf(await one.sync())).toEqual([]);
  });

  test('lets one value travel for one change among many, and none if nothing has changed', async () => {
    const [one, two] = await twoFolders();
    for (let index = 0; index < 60; index++) one.write(`${index}.md`, `note ${index}\n`);
    expect((await one.sync()).values).toEqual({ read: 0, written: 60 });
    expect((await two.sync()).values).toEqual({ read: 60, written: 0 });
    two.write('7.md', 'changed\n');
    expect((await two.sync()).values).toEqual({ read: 0, written: 1 });
    expect((await one.sync()).values).toEqual({ read: 1, written: 0 });
    expect((await one.sync()).values).toEqual({ read: 0, written: 0 });
  });

  test('merges changes of different lines, and keeps what both added in one place', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', '# Title\nfirst\nsecond\n');
    await one.sync();
    await two.sync();
    one.write('a.md', '# Title\nfirst, better\nsecond\nfrom one\n');
    two.write('a.md', '# Title\nfirst\nsecond\nfrom two\n');
    await one.sync();
    expect(changesOf(await two.sync())).toEqual(['merged a.md']);
    expect(two.read('a.md')).toBe('# Title\nfirst, better\nsecond\nfrom one\nfrom two\n');
    expect(changesOf(await one.sync())).toEqual(['pulled a.md']);
    expect(one.read('a.md')).toBe(two.read('a.md'));
  });

  test('keeps both if the same line was changed: the server’s in place, the other beside it, for everybody', async () => {
    const [one, two] = await twoFolders();
    one.write('notes/a.md', 'line\n');
    await one.sync();
    await two.sync();
    one.write('notes/a.md', 'one\n');
    two.write('notes/a.md', 'two\n');
    await one.sync();
    const report = await two.sync();
    expect(report.changes).toMatchObject([{ key: 'notes/a.md', change: 'kept both' }]);
    const [copy = ''] = readdirSync(join(two.path, 'notes')).filter((name) => name.includes('.conflict-'));
    expect(copy).toMatch(/^a\.conflict-[0-9a-f]{8}\.md$/);
    expect([two.read('notes/a.md'), two.read(`notes/${copy}`)]).toEqual(['one\n', 'two\n']);
    await one.sync();
    expect([one.read('notes/a.md'), one.read(`notes/${copy}`)]).toEqual(['one\n', 'two\n']);
    expect(changesOf(await two.sync())).toEqual([]);
  });

  test('keeps both if two folders began with different files of one name', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', 'one\n');
    two.write('a.md', 'two\n');
    await one.sync();
    expect(changesOf(await two.sync())).toEqual(['kept both a.md']);
    expect(two.files()).toHaveLength(2);
  });

  test('does not bring back what was deleted, also from a copy that knows nothing', async () => {
    const [one, two, server] = await twoFolders();
    one.write('a.md', 'old\n');
    await one.sync();
    await two.sync();
    one.remove('a.md');
    await one.sync();
    const copy = new Folder(server);
    copy.write('a.md', 'old\n');
    expect(changesOf(await copy.sync())).toEqual(['deleted here a.md']);
    expect(changesOf(await two.sync())).toEqual(['deleted here a.md']);
    expect(changesOf(await one.sync())).toEqual([]);
    one.write('a.md', 'old\n');
    expect(changesOf(await one.sync())).toEqual(['sent a.md']);
  });

  test('nor from a copy of an earlier version, unless that was edited or is written on purpose', async () => {
    const [one, two, server] = await twoFolders();
    for (const text of ['first\n', 'second\n', 'third\n']) {
      one.write('a.md', text);
      await one.sync();
    }
    one.remove('a.md');
    await one.sync();
    const copyWith = async (text: string): Promise<string[]> => {
      const copy = new Folder(server);
      copy.write('a.md', text);
      return changesOf(await copy.sync());
    };
    for (const text of ['first\n', 'second\n', 'third\n'])
      expect(await copyWith(text)).toEqual(['deleted here a.md']);
    expect(changesOf(await two.sync())).toEqual([]);
    two.write('a.md', 'second\n');
    expect(changesOf(await two.sync())).toEqual(['sent a.md']);
    await one.sync();
    one.remove('a.md');
    await one.sync();
    expect(await copyWith('first\n')).toEqual(['deleted here a.md']);
    expect(await copyWith('first, edited\n')).toEqual(['sent again a.md']);
  });

  test('keeps an edit of a file that was deleted, and restores a deleted file that was edited', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', 'a\n');
    one.write('b.md', 'b\n');
    await one.sync();
    await two.sync();
    one.remove('a.md');
    one.write('b.md', 'b, edited\n');
    two.write('a.md', 'a, edited\n');
    two.remove('b.md');
    await one.sync();
    expect(changesOf(await two.sync())).toEqual(['sent again a.md', 'restored b.md']);
    await one.sync();
    expect([one.read('a.md'), one.read('b.md')]).toEqual(['a, edited\n', 'b, edited\n']);
  });

  test('does not send a secret, says where it is, and keeps the file', async () => {
    const [one, , server] = await twoFolders();
    const secret = `ghp_${seededRandom(5).text(BASE62, 36)}`;
    one.write('a.md', `fine\n${secret}\n`);
    one.write('b.md', 'fine\n');
    one.write(`notes/${secret}.md`, 'fine\n');
    const report = await one.sync();
    expect(changesOf(report)).toEqual(['sent b.md']);
    expect(report.skipped).toMatchObject([
      { key: 'a.md', reason: expect.stringContaining('line 2 (GitHub token)') },
      { reason: expect.stringContaining('its name has a secret (GitHub token)') },
    ]);
    expect(JSON.stringify(report.skipped[0])).not.toContain(secret);
    expect((await server.ask('GET', '/v1/keys/a.md')).status).toBe(404);
    expect(one.read('a.md')).toContain(secret);
  });

  test('leaves out what cannot be a key or a value, names it, and synchronises the rest', async () => {
    const [one, two] = await twoFolders();
    one.write('good.md', 'x\n');
    one.write('binary.md', new Uint8Array([0xff, 0xfe]));
    one.write('nul.txt', 'a\0b');
    one.write('zero.md', 'a\0b');
    one.write('co:lon.md', 'x');
    one.write('large.md', '');
    truncateSync(join(one.path, 'large.md'), 50 * 1024 * 1024);
    one.write('Twin.md', '1');
    one.write('twin.md', '2');
    symlinkSync('/etc/hostname', join(one.path, 'link.md'));
    symlinkSync('/etc', join(one.path, 'folder'));
    execFileSync('mkfifo', [join(one.path, 'fifo.md')]);
    writeFileSync(
      Buffer.concat([Buffer.from(`${one.path}/bad-`), Buffer.from([0xff]), Buffer.from('.md')]),
      'x',
    );
    const report = await one.sync();
    expect(changesOf(report)).toEqual(['sent good.md']);
    const left = report.skipped.map(({ key }) => key).sort();
    expect(left).toEqual([
      'Twin.md',
      'bad-\ufffd.md',
      'binary.md',
      'co:lon.md',
      'fifo.md',
      'folder',
      'large.md',
      'link.md',
      'nul.txt',
      'twin.md',
      'zero.md',
    ]);
    expect(report.skipped.find(({ key }) => key === 'large.md')?.reason).toContain('52428800 bytes');
    await two.sync();
    expect(two.files()).toEqual(['good.md']);
  });

  test('says what to do where a folder has the name of a key, and where the folder is a file', async () => {
    const [one, two] = await twoFolders();
    one.write('sub', 'x\n');
    await one.sync();
    two.write('sub/a.md', 'y\n');
    expect((await two.sync()).skipped).toContainEqual({
      key: 'sub',
      reason: 'a folder has this name here: rename the folder, or the key on the server',
    });
    one.write('n.md', 'x\n');
    const file = join(one.path, 'n.md');
    await expect(one.sync(undefined, { folder: file })).rejects.toThrow(
      `${file} is no folder: name the folder to synchronise`,
    );
    const below = join(file, 'memory');
    await expect(one.sync(undefined, { folder: below })).rejects.toThrow(`${below} is no folder: name`);
  });

  test('takes names in another Unicode form for the same key', async () => {
    const [one, two] = await twoFolders();
    one.write('u\u0308ber.md', 'x\n');
    expect(changesOf(await one.sync())).toEqual(['sent \u00fcber.md']);
    expect(changesOf(await one.sync())).toEqual([]);
    await two.sync();
    two.write('\u00fcber.md', 'y\n');
    await two.sync();
    await one.sync();
    expect(one.read('u\u0308ber.md')).toBe('y\n');
    one.write('\u00fcber.md', 'z\n');
    expect((await one.sync()).skipped).toMatchObject([
      { reason: 'another file has this name in another Unicode form' },
    ]);
  });

  test('does not follow a link that took the place of a folder', async () => {
    const [one, two] = await twoFolders();
    one.write('notes/a.md', 'x\n');
    await one.sync();
    const outside = temporaryDirectory();
    symlinkSync(outside, join(two.path, 'notes'));
    expect((await two.sync()).skipped.map(({ key }) => key)).toContain('notes/a.md');
    expect(readdirSync(outside)).toEqual([]);
  });

  test('deletes nothing of a folder that a link took the place of', async () => {
    const [one, two] = await twoFolders();
    one.write('notes/a.md', 'x\n');
    one.write('b.md', 'x\n');
    await one.sync();
    const elsewhere = join(temporaryDirectory(), 'notes');
    renameSync(join(one.path, 'notes'), elsewhere);
    symlinkSync(elsewhere, join(one.path, 'notes'));
    one.write('b.md', 'y\n');
    const report = await one.sync();
    expect(changesOf(report)).toEqual(['sent b.md']);
    expect(report.skipped.map(({ key }) => key)).toEqual(['notes', 'notes/a.md']);
    await two.sync();
    expect(two.read('notes/a.md')).toBe('x\n');
  });

  test('leaves out a folder that cannot be read, deletes nothing of it, and synchronises the rest', async ({
    skip,
  }) => {
    const [one, two] = await twoFolders();
    one.write('closed/a.md', 'x\n');
    one.write('b.md', 'x\n');
    await one.sync();
    const closed = join(one.path, 'closed');
    chmodSync(closed, 0);
    onTestFinished(() => chmodSync(closed, 0o700));
    if (canRead(closed)) skip('who runs this may read every folder');
    one.write('b.md', 'y\n');
    const report = await one.sync();
    expect(changesOf(report)).toEqual(['sent b.md']);
    expect(report.skipped).toContainEqual({ key: 'closed', reason: 'it cannot be read (EACCES)' });
    await two.sync();
    expect(two.read('closed/a.md')).toBe('x\n');
  });

  test('refuses a wrong, revoked or other team’s token in one line, and changes nothing', async () => {
    const [one, , server] = await twoFolders();
    one.write('a.md', 'x\n');
    await expect(one.sync(`${server.token}x`)).rejects.toThrow(
      /does not accept the token: it is wrong or revoked/,
    );
    await one.sync();
    const other = newToken(server.directory, 'others');
    await expect(one.sync(other.token)).rejects.toThrow(/belongs to team "core", and the token to "others"/);
    using db = openMemoryDatabase(server.directory);
    new TeamTokens(db).revoke(other.id, 1);
    await expect(one.sync(other.token)).rejects.toThrow(/wrong or revoked/);
    expect(one.read('a.md')).toBe('x\n');
  });

  test('sends no token over a network without TLS', async () => {
    const [one] = await twoFolders();
    for (const url of ['http://memory.example.org', 'ftp://x', 'nonsense', 'https://user:pw@x/'])
      await expect(syncFolder({ folder: one.path, url, token: 'x' })).rejects.toThrow(/memory server/);
  });

  test('two syncs of one folder at once end in one state', async () => {
    const [one, two] = await twoFolders();
    for (let index = 0; index < 20; index++) one.write(`${index}.md`, `${index}\n`);
    const reports = await Promise.all([one.sync(), one.sync(), one.sync()]);
    expect(reports.flatMap(({ changes }) => changes)).toHaveLength(20);
    await two.sync();
    expect(two.files()).toEqual(one.files());
  });

  test('keeps an edit that is made while it works', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', 'old\n');
    await one.sync();
    await two.sync();
    one.write('a.md', 'old\nfrom one\n');
    await one.sync();
    // The edit comes while the value travels, after the file was read.
    let isEdited = false;
    const editing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!isEdited && String(input).endsWith('/a.md')) two.write('a.md', 'edited here\nold\n');
      isEdited ||= String(input).endsWith('/a.md');
      return response;
    };
    await two.sync(two.server.token, { fetch: editing });
    expect(isEdited).toBe(true);
    await two.sync();
    expect(two.read('a.md')).toBe('edited here\nold\nfrom one\n');
    await one.sync();
    expect(one.read('a.md')).toBe('edited here\nold\nfrom one\n');
  });

  test('loses nothing if many folders change one file at once', async () => {
    const server = await servedMemory();
    const folders = Array.from({ length: 6 }, () => new Folder(server));
    folders[0]?.write('log.md', '# Log\n');
    for (const folder of folders) await folder.sync();
    for (const [index, folder] of folders.entries()) folder.write('log.md', `# Log\nline ${index}\n`);
    await Promise.all(folders.map((folder) => folder.sync()));
    for (const folder of folders) await folder.sync();
    const text = folders[0]?.read('log.md') ?? '';
    expect(
      text
        .split('\n')
        .filter((line) => line.startsWith('line'))
        .sort(),
    ).toEqual(folders.map((_, index) => `line ${index}`));
    expect(new Set(folders.map((folder) => folder.read('log.md'))).size).toBe(1);
  });

  test('continues after its record was lost, and after a file that cannot be written', async () => {
    const [one, two] = await twoFolders();
    one.write('a.md', 'x\n');
    await one.sync();
    rmSync(join(one.path, '.ramet-sync'), { recursive: true });
    expect(changesOf(await one.sync())).toEqual([]);
    mkdirSync(join(two.path, 'a.md'));
    one.write('b.md', 'y\n');
    await one.sync();
    const report = await two.sync();
    expect(changesOf(report)).toEqual(['pulled b.md']);
    expect(report.skipped.map(({ key }) => key)).toEqual(['a.md']);
  });
});

describe('TEAM-6: a server with an old copy of its file', () => {
  interface PutBack {
    one: Folder;
    two: Folder;
    /** With the server as it is after the copy was put back. */
    sync(folder: Folder): Promise<string[]>;
  }

  /** Since the copy `one` has changed a file, deleted one, added one and brought one back. */
  async function putBack(meanwhile: (one: Folder, two: Folder) => Promise<unknown>): Promise<PutBack> {
    const [one, two, server] = await twoFolders();
    for (const name of ['a.md', 'gone.md', 'back.md', 'same.md']) one.write(name, `${name} at first\n`);
    await one.sync();
    one.remove('back.md');
    await one.sync();
    await two.sync();
    const copy = join(temporaryDirectory(), 'copy.sqlite');
    const file = join(server.directory, 'memory.sqlite');
    const db = new DatabaseSync(file);
    db.exec(`VACUUM INTO '${copy}'`);
    db.close();
    one.write('a.md', 'a.md changed\n');
    one.remove('gone.md');
    one.write('new.md', 'new\n');
    one.write('back.md', 'back again\n');
    await one.sync();
    await meanwhile(one, two);
    await server.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
    copyFileSync(copy, file);
    const again = await servedMemory({ directory: server.directory });
    return {
      ...{ one, two },
      sync: async (folder) => changesOf(await folder.sync(again.token, { url: again.url })),
    };
  }

  const all = (folder: Folder): Record<string, string | null> =>
    Object.fromEntries(folder.files().map((name) => [name, folder.read(name)]));
  const WANTED = {
    'a.md': 'a.md changed\n',
    'back.md': 'back again\n',
    'new.md': 'new\n',
    'same.md': 'same.md at first\n',
  };

  test('gets what it lacks: changes, deletions and new files', async () => {
    const { one, two, sync } = await putBack(async () => {});
    expect((await sync(one)).sort()).toEqual([
      'deleted there gone.md',
      'sent a.md',
      'sent back.md',
      'sent new.md',
    ]);
    expect(all(one)).toEqual(WANTED);
    await sync(two);
    expect(all(two)).toEqual(WANTED);
    expect(await sync(one)).toEqual([]);
  });

  test('gets it once from folders that all have it', async () => {
    const { one, two, sync } = await putBack((_, other) => other.sync());
    await sync(two);
    expect(await sync(one)).toEqual([]);
    for (const folder of [one, two]) expect(all(folder)).toEqual(WANTED);
  });

  test('gets it also where others have written more than it had lost', async () => {
    const { one, two, sync } = await putBack(async () => {});
    for (let number = 0; number < 9; number++) two.write(`more-${number}.md`, 'x\n');
    await sync(two);
    await sync(one);
    expect(all(one)).toMatchObject(WANTED);
    await sync(two);
    expect(all(two)).toEqual(all(one));
  });

  test('and what others have written there meanwhile are both kept', async () => {
    const { one, two, sync } = await putBack(async () => {});
    two.write('a.md', 'a.md of two\n');
    two.write('new.md', 'new of two\n');
    for (let number = 0; number < 9; number++) two.write(`more-${number}.md`, 'x\n');
    await sync(two);
    await sync(one);
    await sync(two);
    for (const folder of [one, two]) {
      expect(all(folder)).toMatchObject({ 'a.md': 'a.md of two\n', 'new.md': 'new of two\n' });
      expect(Object.values(all(folder))).toEqual(expect.arrayContaining(['a.md changed\n', 'new\n']));
      expect(folder.read('gone.md')).toBeNull();
    }
  });

  /** `one` has made a file since the copy, `two` has it, and `one` has deleted it. */
  const madeAndDeleted = (): Promise<PutBack> =>
    putBack(async (one, two) => {
      one.write('short.md', 'made and deleted\n');
      await one.sync();
      await two.sync();
      one.remove('short.md');
      await one.sync();
    });

  test.each([
    ['who deleted it syncs first', ['one', 'two', 'one', 'two']],
    ['who has it syncs first', ['two', 'one', 'two']],
    ['others have synced meanwhile', ['one', 'one', 'two', 'two', 'one', 'one', 'two']],
  ] as const)('a file that was made and deleted since does not stay back where %s', async (_, order) => {
    const { sync, ...folders } = await madeAndDeleted();
    for (const name of order) await sync(folders[name]);
    for (const folder of [folders.one, folders.two]) expect(all(folder)).toEqual(WANTED);
    for (const folder of [folders.one, folders.two]) expect(await sync(folder)).toEqual([]);
  });

  test('a file that is deleted only after the copy was put back does not come back either', async () => {
    const { one, two, sync } = await putBack((_, other) => other.sync());
    one.remove('new.md');
    await sync(one);
    expect(await sync(two)).toContain('sent new.md');
    expect(await sync(one)).toEqual(['deleted there new.md']);
    await sync(two);
    for (const folder of [one, two]) expect(folder.read('new.md')).toBeNull();
  });

  test('nor does that remove what another has written in its place since', async () => {
    const { one, two, sync } = await madeAndDeleted();
    two.remove('short.md');
    await sync(one);
    await sync(two);
    two.write('short.md', 'another text\n');
    await sync(two);
    expect(await sync(one)).toEqual(['pulled short.md']);
  });

  test('but it comes back where it was changed, or a person brings it back', async () => {
    const { one, two, sync } = await madeAndDeleted();
    await sync(one);
    two.write('short.md', 'changed by two\n');
    await sync(two);
    expect(await sync(one)).toEqual(['pulled short.md']);
    one.remove('short.md');
    await sync(one);
    await sync(two);
    one.write('short.md', 'made and deleted\n');
    await sync(one);
    await sync(two);
    for (const folder of [one, two]) expect(folder.read('short.md')).toBe('made and deleted\n');
  });

  test('a server that only starts again has nothing to get, also after a sync in between', async () => {
    const [one, two, server] = await twoFolders();
    one.write('a.md', 'one\n');
    await one.sync();
    await two.sync();
    const { directory } = server;
    for (const text of ['two\n', 'three\n']) {
      await server.close();
      await using again = await servedMemory({ directory });
      two.write('a.md', text);
      const at = { url: again.url };
      expect(changesOf(await two.sync(again.token, at))).toEqual(['sent a.md']);
      expect(changesOf(await one.sync(again.token, at))).toEqual(['pulled a.md']);
      expect(one.files()).toEqual(['a.md']);
    }
  });
});

describe('TEAM-6: the merge of notes', () => {
  const base = 'a\nb\nc\n';

  test.each([
    ['one side only', 'a\nB\nc\n', base, 'a\nB\nc\n'],
    ['both the same', 'a\nB\nc\n', 'a\nB\nc\n', 'a\nB\nc\n'],
    ['different lines', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
    ['additions in one place', 'a\nb\nc\nx\n', 'a\nb\nc\ny\n', 'a\nb\nc\nx\ny\n'],
    ['additions without a line end', 'a\nb\nc\nx', 'a\nb\nc\ny', 'a\nb\nc\nx\ny'],
    ['the same line', 'a\nX\nc\n', 'a\nY\nc\n', null],
    ['a line changed and removed', 'a\nX\nc\n', 'a\nc\n', null],
  ])('of %s', (_name, server, here, merged) => {
    expect(mergeNotes({ base, server, here })).toBe(merged);
  });

  test('of texts with a hundred thousand equal lines ends at once, without a merge', () => {
    const many = '\n'.repeat(100_000);
    expect(mergeNotes({ base: many, server: `x\n${many}`, here: `${many}y\n` })).toBeNull();
  });
});

describe('TEAM-6: the plan for a key', () => {
  const entry = (checksum: string, etag: string, deleted = false) => ({
    key: 'k',
    version: 1,
    size: 1,
    etag,
    checksum,
    deleted,
  });

  test.each([
    [null, 'a', null, 'push'],
    [null, 'a', entry('a', '1'), 'agree'],
    [null, 'a', entry('b', '1'), 'merge'],
    [null, null, entry('b', '1'), 'pull'],
    [null, 'a', entry('a', '1', true), 'delete here'],
    [null, 'b', entry('a', '1', true), 'push again'],
    [{ etag: '1', checksum: 'a' }, 'a', entry('a', '1'), 'nothing'],
    [{ etag: '1', checksum: 'a' }, 'b', entry('a', '1'), 'push'],
    [{ etag: '1', checksum: 'a' }, null, entry('a', '1'), 'delete there'],
    [{ etag: '1', checksum: 'a' }, 'a', entry('b', '2'), 'pull'],
    [{ etag: '1', checksum: 'a' }, 'b', entry('c', '2'), 'merge'],
    [{ etag: '1', checksum: 'a' }, null, entry('c', '2'), 'restore'],
    [{ etag: '1', checksum: 'a' }, 'a', entry('a', '2', true), 'delete here'],
    [{ etag: '1', checksum: 'a' }, 'b', entry('a', '2', true), 'push again'],
    [{ etag: '2', checksum: null }, 'a', entry('a', '2', true), 'push'],
    [{ etag: '2', checksum: null }, null, entry('a', '2', true), 'nothing'],
    [{ etag: '1', checksum: 'a' }, 'a', null, 'push'],
  ])('agreed %j, here %j, server %j: %s', (agreed, here, server, step) => {
    expect(planKey({ agreed, here, server })).toBe(step);
  });
});
