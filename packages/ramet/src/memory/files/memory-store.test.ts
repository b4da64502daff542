import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { historyProblem } from './history-health.ts';
import type { MemorySource } from './memory-history.ts';
import { withNote } from './memory-index.ts';
import { MemoryStore } from './memory-store.ts';

const FORK: MemorySource = { kind: 'extraction', session: 'k3v9x2ab', agent: 'k3v9x2ab.1', turn: 4 };
const PERSON = { session: null, agent: null, turn: null };

function openStore(root: string = temporaryDirectory()): MemoryStore {
  const store = new MemoryStore(root);
  onTestFinished(() => store[Symbol.dispose]());
  return store;
}

function put(store: MemoryStore, text: string | null, path = 'MEMORY.md') {
  return store.change(FORK, () => new Map([[path, text]]));
}

const onDisk = (store: MemoryStore, path = 'MEMORY.md'): string =>
  readFileSync(join(store.root, path), 'utf8');

describe('MEM-2: a store of memory', () => {
  test('says for every line which session, agent and turn it came from, and which a person wrote', async () => {
    const store = openStore();
    await put(store, '- tests run with npm test\n- the parser is in src\n');
    writeFileSync(
      join(store.root, 'MEMORY.md'),
      '- tests run with npm test\n- by hand\n- the parser is in src\n',
    );
    await store.change(
      { ...FORK, turn: 9 },
      (read) => new Map([['MEMORY.md', `${read('MEMORY.md')}- new\n`]]),
    );
    writeFileSync(join(store.root, 'MEMORY.md'), `${onDisk(store)}- latest\n`);
    expect(store.origins('MEMORY.md').map(({ text, change }) => [text, change?.kind, change?.turn])).toEqual([
      ['- tests run with npm test', 'extraction', 4],
      ['- by hand', 'hand', null],
      ['- the parser is in src', 'extraction', 4],
      ['- new', 'extraction', 9],
      ['- latest', undefined, undefined],
    ]);
    expect(onDisk(store)).not.toContain('k3v9x2ab');
  });

  test('takes a change back to the byte, and that again', async () => {
    const store = openStore();
    const before = '\ufeff- a\r\n- b';
    writeFileSync(join(store.root, 'MEMORY.md'), before);
    await store.change(
      FORK,
      () =>
        new Map([
          ['MEMORY.md', '- b\n'],
          ['build.md', '- a\n'],
        ]),
    );
    const { undone, kept } = await store.undo(PERSON, null);
    expect([undone.turn, kept, onDisk(store)]).toEqual([4, 0, before]);
    expect(existsSync(join(store.root, 'build.md'))).toBe(false);
    const [last] = store.changes().slice(-1);
    await store.undo(PERSON, last?.id ?? 0);
    expect([onDisk(store), onDisk(store, 'build.md')]).toEqual(['- b\n', '- a\n']);
  });

  test('takes a line back from the file that a later change has moved it to, and no other', async () => {
    const store = openStore();
    await put(store, '## build\n- a\n');
    await put(store, '## build\n- a\n- bad\n- b\n');
    const move = (from: string, to: string): [string, string][] => [
      ['MEMORY.md', from],
      ['build.md', to],
    ];
    await store.change(
      FORK,
      () => new Map(move('## build\n- more in build.md\n', '## build\n- a\n- bad\n- b\n')),
    );
    writeFileSync(join(store.root, 'build.md'), '## build\n- own\n- a\n- bad\n- b, as I said\n');
    writeFileSync(join(store.root, 'other.md'), '- bad\n');
    const { change, kept } = await store.undo(PERSON, 2);
    expect([change?.files.map(({ path }) => path), kept]).toEqual([['build.md'], 1]);
    expect(onDisk(store, 'build.md')).toBe('## build\n- own\n- a\n- b, as I said\n');
    expect(onDisk(store, 'other.md')).toBe('- bad\n');
    expect(onDisk(store)).toBe('## build\n- more in build.md\n');
  });

  test('leaves no empty folder where it takes the last file away, and keeps others', async () => {
    const store = openStore();
    await put(store, '- a\n', 'local/one/MEMORY.md');
    await put(store, '- a\n', 'local/two/MEMORY.md');
    await store.undo(PERSON, null);
    expect(readdirSync(join(store.root, 'local'))).toEqual(['one']);
    writeFileSync(join(store.root, 'local', 'mine.txt'), '');
    await store.undo(PERSON, null);
    expect(readdirSync(join(store.root, 'local'))).toEqual(['mine.txt']);
    await store.undo(PERSON, 3);
    expect(onDisk(store, 'local/two/MEMORY.md')).toBe('- a\n');
  });

  test('keeps what a person wrote since when a change is taken back', async () => {
    const store = openStore();
    await put(store, '- one\n- two\n- three\n- four\n- five\n');
    await put(store, '- one\n- TWO\n- three\n- four\n- FIVE\n');
    writeFileSync(
      join(store.root, 'MEMORY.md'),
      '- mine\n- one\n- TWO\n- three\n- four\n- FIVE, as I said\n',
    );
    const { kept } = await store.undo(PERSON, null);
    expect(onDisk(store)).toBe('- mine\n- one\n- two\n- three\n- four\n- FIVE, as I said\n');
    expect(kept).toBe(1);
    expect(store.origins('MEMORY.md').map(({ change }) => change?.kind)).toEqual([
      ...['hand', 'extraction', 'extraction', 'extraction', 'extraction', 'hand'],
    ]);
  });

  test('refuses an undo that makes no sense, and says why', async () => {
    const store = openStore();
    await expect(store.undo(PERSON, null)).rejects.toThrow('there is nothing to undo in this memory');
    await put(store, '- a\n');
    await expect(store.undo(PERSON, 77)).rejects.toThrow('memory has no change 77');
    await store.undo(PERSON, 1);
    await expect(store.undo(PERSON, 1)).rejects.toThrow('change 1 is undone already');
  });
});

describe('MEM-1: what a person has put into memory', () => {
  test('is never lost: a change is made again from what it finds', async () => {
    const store = openStore();
    await put(store, '- a\n');
    let times = 0;
    await store.change(FORK, (read) => {
      const text = read('MEMORY.md');
      // A person saves while the change is made.
      if (times++ < 3) writeFileSync(join(store.root, 'MEMORY.md'), `${text}- typed ${times}\n`);
      return new Map([['MEMORY.md', `${text}- b\n`]]);
    });
    expect(onDisk(store)).toBe('- a\n- typed 1\n- typed 2\n- typed 3\n- b\n');
    expect(store.changes().map(({ kind }) => kind)).toEqual(['extraction', 'hand', 'extraction']);
  });

  test.for([
    ['is read-only', '- a\n', (path: string) => chmodSync(path, 0o444)],
    ['has conflict markers', '<<<<<<< mine\n- a\n=======\n- b\n>>>>>>> theirs\n', () => {}],
    ['is no UTF-8 text', '- a\0b', () => {}],
    ['has 2000000 bytes', 'x'.repeat(2_000_000), () => {}],
  ] as const)('stays as it is if it %s', async ([why, text, prepare]) => {
    const store = openStore();
    const path = join(store.root, 'MEMORY.md');
    writeFileSync(path, text);
    prepare(path);
    await expect(
      store.change(FORK, (read) => new Map([['MEMORY.md', withNote(read('MEMORY.md'), 'x')]])),
    ).rejects.toThrow(why);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(store.root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('is not lost if it is saved at the very moment of a change', async () => {
    const store = openStore();
    await put(store, '- a\n');
    const file = join(store.root, 'MEMORY.md');
    const person = `
      import { readFileSync, renameSync, writeFileSync } from 'node:fs';
      const [file] = process.argv.slice(1);
      const read = () => { try { return readFileSync(file, 'utf8'); } catch { return null; } };
      let lost = 0;
      for (let k = 0, end = Date.now() + 1_500; Date.now() < end; k++) {
        const text = read();
        if (text === null) continue;
        writeFileSync(file + '.swp', text.replace(/- typed .*\\n/g, '') + '- typed ' + k + '\\n');
        renameSync(file + '.swp', file);
        for (let until = Date.now() + 2; Date.now() < until; );
        const now = read() ?? read() ?? read();
        if (now !== null && !now.includes('- typed ' + k + '\\n')) lost += 1;
      }
      console.log('lost', lost);`;
    const args = ['--input-type=module', '-e', person, file];
    const saving = promisify(execFile)(process.execPath, args);
    let isOver = false;
    void saving.finally(() => {
      isOver = true;
    });
    for (let n = 0; !isOver; n++) {
      const changed = (text: string): string => `${text.replace(/- agent .*\n/g, '')}- agent ${n}\n`;
      const change = store.change(FORK, (read) => new Map([['MEMORY.md', changed(read('MEMORY.md') ?? '')]]));
      // It gives up, and writes nothing, if it is overtaken again and again.
      await change.catch((error) => expect(String(error)).toContain('changes all the time'));
      await new Promise(setImmediate);
    }
    expect((await saving).stdout).toBe('lost 0\n');
  });

  test.each([
    ['emptied the file', ''],
    ['written a part', '- a\n- pe'],
  ])('is not lost if a program has %s for its save when a change comes', async (_, part) => {
    const store = openStore();
    await put(store, '- a\n');
    const saving = openSync(join(store.root, 'MEMORY.md'), 'w');
    writeSync(saving, part);
    await store.change(
      { ...FORK, kind: 'note' },
      (read) => new Map([['MEMORY.md', withNote(read('MEMORY.md'), 'agent')]]),
    );
    writeSync(saving, '- a\n- person\n'.slice(part.length));
    closeSync(saving);
    expect(onDisk(store)).toContain('- agent');
    const [kept = ''] = store.files().filter((name) => /^MEMORY\.kept-[0-9a-f]{8}\.md$/.test(name));
    expect(onDisk(store, kept)).toBe('- a\n- person\n');
  });

  describe('is not lost if a program looks for the moment in which the file is aside', () => {
    /** Runs beside changes, one for each of its rounds; it is told when the next may begin. */
    async function beside(store: MemoryStore, program: string): Promise<string> {
      const [file, aside] = [
        join(store.root, 'MEMORY.md'),
        join(store.root, '.ramet-replacing-MEMORY.md.tmp'),
      ];
      const args = ['--input-type=module', '-e', program, file, aside];
      const person = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      const rounds = person.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
      for (let n = 0; n < 40 && !(await rounds.next()).done; n++) {
        const change = store.change(FORK, (read) => {
          const text = read('MEMORY.md') ?? '';
          return new Map([['MEMORY.md', `${text.replace(/- agent .*\n/g, '')}- agent ${n}\n`]]);
        });
        await change.catch((error) => expect(String(error)).toContain('changes all the time'));
        person.stdin.write('done\n');
      }
      person.stdin.end();
      await once(person, 'close');
      return store
        .files()
        .map((name) => onDisk(store, name))
        .join('');
    }
    const untilAside = 'for (const end = Date.now() + 500; !existsSync(aside) && Date.now() < end; );';
    const program = (open: string, write: string): string => `
      import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
      const [file, aside] = process.argv.slice(1);
      const told = process.stdin[Symbol.asyncIterator]();
      for (let k = 0; k < 40; k++) {
        ${open}
        process.stdout.write('ready');
        ${untilAside}
        ${write}
        writeSync(descriptor, '- typed ' + k + '.\\n');
        closeSync(descriptor);
        await told.next();
      }`;

    test('and writes through a file that it had opened before', async () => {
      const store = openStore();
      await put(store, '- a\n');
      const all = await beside(store, program("const descriptor = openSync(file, 'a');", ''));
      const lost = Array.from({ length: 40 }, (_, k) => `- typed ${k}.`).filter(
        (line) => !all.includes(line),
      );
      expect(lost).toEqual([]);
    });

    test('and begins a new one', async () => {
      const store = openStore();
      const own = Array.from({ length: 9 }, (_, n) => `- precious ${n}.`);
      await put(store, `${own.join('\n')}\n`);
      const all = await beside(store, program('', "const descriptor = openSync(file, 'a');"));
      const typed = Array.from({ length: 40 }, (_, k) => `- typed ${k}.`);
      expect([...own, ...typed].filter((line) => !all.includes(line))).toEqual([]);
      // It is no business of theirs what came between: their memory is where it was.
      expect(own.filter((line) => !onDisk(store).includes(line))).toEqual([]);
    });
  });

  test('is found and put back if a process was killed while it was aside', async () => {
    const store = openStore();
    await put(store, '- a\n');
    const [file, aside] = [join(store.root, 'MEMORY.md'), join(store.root, '.ramet-replacing-MEMORY.md.tmp')];
    renameSync(file, aside);
    expect(store.read('MEMORY.md')).toBe('- a\n');
    await put(store, '- a\n- b\n');
    expect(onDisk(store)).toBe('- a\n- b\n');
    expect(existsSync(aside)).toBe(false);
    // A person has saved meanwhile: both stay.
    renameSync(file, aside);
    writeFileSync(file, '- c\n');
    await put(store, '- c\n- d\n');
    expect(onDisk(store)).toBe('- c\n- d\n');
    const [kept = ''] = readdirSync(store.root).filter((name) => /^MEMORY\.kept-[0-9a-f]{8}\.md$/.test(name));
    expect(onDisk(store, kept)).toBe('- a\n- b\n');
  });

  describe('after a process was killed while it was aside for a change', () => {
    const before = '## build\n- precious\n- a\n- b\n- c\n';
    const killed = async (after: string | null): Promise<MemoryStore> => {
      const store = openStore();
      await put(store, before);
      const intent = { id: 2, at: 5, undoes: null, files: [{ path: 'MEMORY.md', before, after }] };
      writeFileSync(
        join(store.root, '.ramet-change-2.json'),
        JSON.stringify({ ...FORK, ...intent, kind: 'dream' }),
      );
      renameSync(join(store.root, 'MEMORY.md'), join(store.root, '.ramet-replacing-MEMORY.md.tmp'));
      writeFileSync(join(store.root, '.ramet-memory-0123456789ab.tmp'), after ?? '');
      return store;
    };
    const texts = (store: MemoryStore): string[] => store.files().map((path) => onDisk(store, path));

    test.for(['- a\n', null])('what a person begins there takes nothing with it (%j)', async (after) => {
      const store = await killed(after);
      writeFileSync(join(store.root, 'MEMORY.md'), '- PERSON line\n');
      expect(texts(store)).toEqual([before, '- PERSON line\n']);
      expect(store.files()[0]).toMatch(/^MEMORY\.kept-[0-9a-f]{8}\.md$/);
      expect(store.changes().map(({ kind }) => kind)).toEqual(['extraction']);
      expect(readdirSync(store.root).filter((name) => name.startsWith('.'))).toEqual([]);
    });

    test('what a person made of the old text or of the new one stays alone', async () => {
      const old = await killed('- a\n- b\n');
      writeFileSync(join(old.root, 'MEMORY.md'), `${before}- PERSON line\n`);
      expect(texts(old)).toEqual([`${before}- PERSON line\n`]);
      const late = await killed('- a\n- b\n');
      writeFileSync(join(late.root, 'MEMORY.md'), '- a\n- b\n- PERSON line\n');
      expect(texts(late)).toEqual(['- a\n- b\n- PERSON line\n']);
      expect(late.changes().map(({ kind }) => kind)).toEqual(['extraction', 'dream']);
    });

    test('it is listed, with the change complete', async () => {
      expect(texts(await killed('- a\n'))).toEqual(['- a\n']);
      const store = openStore();
      await put(store, before);
      renameSync(join(store.root, 'MEMORY.md'), join(store.root, '.ramet-replacing-MEMORY.md.tmp'));
      expect(store.files()).toEqual(['MEMORY.md']);
    });
  });

  test('BG-7: a process that is killed at any step of a change leaves none of it, or all of it on record', async () => {
    const program = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      import { MemoryStore } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'memory-store.ts')).href)};
      const [root, last] = process.argv.slice(1);
      using store = new MemoryStore(root);
      const source = { kind: 'note', session: null, agent: null, turn: null };
      const texts = (text, ...more) => () => new Map(['MEMORY.md', 'topic.md', ...more].map((path) => [path, text]));
      await store.change(source, texts('- mine\\n- twice\\n- twice\\n'));
      let steps = 0;
      for (const name of ['linkSync', 'renameSync', 'rmSync', 'fsyncSync']) {
        const call = fs[name];
        fs[name] = (...args) => {
          const result = call(...args);
          if (++steps === Number(last)) process.kill(process.pid, 'SIGKILL');
          return result;
        };
      }
      syncBuiltinESMExports();
      await store.change({ ...source, kind: 'dream' }, (read) => (read('MEMORY.md'), texts('- mine\\n- twice\\n', 'new/part.md')()));
      console.log(steps);
    `;
    const run = (root: string, last: number) =>
      promisify(execFile)(process.execPath, [
        ...['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, root, `${last}`],
      ]).catch(() => null);
    const steps = Number((await run(temporaryDirectory(), 0))?.stdout);
    expect(steps).toBeGreaterThan(10);
    const before = '- mine\n- twice\n- twice\n';
    const kinds = await Promise.all(
      Array.from({ length: steps }, async (_, index) => {
        const root = temporaryDirectory();
        expect(await run(root, index + 1)).toBeNull();
        const store = openStore(root);
        const [last] = store.changes().slice(-1);
        const texts = (): string[] => [onDisk(store), onDisk(store, 'topic.md')];
        if (last?.kind === 'dream') {
          expect(texts()).toEqual(Array(2).fill('- mine\n- twice\n'));
          expect(onDisk(store, 'new/part.md')).toBe('- mine\n- twice\n');
        }
        await store.undo(PERSON, null);
        if (last?.kind === 'dream') expect(texts()).toEqual([before, before]);
        const left = readdirSync(root, { recursive: true }).filter(
          (name) => !/^(?:history|new$)/.test(`${name}`),
        );
        expect([index, left]).toEqual([index, last?.kind === 'dream' ? ['MEMORY.md', 'topic.md'] : []]);
        return last?.kind;
      }),
    );
    expect(kinds).toContain('dream');
    // One that was killed before its intent was whole has written nothing else.
    const store = openStore();
    await put(store, '- a\n');
    writeFileSync(join(store.root, '.ramet-change-2.json'), '{"id":2,"kind":"dream","files":[{"path":"MEM');
    await put(store, '- a\n- b\n');
    expect(store.changes().map(({ kind }) => kind)).toEqual(['extraction', 'extraction']);
    expect(readdirSync(store.root).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('is listed although it is a folder, so that people learn why nothing is remembered', () => {
    const store = openStore();
    mkdirSync(join(store.root, 'MEMORY.md'), { recursive: true });
    expect(store.files()).toEqual(['MEMORY.md']);
    expect(() => store.read('MEMORY.md')).toThrow('it is no regular file');
  });

  test('may be a link: the file that it leads to is changed', async () => {
    const store = openStore();
    const kept = join(temporaryDirectory(), 'notes.md');
    writeFileSync(kept, '- a\n');
    mkdirSync(store.root, { recursive: true });
    symlinkSync(kept, join(store.root, 'MEMORY.md'));
    await put(store, '- a\n- b\n');
    expect(readFileSync(kept, 'utf8')).toBe('- a\n- b\n');
  });

  test('is changed with all files of a change or with none', async () => {
    const store = openStore();
    await put(store, '- a\n');
    mkdirSync(join(store.root, 'topic.md'));
    await expect(
      store.change(
        FORK,
        () =>
          new Map([
            ['MEMORY.md', '- b\n'],
            ['topic.md', '- c\n'],
          ]),
      ),
    ).rejects.toThrow('it is no regular file');
    expect(onDisk(store)).toBe('- a\n');
    expect(store.changes()).toHaveLength(1);
  });
});

describe('MEM-1: secrets', () => {
  const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);

  test('are refused with rule and line, and the secret is not said', async () => {
    const store = openStore();
    const failed = await put(store, `- fine\n- the token is ${token}\n`).catch((error: unknown) => error);
    expect(String(failed)).toMatch(/MEMORY\.md: it looks like a secret in line 2 \(.+\); memory keeps none/);
    expect(String(failed)).not.toContain(token);
    expect(existsSync(join(store.root, 'MEMORY.md'))).toBe(false);
  });

  test('that a person has put there do not keep agents from adding lines', async () => {
    const store = openStore();
    writeFileSync(join(store.root, 'MEMORY.md'), `- ${token}\n`);
    await put(store, `- ${token}\n- more\n`);
    expect(onDisk(store)).toContain('- more');
  });

  test('that a person has put there come back when their removal is undone', async () => {
    const store = openStore();
    const own = `- the token is ${token}\n- more\n`;
    writeFileSync(join(store.root, 'MEMORY.md'), own);
    await put(store, '- more\n');
    await store.undo(NOBODY, null);
    expect(onDisk(store)).toBe(own);
  });
});

test('MEM-1: several processes that write at once lose nothing', async () => {
  const store = openStore();
  const program = `
    import { MemoryStore } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'memory-store.ts')).href)};
    using store = new MemoryStore(process.argv[1]);
    const source = { kind: 'note', session: null, agent: null, turn: null };
    for (let n = 0; n < 20; n++)
      await store.change(source, (read) => new Map([['MEMORY.md', (read('MEMORY.md') ?? '') + '- ' + process.argv[2] + n + '\\n']]));
  `;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, store.root];
  await Promise.all(['a', 'b', 'c'].map((name) => promisify(execFile)(process.execPath, [...args, name])));
  const lines = onDisk(store).trim().split('\n');
  expect(new Set(lines).size).toBe(60);
  expect(lines).toHaveLength(60);
  expect(store.changes()).toHaveLength(60);
});

test('MEM-2: a history that is no database is named with what to do, which helps', async () => {
  const root = join(temporaryDirectory(), 'memory');
  const history = join(root, 'history.sqlite');
  mkdirSync(root);
  writeFileSync(join(root, 'MEMORY.md'), '- by hand\n');
  writeFileSync(history, 'no database at all\n'.repeat(300));
  using store = new MemoryStore(root);
  const add = () => store.change(NOBODY, () => new Map([['MEMORY.md', '- changed\n']]));
  const said = `cannot use the history of memory in ${history}: it is damaged or no database; move it away`;
  await expect(add()).rejects.toThrow(said);
  expect(() => store.changes()).toThrow(said);
  expect(historyProblem(root)).toContain(said);
  rmSync(history);
  expect(await add()).toMatchObject({ id: 2 });
  expect(historyProblem(root)).toBe(null);
});

test('MEM-2: a history that is a folder is named with what to do', async () => {
  const root = join(temporaryDirectory(), 'memory');
  mkdirSync(join(root, 'history.sqlite'), { recursive: true });
  using store = new MemoryStore(root);
  const said = `cannot use the history of memory in ${join(root, 'history.sqlite')}: it is damaged or no database; move it away`;
  expect(() => store.changes()).toThrow(said);
  await expect(store.change(NOBODY, () => new Map([['MEMORY.md', '- x\n']]))).rejects.toThrow(said);
  expect(historyProblem(root)).toContain(said);
});

const NOBODY: MemorySource = { kind: 'agent', session: null, agent: null, turn: null };
