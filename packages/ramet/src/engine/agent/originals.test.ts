import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startEngine } from '../../../test/fixtures/engine.ts';
import { temporaryDirectory } from '../../../test/fixtures/temporary.ts';
import { createOriginalFiles } from '../../files/original-files.ts';
import { versionOf } from '../../system/regular-file.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';

const script = () =>
  scriptedModel(
    { text: '', calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { text: '', calls: [{ name: 'Write', input: { file_path: 'a.txt', content: 'new' } }] },
    { text: 'ok' },
  );

describe('WORK-1: an agent that changes a file', () => {
  test('keeps what it was, with its mode on record', async () => {
    const engine = await startEngine({ provider: script() });
    writeFileSync(join(engine.cwd, 'a.txt'), 'old', { mode: 0o600 });
    await engine.run('go');
    const version = versionOf(Buffer.from('old'));
    const kept = createOriginalFiles(engine.runtime.outputDirectory).read(version);
    expect(Buffer.from(kept ?? []).toString()).toBe('old');
    expect(engine.recorded()).toContainEqual(
      expect.objectContaining({ type: 'file.changed', before: version, mode: 0o600 }),
    );
  });

  test('still changes it when that cannot be kept, and says so', async () => {
    const outputDirectory = join(temporaryDirectory(), 'file');
    writeFileSync(outputDirectory, 'in the way');
    const engine = await startEngine({ provider: script(), runtime: { outputDirectory } });
    writeFileSync(join(engine.cwd, 'a.txt'), 'old');
    await engine.run('go');
    expect(readFileSync(join(engine.cwd, 'a.txt'), 'utf8')).toBe('new');
    expect(engine.recorded()).toContainEqual(
      expect.objectContaining({ type: 'warning.raised', code: 'original_not_kept' }),
    );
  });
});
