import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { type AgentFileAccess, createFileAccess } from './create-file-access.ts';
import { createFileLedger, type FileLedger } from './file-ledger.ts';
import { SharedWrites } from './shared-writes.ts';

const execute = promisify(execFile);
const WRITER = join(import.meta.dirname, '../../test/fixtures/shared-writer.ts');

/** A second ledger stands for a second process: they share nothing but the project folder. */
function ledgerOf(project: string): FileLedger {
  const ledger = createFileLedger({ openShared: () => SharedWrites.open(project) });
  onTestFinished(() => ledger.close());
  return ledger;
}

function agentOf(project: string, cwd: string, agent: string, task: string | null = null): AgentFileAccess {
  return createFileAccess({ agent, cwd, ledger: ledgerOf(project), task, onChange: () => {} });
}

describe('WORK-1: sessions that share a checkout', () => {
  test('of processes that add to one file at once, no accepted line is lost', async ({ directory }) => {
    writeFileSync(join(directory, 'shared.txt'), '');
    const runs = ['aaaaaaaa.1', 'bbbbbbbb.1', 'cccccccc.1'].map(async (agent) => {
      const { stdout } = await execute(process.execPath, [
        WRITER,
        join(directory, 'p'),
        directory,
        agent,
        '60',
      ]);
      return JSON.parse(stdout) as { accepted: string[]; refused: number };
    });
    const outcomes = await Promise.all(runs);
    const lines = readFileSync(join(directory, 'shared.txt'), 'utf8').split('\n').slice(0, -1);
    expect(lines.toSorted()).toEqual(outcomes.flatMap(({ accepted }) => accepted).toSorted());
    expect(outcomes.every(({ accepted, refused }) => accepted.length + refused === 60)).toBe(true);
  });

  test('a process killed while it holds the lock does not keep it', async ({ directory }) => {
    const project = join(directory, 'p');
    const holder = spawn(process.execPath, [WRITER, project, directory, 'aaaaaaaa.1', 'hold']);
    await once(holder.stdout, 'data');
    const waiting = agentOf(project, directory, 'bbbbbbbb.1').write('new.txt', 'x\n');
    holder.kill('SIGKILL');
    expect(await waiting).toMatchObject({ ok: true, created: true });
  });

  test('a refusal names the other session’s agent, its task and when, and shows what it changed', async ({
    directory,
  }) => {
    const project = join(directory, 'p');
    writeFileSync(join(directory, 'a.txt'), 'one\ntwo\nthree\n');
    const first = agentOf(project, directory, 'aaaaaaaa.1');
    const second = agentOf(project, directory, 'bbbbbbbb.3', 'rename the parser');
    await first.read('a.txt');
    await second.read('a.txt');
    await second.write('a.txt', 'one\n2\nthree\n');
    const outcome = await first.write('a.txt', 'x');
    expect(outcome).toMatchObject({ ok: false });
    const reason = outcome.ok ? '' : outcome.reason;
    expect(reason).toMatch(
      /a\.txt was changed by agent bbbbbbbb\.3 of session bbbbbbbb \("rename the parser"\) \d+ s ago since you read it\. Nothing was written\. Read it again/,
    );
    expect(reason).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+2\n three');
  });

  test('what was changed outside Ramet is shown too, bounded, and not for what is no text', async ({
    directory,
  }) => {
    const files = agentOf(join(directory, 'p'), directory, 'aaaaaaaa.1');
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'a\n');
    await files.read(path);
    writeFileSync(path, Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join(''));
    const large = await files.write(path, 'x');
    expect(large).toMatchObject({ reason: expect.stringMatching(/outside Ramet.*\(\d+ more lines/s) });
    expect(large.ok ? 0 : large.reason.length).toBeLessThan(3_600);
    writeFileSync(path, 'b\0\n');
    const binary = await files.write(path, 'x');
    expect(binary).toMatchObject({ reason: expect.not.stringContaining('What changed') });
  });

  test('a version that was not kept is found by who knows it', async ({ directory }) => {
    writeFileSync(join(directory, 'a.txt'), 'now\n');
    const files = createFileAccess({
      agent: 's.1',
      cwd: directory,
      ledger: createFileLedger(),
      seen: [[join(directory, 'a.txt'), 'a version of an earlier process']],
      findVersion: async () => Buffer.from('before\n'),
      onChange: () => {},
    });
    expect(await files.write('a.txt', 'x')).toMatchObject({
      reason: expect.stringContaining('-before\n+now'),
    });
  });

  test('a folder that cannot be used is told once, and the agents of the process stay guarded', async ({
    directory,
  }) => {
    writeFileSync(join(directory, 'p'), 'a file');
    const told: string[] = [];
    const ledger = createFileLedger({
      openShared: () => SharedWrites.open(join(directory, 'p')),
      warn: (message) => told.push(message),
    });
    const files = createFileAccess({ agent: 's.1', cwd: directory, ledger, onChange: () => {} });
    await files.write('a.txt', 'one\n');
    await files.write('a.txt', 'two\n');
    expect(told).toEqual([expect.stringContaining('not guarded against other Ramet processes')]);
  });

  test('a directory in the place of a file is refused', async ({ directory }) => {
    const files = agentOf(join(directory, 'p'), directory, 's.1');
    await files.write('a.txt', 'one\n');
    rmSync(join(directory, 'a.txt'));
    mkdirSync(join(directory, 'a.txt'));
    expect(await files.write('a.txt', 'two\n')).toMatchObject({
      reason: expect.stringContaining('directory'),
    });
  });
});
