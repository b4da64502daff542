import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSync } from '../../test/fixtures/run-sync.ts';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { removeLeftovers } from '../system/replace-file.ts';
import { type AgentFileAccess, createFileAccess } from './create-file-access.ts';
import type { FileChange } from './file-access.ts';
import { createFileLedger } from './file-ledger.ts';

function agents(cwd: string, ...names: string[]): AgentFileAccess[] {
  const ledger = createFileLedger();
  return names.map((agent) => createFileAccess({ agent, cwd, ledger, onChange: () => {} }));
}

function one(cwd: string): AgentFileAccess {
  const [access] = agents(cwd, 's.1');
  if (access === undefined) throw new Error('no agent');
  return access;
}

const append = (line: string) => (text: string) => ({ ok: true as const, text: `${text}${line}\n` });

describe('WORK-1: an agent changes only the version it has seen', () => {
  test('a file that was read can be edited, again and again', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    const files = one(directory);
    await files.read('a.txt');
    expect(await files.update('a.txt', append('two'))).toMatchObject({ ok: true, created: false });
    expect(await files.write('a.txt', 'three\n')).toMatchObject({ ok: true, created: false });
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('three\n');
  });

  test('an existing file that was never read is refused, with the way on', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    const files = one(directory);
    const outcomes = [await files.write('a.txt', 'x'), await files.update('a.txt', append('x'))];
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        ok: false,
        reason: expect.stringMatching(/have not read it.*Read it first/s),
      });
    }
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('a stale Write and a stale Edit are refused and name the agent that came between', async ({
    directory,
  }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    const [first, second] = agents(directory, 's.1', 's.2');
    await first?.read('a.txt');
    await second?.read('a.txt');
    await second?.update('a.txt', append('by two'));
    const refused = { ok: false, reason: expect.stringMatching(/changed by agent s\.2 .*Read it again/s) };
    expect(await first?.write('a.txt', 'x')).toMatchObject(refused);
    expect(await first?.update('a.txt', append('x'))).toMatchObject(refused);
    await first?.read('a.txt');
    expect(await first?.update('a.txt', append('by one'))).toMatchObject({ ok: true });
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('one\nby two\nby one\n');
  });

  test('a change from outside is noticed although size and times are forged', async ({ directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const files = one(directory);
    await files.read(path);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, 'two\n');
    utimesSync(path, atime, mtime);
    expect(await files.write(path, 'x')).toMatchObject({
      reason: expect.stringContaining('changed outside Ramet'),
    });
  });

  test('a change that was undone is no change', async ({ directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const files = one(directory);
    await files.read(path);
    writeFileSync(path, 'two\n');
    writeFileSync(path, 'one\n');
    expect(await files.write(path, 'x')).toMatchObject({ ok: true });
  });

  test('a file deleted since it was read is not edited, and written only when asked twice', async ({
    directory,
  }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const files = one(directory);
    await files.read(path);
    rmSync(path);
    expect(await files.update(path, append('x'))).toMatchObject({
      reason: expect.stringContaining('was deleted'),
    });
    expect(await files.update(path, append('x'))).toMatchObject({
      reason: expect.stringContaining('does not exist'),
    });
    expect(await files.write(path, 'back\n')).toMatchObject({ ok: true, created: true });
  });

  test('a file that another agent created meanwhile is not overwritten', async ({ directory }) => {
    const [first, second] = agents(directory, 's.1', 's.2');
    await expect(first?.read('new.txt')).rejects.toMatchObject({ code: 'ENOENT' });
    await second?.write('new.txt', 'mine\n');
    expect(await first?.write('new.txt', 'x')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('written by agent s.2'),
    });
    expect(readFileSync(join(directory, 'new.txt'), 'utf8')).toBe('mine\n');
  });

  test('two agents are the same file through two names', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    symlinkSync('a.txt', join(directory, 'link.txt'));
    const [first, second] = agents(directory, 's.1', 's.2');
    await first?.read('a.txt');
    await second?.read('link.txt');
    await second?.write('link.txt', 'two\n');
    expect(await first?.write('a.txt', 'x')).toMatchObject({ reason: expect.stringContaining('agent s.2') });
  });

  test('FORK-4: a clone has seen what its parent saw, and from then on they part', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    const parent = one(directory);
    await parent.read('a.txt');
    const child = parent.clone({ agent: 's.2', cwd: directory, onChange: () => {} });
    expect(await child.write('a.txt', 'two\n')).toMatchObject({ ok: true });
    expect(await parent.write('a.txt', 'x')).toMatchObject({ reason: expect.stringContaining('agent s.2') });
  });
});

describe('WORK-1: an agent that is resumed', () => {
  const reopened = (cwd: string, seen: [string, string][]) =>
    createFileAccess({ agent: 's.1', cwd, ledger: createFileLedger(), onChange: () => {}, seen });

  test('may change what it saw in an earlier process, and not what changed since', async ({ directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const { version } = await one(directory).read('a.txt');
    expect(await reopened(directory, [[path, version]]).update('a.txt', append('two'))).toMatchObject({
      ok: true,
    });
    expect(await reopened(directory, [[path, version]]).write('a.txt', 'x')).toMatchObject({
      reason: expect.stringContaining('changed outside Ramet'),
    });
  });

  test('streams a file again that it only remembers', async ({ directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const files = reopened(directory, [[path, 'an older version']]);
    const { version } = await files.scan('a.txt', () => 'enough');
    expect(version).toBe((await one(directory).read('a.txt')).version);
  });

  test('finds nothing of its own that a kill left beside a file, and leaves the rest alone', async ({
    directory,
  }) => {
    for (const name of ['.ramet-s.1-0f.tmp', '.ramet-s.10-0f.tmp', 'notes.tmp']) {
      writeFileSync(join(directory, name), '');
    }
    removeLeftovers(join(directory, 'a.txt'), 's.1');
    removeLeftovers(join(directory, 'no-such-folder/a.txt'), 's.1');
    expect(readdirSync(directory)).toEqual(['.ramet-s.10-0f.tmp', 'notes.tmp']);
  });
});

describe('reads are told', () => {
  test('to the watcher, once for each version', async ({ directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\n');
    const reads: string[] = [];
    const files = one(directory);
    const watched = files.watchedBy({
      onChange: () => {},
      onRead: (read, version) => void reads.push(`${read} ${version}`),
    });
    const first = await watched.read('a.txt');
    await watched.scan('a.txt', () => 'more');
    writeFileSync(path, 'two\n');
    const second = await watched.read('a.txt');
    expect(reads).toEqual([`${path} ${first.version}`, `${path} ${second.version}`]);
    expect(await files.write('a.txt', 'three\n')).toMatchObject({ ok: true });
  });
});

describe('changes are told', () => {
  test('with the bytes before and after, and not when nothing changed', async ({ directory }) => {
    const changes: FileChange[] = [];
    const onChange = (change: FileChange): void => void changes.push(change);
    const files = createFileAccess({ agent: 's.1', cwd: directory, ledger: createFileLedger(), onChange });
    await files.write('a.txt', 'one\n');
    await files.write('a.txt', 'one\n');
    await files.write('a.txt', 'two\n');
    expect(changes).toHaveLength(2);
    expect(changes[0]?.before).toBeNull();
    expect(changes[1]?.before?.version).toBe(changes[0]?.after.version);
    expect(Buffer.from(changes[1]?.after.bytes ?? []).toString()).toBe('two\n');
  });
});

describe('what a write keeps', () => {
  test('the mode', async ({ directory }) => {
    const path = join(directory, 'run.sh');
    writeFileSync(path, '#!/bin/sh\n');
    chmodSync(path, 0o751);
    const files = one(directory);
    await files.read(path);
    await files.update(path, append('true'));
    expect(statSync(path).mode & 0o7777).toBe(0o751);
  });

  test('a symlink, writing through it, also when its target does not exist yet', async ({ directory }) => {
    mkdirSync(join(directory, 'real'));
    writeFileSync(join(directory, 'real/a.txt'), 'one\n');
    symlinkSync('real/a.txt', join(directory, 'link'));
    symlinkSync('real/deep/b.txt', join(directory, 'dangling'));
    const files = one(directory);
    await files.read('link');
    await files.write('link', 'two\n');
    await files.write('dangling', 'new\n');
    expect(readlinkSync(join(directory, 'link'))).toBe('real/a.txt');
    expect(lstatSync(join(directory, 'dangling')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(directory, 'real/a.txt'), 'utf8')).toBe('two\n');
    expect(readFileSync(join(directory, 'real/deep/b.txt'), 'utf8')).toBe('new\n');
  });

  test.for([
    ['CRLF line ends', 'a\r\nb\r\n', 'a\r\nb\r\nc\r\n'],
    ['a byte-order mark', '\ufeffa\n', '\ufeffa\nc\n'],
  ] as const)('%s', async ([, before, after], { directory }) => {
    const path = join(directory, 'a.txt');
    writeFileSync(path, before);
    const files = one(directory);
    await files.read(path);
    await files.update(path, append('c'));
    expect(readFileSync(path, 'utf8')).toBe(after);
  });
});

describe('what is refused', () => {
  test('bytes that are not text stay as they are', async ({ directory }) => {
    const path = join(directory, 'latin1.txt');
    writeFileSync(path, Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    const files = one(directory);
    await files.read(path);
    expect(await files.write(path, 'x')).toMatchObject({ reason: expect.stringContaining('not UTF-8') });
    expect(readFileSync(path)).toEqual(Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  });

  test('a fifo, a device and a directory are refused without being opened', async ({ directory }) => {
    runSync('mkfifo', [join(directory, 'pipe')]);
    const files = one(directory);
    expect(await files.write('pipe', 'x')).toMatchObject({ reason: expect.stringContaining('regular file') });
    expect(await files.write('/dev/null', 'x')).toMatchObject({
      reason: expect.stringContaining('regular file'),
    });
    expect(await files.write('.', 'x')).toMatchObject({ reason: expect.stringContaining('directory') });
    await expect(files.read('pipe')).rejects.toMatchObject({ code: 'ESPECIAL' });
    await expect(files.read('.')).rejects.toMatchObject({ code: 'EISDIR' });
  });

  test('a path through a file, as a rejection and not as a throw', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), '');
    const outcome = one(directory).write('a.txt/b.txt', 'x');
    await expect(outcome).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test('half of a surrogate pair', async ({ directory }) => {
    expect(await one(directory).write('a.txt', 'x\ud83d')).toMatchObject({ ok: false });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a disk that takes no more leaves the old file whole and no temporary file', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'one\n');
    const module = join(import.meta.dirname, 'create-file-access.ts');
    const ledger = join(import.meta.dirname, 'file-ledger.ts');
    const script = `
      import { createFileAccess } from ${JSON.stringify(module)};
      import { createFileLedger } from ${JSON.stringify(ledger)};
      const files = createFileAccess({ agent: 'a', cwd: '.', ledger: createFileLedger(), onChange() {} });
      await files.read('a.txt');
      await files.write('a.txt', 'x'.repeat(100_000)).catch((error) => console.log(error.code));`;
    const command = `ulimit -f 16; exec "$0" --input-type=module -e "$1"`;
    const output = runSync('bash', ['-c', command, process.execPath, script], {
      cwd: directory,
    });
    expect(output.trim()).toBe('EFBIG');
    expect(readdirSync(directory)).toEqual(['a.txt']);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('one\n');
  });
});

describe('scan', () => {
  test('streams in chunks and gives the version that read gives', async ({ directory }) => {
    const path = join(directory, 'big.txt');
    writeFileSync(path, 'line\n'.repeat(500_000));
    const files = one(directory);
    let bytes = 0;
    const scan = await files.scan(path, (chunk) => {
      bytes += chunk.length;
      return 'more';
    });
    expect(bytes).toBe(2_500_000);
    expect(scan).toEqual({ path, size: 2_500_000, version: (await files.read(path)).version });
  });

  test('that has enough still sees the whole version, so a later change is allowed', async ({
    directory,
  }) => {
    const path = join(directory, 'big.txt');
    writeFileSync(path, 'line\n'.repeat(500_000));
    const files = one(directory);
    const first = await files.scan(path, () => 'enough');
    expect(await files.scan(path, () => 'enough')).toEqual(first);
    expect(await files.update(path, append('end'))).toMatchObject({ ok: true });
  });

  test('does not trust an old stamp once another file took the place', async ({ directory }) => {
    const path = join(directory, 'big.txt');
    writeFileSync(path, 'one\n');
    const files = one(directory);
    const first = await files.scan(path, () => 'enough');
    writeFileSync(join(directory, 'other'), 'two\n');
    renameSync(join(directory, 'other'), path);
    expect((await files.scan(path, () => 'enough')).version).not.toBe(first.version);
  });

  test('ends when it is aborted', async ({ directory }) => {
    const path = join(directory, 'big.txt');
    writeFileSync(path, 'line\n'.repeat(500_000));
    const abort = new AbortController();
    const abortFirst = (): 'more' => {
      abort.abort();
      return 'more';
    };
    await expect(one(directory).scan(path, abortFirst, abort.signal)).rejects.toThrow('aborted');
  });
});
