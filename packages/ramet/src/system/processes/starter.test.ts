import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { leaveStarter, useStarter } from '../../../test/worker-starter.ts';
import { type ProgramOrder, runElsewhere, startProgramsElsewhere } from './starter.ts';

function order(script: string, more: Partial<ProgramOrder> = {}): ProgramOrder {
  return {
    ...{ program: 'sh', args: ['-c', script], cwd: realpathSync(tmpdir()), detached: false },
    ...{ env: { PATH: process.env.PATH ?? '', WORD: 'here' }, mostBytes: 1 << 20 },
    ...more,
  };
}

/** When it says so. */
async function readyStarter(): Promise<Disposable> {
  const starter = startProgramsElsewhere();
  await expect.poll(() => runElsewhere(order('true')), { timeout: 10_000 }).not.toBeNull();
  return starter;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** One that nobody has waited for yet is dead, too. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

beforeAll(leaveStarter);
afterAll(useStarter);

describe('programs that a small process starts', () => {
  test('run in their directory, with their environment and input, and end as they do', async () => {
    using _ = await readyStarter();
    const whole = await runElsewhere(
      order('cat; pwd; echo $WORD; echo $HOME >&2; exit 3', { input: 'in\n' }),
    );
    expect(whole).toMatchObject({ end: 3, isTooMuch: false });
    expect(String(whole?.stdout)).toBe(`in\n${realpathSync(tmpdir())}\nhere\n`);
    expect(String(whole?.stderr)).toBe('\n');
    const bytes = new Uint8Array([0, 255, 10]);
    const [raw, killed] = await Promise.all([
      runElsewhere(order('cat', { input: bytes })),
      runElsewhere(order('kill -TERM $$')),
    ]);
    expect(raw?.stdout).toEqual(Buffer.from(bytes));
    expect(killed?.end).toBe('SIGTERM');
  });

  test('fail as they would here: no program, no directory, aborted', async () => {
    using _ = await readyStarter();
    const missing = runElsewhere(order('', { program: 'no-such-program' }));
    await expect(missing).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(runElsewhere(order('true', { cwd: '/no/such/place' }))).rejects.toMatchObject({
      code: 'ENOENT',
    });
    const early = AbortSignal.abort(new Error('early'));
    await expect(runElsewhere(order('true'), early)).rejects.toThrow('early');
    const stopping = new AbortController();
    const endless = runElsewhere(order('sleep 1000'), stopping.signal);
    stopping.abort(new Error('enough'));
    await expect(endless).rejects.toThrow('enough');
  });

  test('are ended when they print more than they may', async () => {
    using _ = await readyStarter();
    const flood = await runElsewhere(order('exec yes', { mostBytes: 10_000 }));
    expect(flood).toMatchObject({ isTooMuch: true, end: 'SIGKILL' });
  });

  test('are started here again when the small process is gone', async () => {
    {
      using _ = await readyStarter();
      const lost = runElsewhere(order('kill -KILL $PPID; exec sleep 5'));
      // It may die before it can say that it has begun the program.
      expect([null, 'SIGKILL']).toContain((await lost)?.end ?? null);
      expect(await runElsewhere(order('true'))).toBeNull();
    }
    using _ = await readyStarter();
    expect((await runElsewhere(order('echo again')))?.end).toBe(0);
  });

  test('are started here as long as nobody asks for it, and until the small process is there', async () => {
    expect(await runElsewhere(order('true'))).toBeNull();
    const first = startProgramsElsewhere();
    expect(await runElsewhere(order('true'))).toBeNull();
    const second = await readyStarter();
    first[Symbol.dispose]();
    expect(await runElsewhere(order('true'))).not.toBeNull();
    second[Symbol.dispose]();
    expect(await runElsewhere(order('true'))).toBeNull();
  });

  test('are ended, or have ended, before it is told that the small process has died under them', async () => {
    const folder = temporaryDirectory();
    const file = (name: string): string => join(folder, name);
    using _ = await readyStarter();
    const says = (name: string): string => `echo $$ > ${file(name)}.new; mv ${file(name)}.new ${file(name)}`;
    const plain = runElsewhere(order(`${says('plain')}; exec sleep 1000`));
    const own = runElsewhere(
      order(`${says('own')}; while ! test -e ${file('go')}; do sleep 0.01; done; touch ${file('whole')}`, {
        detached: true,
      }),
    );
    await expect.poll(() => ['plain', 'own'].map((name) => existsSync(file(name)))).toEqual([true, true]);
    // It answers in order: after this it has said that both have begun.
    await runElsewhere(order('true'));
    process.kill(parentOf(Number(readFileSync(file('plain'), 'utf8'))), 'SIGKILL');
    expect((await plain)?.end).toBe('SIGKILL');
    expect(isRunning(Number(readFileSync(file('plain'), 'utf8')))).toBe(false);
    writeFileSync(file('go'), '');
    expect((await own)?.end).toBe('SIGKILL');
    expect(existsSync(file('whole'))).toBe(true);
  });

  test('are started here if the small process dies before it has begun them', async () => {
    using _ = await readyStarter();
    const told = await runElsewhere(order('echo $PPID'));
    const starter = Number(String(told?.stdout));
    process.kill(starter, 'SIGSTOP');
    const late = runElsewhere(order('echo begun'));
    process.kill(starter, 'SIGKILL');
    expect(await late).toBeNull();
  });
});
