import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import { createFileAccess } from './create-file-access.ts';
import type { FileAccess } from './file-access.ts';
import { createFileLedger } from './file-ledger.ts';

type Step = { kind: 'write' | 'update'; pauseBefore: number; pauseBetween: number };

async function pause(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await nextTick();
}

/** Reads, waits, then adds a line by its own copy (`write`) or by the current text (`update`). True if accepted. */
async function addLine(files: FileAccess, line: string, step: Step): Promise<boolean> {
  await pause(step.pauseBefore);
  const seen = Buffer.from((await files.read('shared.txt')).bytes).toString();
  await pause(step.pauseBetween);
  const outcome =
    step.kind === 'write'
      ? await files.write('shared.txt', `${seen}${line}\n`)
      : await files.update('shared.txt', (text) => ({ ok: true, text: `${text}${line}\n` }));
  return outcome.ok;
}

describe('WORK-1: agents that race for one file', () => {
  test('of agents that read the same version and write at once, exactly one wins', async ({ directory }) => {
    writeFileSync(join(directory, 'shared.txt'), '');
    const ledger = createFileLedger();
    const agents = Array.from({ length: 16 }, (_, index) =>
      createFileAccess({ agent: `s.${index}`, cwd: directory, ledger, onChange: () => {} }),
    );
    await Promise.all(agents.map((files) => files.read('shared.txt')));
    const outcomes = await Promise.all(agents.map((files, index) => files.write('shared.txt', `${index}\n`)));
    const winner = outcomes.findIndex((outcome) => outcome.ok);
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    expect(readFileSync(join(directory, 'shared.txt'), 'utf8')).toBe(`${winner}\n`);
    const refused = outcomes.filter((outcome) => !outcome.ok);
    expect(refused.every((outcome) => outcome.reason.includes(`agent s.${winner}`))).toBe(true);
  });

  test('of agents that create the same file at once, exactly one wins', async ({ directory }) => {
    const ledger = createFileLedger();
    const agents = Array.from({ length: 16 }, (_, index) =>
      createFileAccess({ agent: `s.${index}`, cwd: directory, ledger, onChange: () => {} }),
    );
    const outcomes = await Promise.all(
      agents.map((files, index) => files.write('new/file.txt', `${index}\n`)),
    );
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
  });

  test('no interleaving loses an accepted change', async ({ directory }) => {
    const step = fc.record({
      kind: fc.constantFrom('write' as const, 'update' as const),
      pauseBefore: fc.nat(3),
      pauseBetween: fc.nat(3),
    });
    const scripts = fc.array(fc.array(step, { maxLength: 4 }), { minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(scripts, async (plan) => {
        writeFileSync(join(directory, 'shared.txt'), '');
        const ledger = createFileLedger();
        const accepted: string[] = [];
        const run = async (steps: Step[], number: number): Promise<void> => {
          const files = createFileAccess({
            agent: `s.${number}`,
            cwd: directory,
            ledger,
            onChange: () => {},
          });
          for (const [index, next] of steps.entries()) {
            if (await addLine(files, `${number}-${index}`, next)) accepted.push(`${number}-${index}`);
          }
        };
        await Promise.all(plan.map(run));
        const lines = readFileSync(join(directory, 'shared.txt'), 'utf8').split('\n').slice(0, -1);
        expect(lines.sort()).toEqual(accepted.sort());
      }),
      { numRuns: 60 },
    );
  });
});
