import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/fixtures/command.ts';
import { temporaryDirectory } from '../../test/fixtures/temporary.ts';
import { takeSlot } from '../system/check-slots.ts';
import { heavySlots } from './place.ts';

const source = (path: string): string => JSON.stringify(join(import.meta.dirname, '..', path));

/** A process that takes the only place, looks for lost slots of worktrees as the pool does, and then holds until it is killed. */
async function startHolder(home: string): Promise<void> {
  const program = `(async () => {
    const [{ heavySlots }, { takeSlot }, pool] = await Promise.all([
      import(${source('sdk/place.ts')}),
      import(${source('system/check-slots.ts')}),
      import(${source('git/worktrees/pool/slots.ts')}),
    ]);
    const home = ${JSON.stringify(home)};
    pool.takeSlot(home, 'here\\nalive');
    globalThis.held = await takeSlot(heavySlots(home, {}, 1));
    pool.freeLostSlots(home, 'here', (id) => id === 'alive');
    console.log('looked');
    setInterval(() => {}, 1000);
  })()`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  await eventually(() => text.includes('looked'));
}

describe('OP-3: places for heavy commands', () => {
  test('are kept by a process that also looks for lost slots of worktrees', async () => {
    const home = temporaryDirectory();
    await startHolder(home);
    const stop = new AbortController();
    const waits = Promise.withResolvers<'waits'>();
    const taken = takeSlot(heavySlots(home, {}, 1), {
      signal: stop.signal,
      onWait: () => waits.resolve('waits'),
    }).then(
      () => 'taken',
      () => 'let go',
    );
    const first = await Promise.race([waits.promise, taken]);
    stop.abort();
    expect([first, await taken]).toEqual(['waits', 'let go']);
  });
});
