import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leaveStarter, useStarter } from '../../../test/worker-starter.ts';
import { type ProgramOrder, runElsewhere, startProgramsElsewhere } from './starter.ts';

function order(script: string, more: Partial<ProgramOrder> = {}): ProgramOrder {
  return {
    ...{ program: 'sh', args: ['-c', script], cwd: realpathSync(tmpdir()), detached: false },
    ...{ env: { PATH: process.env.PATH ?? '', WORD: 'here' }, mostBytes: 1 << 20 },
    ...more,
  };
}

beforeAll(leaveStarter);
afterAll(useStarter);

describe('programs that a small process starts', () => {
  test('run in their directory, with their environment and input, and end as they do', async () => {
    using _ = startProgramsElsewhere();
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
    using _ = startProgramsElsewhere();
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
    using _ = startProgramsElsewhere();
    const flood = await runElsewhere(order('exec yes', { mostBytes: 10_000 }));
    expect(flood).toMatchObject({ isTooMuch: true, end: 'SIGKILL' });
  });

  test('are started here again when the small process is gone', async () => {
    {
      using _ = startProgramsElsewhere();
      const lost = runElsewhere(order('kill -KILL $PPID; exec sleep 5'));
      expect((await lost)?.end).toBe('SIGKILL');
      expect(runElsewhere(order('true'))).toBeNull();
    }
    using _ = startProgramsElsewhere();
    expect((await runElsewhere(order('echo again')))?.end).toBe(0);
  });

  test('are started here as long as nobody asks for it', () => {
    expect(runElsewhere(order('true'))).toBeNull();
    const [first, second] = [startProgramsElsewhere(), startProgramsElsewhere()];
    first[Symbol.dispose]();
    expect(runElsewhere(order('true'))).not.toBeNull();
    second[Symbol.dispose]();
    expect(runElsewhere(order('true'))).toBeNull();
  });
});
