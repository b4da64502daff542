import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ServedMemory, servedMemory } from '../../../test/fixtures/memory-server.ts';
import { seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { changesOf, SyncedFolder, twoFolders } from '../../../test/fixtures/synced-folder.ts';

describe('TEAM-6: a name that changes in case only', () => {
  const agreed = async (...files: readonly string[]): Promise<[SyncedFolder, SyncedFolder, ServedMemory]> => {
    const [one, two, server] = await twoFolders();
    for (const key of files) one.write(key, 'a\nb\nc\n');
    await one.sync();
    await two.sync();
    return [one, two, server];
  };
  const rename = (folder: SyncedFolder, from: string, to: string): void =>
    renameSync(join(folder.path, from), join(folder.path, to));
  const everything = (folder: SyncedFolder): string[] =>
    readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('.ramet-'))
      .sort();
  const expectQuiet = async (...folders: readonly SyncedFolder[]): Promise<void> => {
    for (const folder of folders) expect(await folder.sync()).toMatchObject({ changes: [], skipped: [] });
  };

  test('travels as any new name does', async () => {
    const [one, two] = await agreed('notes.md');
    rename(one, 'notes.md', 'Notes.md');
    const report = await one.sync();
    expect(report.skipped).toEqual([]);
    expect(changesOf(report)).toEqual(['sent Notes.md', 'deleted there notes.md']);
    expect(changesOf(await two.sync())).toEqual(['pulled Notes.md', 'deleted here notes.md']);
    expect(two.files()).toEqual(['Notes.md']);
    await expectQuiet(one, two);
    rename(two, 'Notes.md', 'notes.md');
    await two.sync();
    await one.sync();
    expect(one.files()).toEqual(['notes.md']);
    await expectQuiet(one, two);
  });

  test('leaves nobody behind who had the old name while it went by another', async () => {
    const [one, two] = await agreed('notes.md');
    for (const [from, to] of [
      ['notes.md', 't.md'],
      ['t.md', 'Notes.md'],
    ] as const) {
      rename(one, from, to);
      await one.sync();
    }
    expect((await two.sync()).skipped).toEqual([]);
    expect(two.files()).toEqual(['Notes.md']);
    await expectQuiet(one, two);
  });

  test('carries edits of both sides', async () => {
    const [one, two] = await agreed('notes.md', 'other.md');
    rename(one, 'notes.md', 'Notes.md');
    rename(one, 'other.md', 'OTHER.md');
    one.write('Notes.md', 'one\nb\nc\n');
    two.write('notes.md', 'a\nb\ntwo\n');
    two.write('other.md', 'a\nb\ntwo\n');
    await two.sync();
    expect((await one.sync()).skipped).toEqual([]);
    expect([one.read('Notes.md'), one.read('OTHER.md')]).toEqual(['one\nb\ntwo\n', 'a\nb\ntwo\n']);
    two.write('other.md', 'more\na\nb\ntwo\n');
    expect((await two.sync()).skipped).toEqual([]);
    expect(two.files()).toEqual(['Notes.md', 'OTHER.md']);
    await one.sync();
    for (const folder of [one, two])
      expect([folder.read('Notes.md'), folder.read('OTHER.md')]).toEqual([
        'one\nb\ntwo\n',
        'more\na\nb\ntwo\n',
      ]);
    await expectQuiet(one, two);
  });

  test('of a folder takes along what others have added, edited and deleted in it', async () => {
    const [one, two] = await agreed('docs/x.md', 'docs/gone.md', 'docs/deep/y.md');
    rename(one, 'docs', 'Docs');
    rename(one, 'Docs/deep', 'Docs/Deep');
    two.write('docs/z.md', 'new\n');
    two.write('docs/deep/y.md', 'a\nb\ntwo\n');
    two.remove('docs/gone.md');
    await two.sync();
    one.write('Docs/own.md', 'own\n');
    await one.sync();
    const wanted = ['Docs', 'Docs/Deep', 'Docs/Deep/y.md', 'Docs/own.md', 'Docs/x.md', 'Docs/z.md'];
    two.write('docs/late.md', 'late\n');
    expect((await two.sync()).skipped).toEqual([]);
    expect((await one.sync()).skipped).toEqual([]);
    for (const folder of [one, two]) {
      const late = [...wanted, 'Docs/late.md'].sort();
      expect(everything(folder).filter((name) => name !== 'Docs/gone.md')).toEqual(late);
      expect(folder.read('Docs/Deep/y.md')).toBe('a\nb\ntwo\n');
    }
    await expectQuiet(one, two);
  });

  test('of a folder brings back no file that was deleted with it', async () => {
    const [one, two] = await agreed('docs/x.md', 'docs/gone.md');
    rename(one, 'docs', 'Docs');
    one.remove('Docs/gone.md');
    await one.sync();
    await two.sync();
    expect(everything(two)).toEqual(['Docs', 'Docs/x.md']);
    await expectQuiet(one, two);
  });

  test('is the one of the server where two machines chose differently, and where there is no record', async () => {
    const [one, two, server] = await agreed('notes.md');
    rename(one, 'notes.md', 'Notes.md');
    rename(two, 'notes.md', 'NOTES.md');
    await one.sync();
    await two.sync();
    const three = new SyncedFolder(server);
    three.write('noteS.md', 'a\nb\nc\n');
    expect((await three.sync()).skipped).toEqual([]);
    for (const folder of [one, two, three]) expect(folder.files()).toEqual(['Notes.md']);
    await expectQuiet(one, two, three);
    const four = new SyncedFolder(server);
    four.write('noteS.md', 'different\n');
    expect(changesOf(await four.sync())).toContain('kept both Notes.md');
    expect(four.files()).toHaveLength(2);
  });

  test('is completed where a sync ends in between, and loses nothing where it is refused', async () => {
    const [one, two, server] = await agreed('docs/x.md', 'docs/y.md');
    rename(one, 'docs', 'Docs');
    const halfway: typeof fetch = (input, init) =>
      init?.method === 'PUT' && String(input).endsWith('y.md')
        ? Promise.resolve(new Response('', { status: 418 }))
        : fetch(input, init);
    await expect(one.sync(server.token, { fetch: halfway })).rejects.toThrow('answered 418');
    await two.sync();
    await one.sync();
    await two.sync();
    for (const folder of [one, two]) expect(everything(folder)).toEqual(['Docs', 'Docs/x.md', 'Docs/y.md']);
    await expectQuiet(one, two);
  });

  const KEYS = ['a.md', 'dir/a.md', 'dir/b.md', 'dir/sub/c.md'];

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'loses no line and blocks nobody, whatever is renamed and edited meanwhile (%i)',
    async (seed) => {
      const server = await servedMemory();
      const folders = Array.from({ length: 3 }, () => new SyncedFolder(server));
      const random = seededRandom(seed);
      const respelled = (name: string): string =>
        Array.from(name.toLowerCase(), (sign) => (random.below(4) === 0 ? sign.toUpperCase() : sign)).join(
          '',
        );
      const lines: string[] = [];
      for (let step = 0; step < 60; step++) {
        const folder = random.pick(folders);
        const names = everything(folder).filter((name) => !name.includes('.conflict-'));
        const kind = random.below(5);
        if (kind === 0 && names.length > 0) {
          const name = random.pick(names);
          const to = join(dirname(name), respelled(basename(name)));
          if (!names.includes(to)) rename(folder, name, to);
        } else if (kind < 3) {
          const key = random.pick(KEYS);
          const parts = key.split('/').map((_, level, all) => all.slice(0, level + 1).join('/'));
          const there = parts.map((part) => names.find((name) => name.toLowerCase() === part) ?? part);
          const file = there.map((part) => basename(part)).join('/');
          lines.push(`line ${step}\n`);
          folder.write(file, `${folder.read(file) ?? ''}line ${step}\n`);
        } else expect((await folder.sync()).skipped).toEqual([]);
      }
      for (let round = 0; round < 4; round++) for (const folder of folders) await folder.sync();
      await expectQuiet(...folders);
      const [texts = [], ...others] = folders.map((folder) =>
        everything(folder).map((name) => `${name}: ${name.includes('.') ? folder.read(name) : ''}`),
      );
      for (const other of others) expect(other).toEqual(texts);
      expect(lines.filter((line) => !texts.join('').includes(line))).toEqual([]);
    },
  );

  test('two names on one disk are left out, and say which', async () => {
    const [one] = await agreed('notes.md');
    one.write('Notes.md', 'other\n');
    expect((await one.sync()).skipped).toEqual([
      { key: 'Notes.md', reason: 'it differs from "notes.md" in case or form only: rename one' },
    ]);
  });
});
