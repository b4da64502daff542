import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../test/fixtures/temporary-directory.ts';
import type { Journal } from '../journal/journal.ts';
import { fileHistoryOf } from '../journal/projections/file-history.ts';
import { createSession, openReader } from '../journal/sessions.ts';
import { versionOf } from '../system/regular-file.ts';
import { createOriginalFiles, type OriginalFiles } from './original-files.ts';
import { type LoadedStep, planRestoration, type Restoration } from './restoration.ts';
import { restoreFiles } from './undo.ts';

interface Scene {
  journal: Journal;
  originals: OriginalFiles;
  project: string;
  steps: LoadedStep[];
}

/** Two files, each `new` now and `old` before. */
async function scene(directory: string): Promise<Scene> {
  const project = join(directory, 'project');
  const journal = await createSession({ project, cwd: directory });
  const originals = createOriginalFiles(join(project, journal.session));
  const old = Buffer.from('old');
  originals.keep(versionOf(old), old);
  const restorations = ['a', 'b'].map((name): Restoration => {
    writeFileSync(join(directory, name), 'new');
    return {
      path: join(directory, name),
      target: versionOf(old),
      mode: null,
      expected: versionOf(Buffer.from('new')),
      turns: [1],
      interim: false,
    };
  });
  const sources = { originals, writerOf: () => null };
  const steps = await Promise.all(restorations.map((one) => planRestoration(one, sources)));
  return { journal, originals, project, steps };
}

describe('UI-1: putting files back, for ramet undo', () => {
  test('leaves a file alone that changed after the plan was made', async ({ directory }) => {
    const { journal, originals, steps } = await scene(directory);
    writeFileSync(join(directory, 'a'), 'at this very moment');
    const failed = await restoreFiles({ journal, originals, kind: 'undo', turn: 1, steps });
    await journal.close();
    expect([...failed]).toEqual([[join(directory, 'a'), 'it changed at this very moment']]);
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('at this very moment');
    expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('old');
  });

  test('touches nothing before it is recorded and what it replaces is kept', async ({ directory }) => {
    const { journal, originals, project, steps } = await scene(directory);
    const failing: Journal = {
      session: journal.session,
      file: journal.file,
      append: (agent, event) => journal.append(agent, event),
      storeBlock: () => {},
      commit: async (durability) => {
        await journal.commit(durability);
        throw new Error('killed here');
      },
      close: () => journal.close(),
    };
    const order = { journal: failing, originals, kind: 'undo', turn: 1, steps } as const;
    await expect(restoreFiles(order)).rejects.toThrow('killed here');
    await journal.close();
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('new');
    expect(originals.has(versionOf(Buffer.from('new')))).toBe(true);
    const reader = openReader({ project, session: journal.session });
    expect(fileHistoryOf(reader.events()).undone[0]?.restored.files).toHaveLength(2);
    reader.close();
    expect(existsSync(join(directory, 'b'))).toBe(true);
  });
});
