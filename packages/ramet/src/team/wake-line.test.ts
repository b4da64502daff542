import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hintChange, listenForChanges } from './wake-line.ts';

const root = mkdtempSync(join(tmpdir(), 'ramet-wake-'));
afterAll(() => rmSync(root, { recursive: true }));

test('TEAM-2: a hint of another process wakes those who listen', async () => {
  const woken = Promise.withResolvers<void>();
  using _listening = listenForChanges(root, () => woken.resolve());
  const module = new URL('./wake-line.ts', import.meta.url).href;
  const script = `import(${JSON.stringify(module)}).then(({ hintChange }) => hintChange(${JSON.stringify(root)}))`;
  execFileSync(process.execPath, ['-e', script]);
  await woken.promise;
});

test('TEAM-2: a lost hint heals: who listens looks by itself', async () => {
  const woken = Promise.withResolvers<void>();
  using _listening = listenForChanges(join(root, 'missing'), (isHint) => !isHint && woken.resolve(), 5);
  // Unreferenced timers run as long as something else keeps the process.
  await woken.promise;
});

test('TEAM-2: nobody is woken who has stopped to listen', async () => {
  let looks = 0;
  const other = Promise.withResolvers<void>();
  const first = listenForChanges(root, () => {
    looks += 1;
  });
  using _second = listenForChanges(root, () => other.resolve());
  first[Symbol.dispose]();
  hintChange(root);
  await other.promise;
  expect(looks).toBe(0);
});
