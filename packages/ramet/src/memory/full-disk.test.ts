/** A disk that takes no more, played by a limit on the size of files, or a small one in memory: what was there stays, what was acknowledged too. */
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newToken } from '../../test/fixtures/memory-server.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { MemoryStore } from './files/memory-store.ts';
import { KeyStore, openMemoryDatabase } from './server/key-store.ts';
import { DEFAULT_LIMITS } from './wire/memory-shapes.ts';

const here = (path: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href);

const NODE = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e'];

/** A disk of that many bytes at `folder`, which only the program sees. */
function onSmallDisk(folder: string, bytes: number): string[] {
  return ['--dev-bind', '/', '/', '--size', String(bytes), '--tmpfs', folder];
}

/** `trap` lets the write fail instead of ending the process. */
async function limited(kilobytes: number, program: string, ...args: string[]): Promise<string> {
  const shell = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$@"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', shell, 'bash', ...NODE, program, ...args]);
  return stdout;
}

test('MEM-1: a change that finds no room fails in one line and leaves every file as it was', async () => {
  const root = join(temporaryDirectory(), 'memory');
  const program = `
    import { MemoryStore } from ${here('files/memory-store.ts')};
    using store = new MemoryStore(process.argv[1]);
    const source = { kind: 'agent', session: null, agent: null, turn: null };
    const put = (files) => store.change(source, () => new Map(Object.entries(files)));
    await put({ 'MEMORY.md': '- a\\n', 'b.md': '- b\\n' });
    const large = '- a long line of text that says nothing\\n'.repeat(12_000);
    const failed = await put({ 'b.md': '- changed\\n', 'MEMORY.md': large }).catch((error) => error.message);
    await put({ 'b.md': '- b\\n- c\\n' });
    console.log(JSON.stringify({ failed, changes: store.changes().length }));`;
  const { failed, changes } = JSON.parse(await limited(256, program, root));
  expect(failed).toMatch(/^cannot use the history of memory in [^\n]*$/);
  expect(changes).toBe(2);
  expect(readFileSync(join(root, 'MEMORY.md'), 'utf8')).toBe('- a\n');
  expect(readFileSync(join(root, 'b.md'), 'utf8')).toBe('- b\n- c\n');
  expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('MEM-2: changes, and where lines came from, are read also where nothing can be written', async () => {
  const root = join(temporaryDirectory(), 'memory');
  using store = new MemoryStore(root);
  await store.change(
    { kind: 'agent', session: null, agent: null, turn: null },
    () => new Map([['MEMORY.md', '- a\n']]),
  );
  store[Symbol.dispose]();
  const program = `
    import { MemoryStore } from ${here('files/memory-store.ts')};
    using store = new MemoryStore(process.argv[1]);
    const origins = store.origins('MEMORY.md').map(({ text, change }) => [text, change?.id]);
    const source = { kind: 'agent', session: null, agent: null, turn: null };
    const failed = await store.change(source, () => new Map([['b.md', '- b']])).catch((error) => error.message);
    console.log(JSON.stringify({ changes: store.changes().length, origins, files: store.files(), failed }));`;
  const before = readdirSync(root);
  expect(JSON.parse(await limited(1, program, root))).toEqual({
    changes: 1,
    origins: [['- a', 1]],
    files: ['MEMORY.md'],
    failed: expect.stringMatching(/^cannot use the history of memory in [^\n]*$/),
  });
  expect(readdirSync(root)).toEqual(expect.arrayContaining(before));
});

test('TEAM-6: a server that finds no room answers 500 and keeps what it has acknowledged', async () => {
  const directory = join(temporaryDirectory(), 'server');
  const { token } = newToken(directory);
  const program = `
    import { startMemoryServer } from ${here('server/memory-server.ts')};
    const notes = [];
    const server = await startMemoryServer({ directory: process.argv[1], note: (line) => notes.push(line) });
    const headers = { authorization: 'Bearer ' + process.argv[2], 'if-none-match': '*' };
    const statuses = [];
    for (let n = 0; n < 60; n++) {
      const body = ('a line of note ' + n + '\\n').repeat(900);
      const answer = await fetch(server.url + '/v1/keys/note-' + n + '.md', { method: 'PUT', headers, body });
      statuses.push(answer.status);
      if (answer.status === 500) break;
    }
    const health = await fetch(server.url + '/v1/health');
    const read = await fetch(server.url + '/v1/keys/note-0.md', { headers: { authorization: headers.authorization } });
    console.log(JSON.stringify({ statuses, health: health.status, read: read.status, notes }));
    process.exit();`;
  const { statuses, health, read, notes } = JSON.parse(await limited(400, program, directory, token));
  expect(statuses.at(-1)).toBe(500);
  expect(statuses.length).toBeGreaterThan(3);
  expect([health, read]).toEqual([200, 200]);
  expect(notes[0]).toMatch(/^a request failed: cannot use team memory in [^\n]*$/);
  using db = openMemoryDatabase(directory);
  const store = new KeyStore(db, DEFAULT_LIMITS);
  for (const [n, status] of statuses.entries())
    expect(store.entry(1, `note-${n}.md`)?.deleted ?? null).toBe(status === 201 ? false : null);
});

test('TEAM-6: files that begin on a full disk are whole or not there, and what was full is said in one line', async ({
  skip,
}) => {
  const folder = temporaryDirectory();
  const disk = onSmallDisk(folder, 1 << 20);
  const trial = spawnSync('bwrap', [...disk, 'true'], { encoding: 'utf8' });
  if (trial.status !== 0) skip(`no small disk: ${trial.stderr || 'bwrap is missing'}`);
  const program = `
    import { rmSync, readdirSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
    import { openMemoryDatabase } from ${here('server/key-store.ts')};
    import { MemoryHistory } from ${here('files/memory-history.ts')};
    import { SyncState, lockFolder } from ${here('sync/sync-state.ts')};
    import { systemClock } from ${here('../schema/clock.ts')};
    const root = process.argv[1];
    const signal = new AbortController().signal;
    const kinds = {
      server: (folder) => openMemoryDatabase(folder),
      history: (folder) => new MemoryHistory(folder),
      sync: (folder) => new SyncState(folder),
      lock: (folder) => lockFolder(folder, systemClock, signal),
    };
    const found = [];
    for (const [kind, open] of Object.entries(kinds))
      for (let free = 0; free <= 160; free += 8) {
        const folder = root + '/' + kind + free;
        const { bavail, bsize } = statfsSync(root);
        writeFileSync(root + '/fill', Buffer.alloc(Math.max(0, bavail * bsize - free * 1024)));
        const failed = await (async () => (await open(folder))[Symbol.dispose]())().then(() => null, (error) => error.message);
        const left = failed === null ? [] : readdirSync(root, { recursive: true }).filter((name) => /making|\\.[a-z0-9]{8}$/.test(name));
        rmSync(root + '/fill');
        const again = await (async () => (await open(folder))[Symbol.dispose]())().then(() => null, (error) => error.message);
        found.push({ kind, free, failed, left, again });
        rmSync(folder, { recursive: true, force: true });
      }
    console.log(JSON.stringify(found));`;
  const { stdout } = await promisify(execFile)('bwrap', [...disk, ...NODE, program, folder]);
  const found: { kind: string; free: number; failed: string | null; left: string[]; again: string | null }[] =
    JSON.parse(stdout);
  expect(found.filter(({ again, left }) => again !== null || left.length > 0)).toEqual([]);
  const failed = found.filter((one) => one.failed !== null);
  expect(new Set(failed.map(({ kind }) => kind)).size).toBe(4);
  for (const one of failed)
    expect(one.failed).toMatch(/^cannot (?:use|lock|make) [^\n]*: the disk is full; free some space$/);
});
