import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { sessionPath } from '../../src/journal/session-file.ts';
import { indexPath, readIndex } from '../../src/journal/session-index.ts';
import { isWriterAlive, openReader } from '../../src/journal/sessions.ts';
import { digestOf } from '../../src/system/digest.ts';
import { crashProgram } from '../fixtures/crash-programs.ts';
import { momentsOf } from '../fixtures/kill-sample.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-crash-'));
afterAll(() => rmSync(root, { recursive: true }));

const WRITER = crashProgram('journal-writer');
const INDEX_WRITER = crashProgram('index-writer');

interface Run {
  child: ChildProcess;
  output: () => string;
  exited: Promise<unknown>;
}

function start(command: string, ...options: string[]): Run {
  const child = spawn(command, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  // `close` comes after all output was read, `exit` may come before.
  return { child, output: () => output, exited: once(child, 'close') };
}

async function until(run: Run, pattern: RegExp): Promise<string> {
  for (;;) {
    const found = pattern.exec(run.output());
    if (found !== null) return found[1] ?? '';
    if (run.child.exitCode !== null) throw new Error(`the writer ended: ${run.output()}`);
    await sleep(5);
  }
}

function acknowledged(run: Run): string[] {
  return Array.from(run.output().matchAll(/^ack (.+)\n/gm), ([, what]) => what ?? '');
}

function integrity(file: string): unknown {
  using db = new DatabaseSync(file);
  return db.prepare('PRAGMA integrity_check').get()?.integrity_check;
}

/** Checks that the journal is a prefix of what was appended that ends with a batch; returns its length. */
function checkedLength(project: string, session: string): number {
  const reader = openReader({ project, session });
  let length = 0;
  let end = 'end';
  for (const { seq, event } of reader.events()) {
    if (event.type !== 'tool.started') continue;
    length += 1;
    expect(Number(event.call)).toBe(length);
    expect(seq).toBe(length);
    end = event.name.split(' ', 1)[0] ?? '';
    if (end === 'end')
      expect(Buffer.from(reader.block(digestOf(`bytes of ${length}`))).toString()).toBe(`bytes of ${length}`);
  }
  reader.close();
  expect(end).toBe('end');
  return length;
}

describe('LOG-1: a writer killed at any moment', () => {
  test.each([
    ['small events', 700, momentsOf({ sample: 6, all: 9 }), 200],
    ['large events, with checkpoints under way', 200_000, momentsOf({ sample: 4, all: 6 }), 600],
  ])(
    'loses nothing acknowledged and leaves no half batch: %s',
    { timeout: 120_000 },
    async (_, size, rounds, longest) => {
      const project = join(root, `kill-${size}`);
      let session: string | undefined;
      let total = 0;
      for (let round = 0; round < rounds; round++) {
        const goOn = session === undefined ? [] : [session];
        const run = start(process.execPath, WRITER, project, String(size), ...goOn);
        const written = await until(run, /^session (.+)\n/m);
        await sleep(Math.random() * longest);
        run.child.kill('SIGKILL');
        await run.exited;
        const promised = Number(acknowledged(run).at(-1) ?? total);
        total = checkedLength(project, written);
        expect(total).toBeGreaterThanOrEqual(promised);
        expect(isWriterAlive({ project, session: written })).toBe(false);
        // Every third time a new session; else the next writer takes over this one, WAL and all.
        session = round % 3 === 2 ? undefined : written;
        if (session === undefined) {
          expect(integrity(sessionPath(project, written))).toBe('ok');
          total = 0;
        }
      }
    },
  );
});

describe('LOG-1: a disk that takes no more', () => {
  test('ends in one clear line, and what was acknowledged can be read', { timeout: 60_000 }, async () => {
    const project = join(root, 'full');
    const limited = `trap '' XFSZ; ulimit -f 2000; exec "$@"`;
    const run = start('bash', '-c', limited, 'bash', process.execPath, WRITER, project, '700');
    const session = await until(run, /^session (.+)\n/m);
    await run.exited;
    const file = sessionPath(project, session);
    const line = `cannot write the journal ${file}: the system refused the write (disk, quota or file size limit); check space and limits, then resume the session`;
    const told = run
      .output()
      .split('\n')
      .filter((text) => /^(failed|closed)/.test(text));
    expect(told).toEqual([`failed journal_write_failed ${line}`, `closed ${line}`]);
    const promised = Number(acknowledged(run).at(-1));
    expect(promised).toBeGreaterThan(100);
    expect(checkedLength(project, session)).toBe(promised);
    expect(integrity(file)).toBe('ok');
  });
});

describe('the index under many writers', () => {
  test('loses no update of eight processes, three of them killed', { timeout: 120_000 }, async () => {
    const project = mkdtempSync(join(root, 'index-'));
    const runs = Array.from({ length: 8 }, (_, number) =>
      start(process.execPath, INDEX_WRITER, project, `writer${number}`, '100'),
    );
    for (const run of runs.slice(0, 3)) {
      await until(run, /^(ack) /m);
      await sleep(Math.random() * 200);
      run.child.kill('SIGKILL');
    }
    await Promise.all(runs.map((run) => run.exited));
    const promised = runs.flatMap(acknowledged);
    expect(runs.slice(3).flatMap(acknowledged)).toHaveLength(500);
    const entries = new Map(readIndex(project).map(({ entry, lease }) => [entry.session, { entry, lease }]));
    for (const session of promised) {
      expect(entries.get(session)).toMatchObject({ entry: { ended: expect.any(Number) }, lease: null });
    }
    expect(integrity(indexPath(project))).toBe('ok');
  });
});
